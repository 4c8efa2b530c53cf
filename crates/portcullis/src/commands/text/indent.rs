//! JSON with line breaks and indentation, in which every string and number stays byte for byte.

/// No line is indented deeper, however deep the data is.
const DEEPEST: usize = 40;

/// The same JSON on many lines. Invalid JSON stays invalid.
pub(in crate::commands) fn write(json: &str) -> String {
    let mut text = String::with_capacity(json.len() * 2);
    let mut depth: usize = 0;
    let mut rest = json.chars().filter(counts()).peekable();
    let mut is_inside = false;
    let mut is_escaped = false;
    while let Some(c) = rest.next() {
        if is_inside {
            text.push(c);
            is_inside = is_escaped || c != '"';
            is_escaped = c == '\\' && !is_escaped;
            continue;
        }
        match c {
            '{' | '[' => {
                text.push(c);
                if rest.peek().is_some_and(|next| matches!(next, '}' | ']')) {
                    text.extend(rest.next());
                } else {
                    depth += 1;
                    begin_line(&mut text, depth);
                }
            }
            '}' | ']' => {
                depth = depth.saturating_sub(1);
                begin_line(&mut text, depth);
                text.push(c);
            }
            ',' => {
                text.push(c);
                begin_line(&mut text, depth);
            }
            ':' => text.push_str(": "),
            c => {
                is_inside = c == '"';
                text.push(c);
            }
        }
    }
    text.push('\n');
    text
}

fn begin_line(text: &mut String, depth: usize) {
    text.push('\n');
    text.extend(std::iter::repeat_n("  ", depth.min(DEEPEST)));
}

/// Tells what counts from what only lays out.
fn counts() -> impl FnMut(&char) -> bool {
    let (mut is_inside, mut is_escaped) = (false, false);
    move |c: &char| {
        if is_inside {
            is_inside = is_escaped || *c != '"';
            is_escaped = *c == '\\' && !is_escaped;
            return true;
        }
        is_inside = *c == '"';
        !c.is_ascii_whitespace()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    #[test]
    fn it_is_laid_out_as_people_read_it() {
        let line = r#"{"b":[1.0,{"a" : "x,{\"\\"}],"a":{ },"c":[],"n":1e400, "s":"a b\\"}"#;
        let wanted = "{\n  \"b\": [\n    1.0,\n    {\n      \"a\": \"x,{\\\"\\\\\"\n    }\n  ],\n  \
                      \"a\": {},\n  \"c\": [],\n  \"n\": 1e400,\n  \"s\": \"a b\\\\\"\n}\n";
        assert_eq!(write(line), wanted);
        assert_eq!(write(wanted), wanted);
    }

    #[test]
    fn nothing_else_changes() {
        let value: Value = serde_json::json!({"a": [[[]], "\u{1}é\"", -1.5e-9, null, {"": {}}]});
        let read: Value = serde_json::from_str(&write(&value.to_string())).unwrap();
        assert_eq!(read, value);
        let deep = "[".repeat(2000) + &"]".repeat(2000);
        assert!(write(&deep).len() < 4000 * (DEEPEST + 1) * 2);
    }
}
