//! JSON that is mostly one long list, written item by item, as [`super::json::pretty`] would write it whole.

use serde_json::{Value, json};

use super::json::{escaped, pretty};

/// Stands for the list while it is not known. It is no text that anything else has.
const HERE: &str = "\u{0}the list";

/// The list, as far as it is written.
///
/// What is around it is asked for twice, since what comes after it may only be known at the end: `around` puts a list
/// into it.
#[derive(Debug, Default)]
pub(in crate::commands) struct JsonList {
    /// The spaces before each line of an item; none before the first item.
    indent: Option<String>,
}

impl JsonList {
    /// Writes an item.
    pub(in crate::commands) fn item(
        &mut self,
        item: &Value,
        around: impl FnOnce(&Value) -> Value,
        out: &mut String,
    ) {
        let indent = match self.indent.take() {
            Some(indent) => {
                out.push(',');
                indent
            }
            None => {
                let (head, _) = halves(around);
                out.push_str(&head);
                let line = head.lines().last().unwrap_or_default();
                let own = line.len() - line.trim_start_matches(' ').len();
                out.push('[');
                format!("\n{}", " ".repeat(own + 2))
            }
        };
        out.push_str(&indent);
        let text = format!("{item:#}");
        out.push_str(&escaped(&text).replace('\n', &indent));
        self.indent = Some(indent);
    }

    /// Ends the list, and writes what comes after it.
    pub(in crate::commands) fn end(self, around: impl FnOnce(&Value) -> Value) -> String {
        match self.indent {
            None => pretty(&around(&json!([]))),
            Some(indent) => {
                let (_, tail) = halves(around);
                let outer = indent.get(..indent.len() - 2).unwrap_or("\n");
                format!("{outer}]{tail}")
            }
        }
    }
}

/// What is before and after the list.
fn halves(around: impl FnOnce(&Value) -> Value) -> (String, String) {
    let text = pretty(&around(&json!(HERE)));
    let mark = json!(HERE).to_string();
    let (head, tail) = text.split_once(&mark).unwrap_or((&text, ""));
    (head.to_owned(), tail.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_what_would_be_written_whole() {
        let items = [
            json!({"a": [1, {"b": "x\ny\u{202e}"}], "c": {}}),
            json!(3),
            json!([]),
        ];
        let nested =
            |list: &Value| json!({"a": 1, "runs": [{"before": 1, "list": list, "z": [2]}], "z": 2});
        let bare = Value::clone;
        for count in 0..=items.len() {
            let items = &items[..count];
            for around in [&nested as &dyn Fn(&Value) -> Value, &bare] {
                let (mut list, mut out) = (JsonList::default(), String::new());
                for item in items {
                    list.item(item, around, &mut out);
                }
                out.push_str(&list.end(around));
                assert_eq!(out, pretty(&around(&json!(items))));
            }
        }
    }
}
