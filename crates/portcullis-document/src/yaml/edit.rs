//! Other values in a text that a person wrote: everything else stays as it is, comments and layout included.
//!
//! The reader knows where values begin, but not where they end; that is found here by scanning. A mistake in that
//! can't do harm: what was written is read again, and must mean exactly what is wanted.

use std::ops::Range;

use serde_json::Value as Json;

use super::write::write;
use super::{Dialect, parse_as};
use crate::document::{Document, Node, Value};
use crate::path::{Segment, parse};
use crate::source::Source;

mod scan;

/// A value that can't be replaced in its place: it is written in a way that is not understood, as with an anchor.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the value at `{0}` can't be changed in place")]
pub struct NotInPlace(pub String);

/// One value in the text.
struct Place {
    range: Range<usize>,
    /// It is inside of `{}` or `[]`.
    is_flow: bool,
    /// Columns before the key or the item.
    indent: usize,
}

/// The text of a document, read in this dialect, with other values at some paths.
///
/// # Errors
///
/// The first path whose value can't be replaced in its place. Nothing is replaced then.
pub fn replaced(
    document: &Document,
    dialect: Dialect,
    changes: &[(String, Json)],
) -> Result<String, NotInPlace> {
    let text = document.source.text();
    let mut wanted = document.root.value.to_json();
    let mut edits = Vec::new();
    for (path, value) in changes {
        let not = || NotInPlace(path.clone());
        let place = place(text, &document.root, &parse(path)).ok_or_else(not)?;
        let written = written(value, &place, text);
        edits.push((place.range, written, path));
        *wanted.pointer_mut(&pointer(path)).ok_or_else(not)? = value.clone();
    }
    edits.sort_by_key(|(range, ..)| range.start);
    let mut result = String::with_capacity(text.len());
    let mut done = 0;
    for (range, written, path) in &edits {
        let before = text.get(done..range.start);
        result.push_str(before.ok_or_else(|| NotInPlace((*path).clone()))?);
        result.push_str(written);
        done = range.end;
    }
    result.push_str(text.get(done..).unwrap_or_default());
    let source = Source::text_named(document.source.label(), result.as_str());
    let is_wanted =
        parse_as(&source, dialect).is_ok_and(|read| read.root.value.to_json() == wanted);
    match (is_wanted, changes.first()) {
        (false, Some((path, _))) => Err(NotInPlace(path.clone())),
        _ => Ok(result),
    }
}

fn pointer(path: &str) -> String {
    let segments = parse(path).into_iter().map(|segment| match segment {
        Segment::Key(key) => format!("/{}", key.replace('~', "~0").replace('/', "~1")),
        Segment::Index(index) => format!("/{index}"),
    });
    segments.collect()
}

/// Where the value at these steps stands.
fn place(text: &str, root: &Node, steps: &[Segment]) -> Option<Place> {
    let mut node = root;
    let mut start = scan::content(text, 0);
    let mut is_flow = false;
    let mut indent = 0;
    for step in steps {
        is_flow |= scan::opens(text, start);
        let (next, begins) = match (step, &node.value) {
            (Segment::Key(wanted), Value::Map(entries)) => {
                let (key, value) = entries.iter().find(|(key, _)| key.value == *wanted)?;
                let at = scan::offset(text, key.position)?;
                indent = scan::column(text, at);
                (value, scan::after_key(text, at)?)
            }
            (Segment::Index(index), Value::Seq(items)) => {
                let item = items.get(*index)?;
                let at = scan::offset(text, item.position)?;
                indent = scan::column(text, at).saturating_sub(1);
                (item, at)
            }
            _ => return None,
        };
        node = next;
        start = begins;
    }
    let is_container = matches!(node.value, Value::Map(_) | Value::Seq(_));
    let end = scan::end(text, start, is_flow, indent, is_container)?;
    Some(Place {
        range: start..end,
        is_flow,
        indent,
    })
}

/// The value as it is written in this place.
fn written(value: &Json, place: &Place, text: &str) -> String {
    let was_flow = place.is_flow || scan::opens(text, place.range.start);
    let is_block = match value {
        Json::Object(map) => !map.is_empty(),
        Json::Array(list) => !list.is_empty(),
        _ => false,
    };
    if was_flow || !is_block {
        return match value {
            Json::String(_) if !place.is_flow => write(value).trim_end().to_owned(),
            value => flow(value),
        };
    }
    // A block begins on a line of its own, further in than its key.
    let column = scan::column(text, place.range.start);
    let is_own_line = scan::is_first(text, place.range.start);
    let depth = if is_own_line {
        column
    } else {
        place.indent + 2
    };
    let margin = format!("\n{}", " ".repeat(depth));
    let lines = write(value).trim_end().replace('\n', &margin);
    if is_own_line {
        lines
    } else {
        format!("{margin}{lines}")
    }
}

/// The value in one line.
fn flow(value: &Json) -> String {
    match value {
        Json::Array(list) => {
            let all: Vec<String> = list.iter().map(flow).collect();
            format!("[{}]", all.join(", "))
        }
        Json::Object(map) => {
            let all = map
                .iter()
                .map(|(key, value)| format!("{}: {}", word(key), flow(value)));
            format!("{{{}}}", all.collect::<Vec<_>>().join(", "))
        }
        Json::String(text) => word(text),
        other => other.to_string(),
    }
}

/// A text without quotes if every reader takes it for itself.
fn word(text: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./".contains(c);
    let value = Json::from(text);
    let plain = write(&value);
    match plain.trim_end() == text && text.chars().all(is_plain) {
        true => text.to_owned(),
        false => value.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn changed(text: &str, path: &str, value: Json) -> String {
        let source = Source::text_named("a.yaml", text);
        let document = parse_as(&source, Dialect::Kubernetes).unwrap();
        replaced(&document, Dialect::Kubernetes, &[(path.to_owned(), value)])
            .unwrap_or_else(|error| error.to_string())
    }

    #[test]
    fn scalars_are_replaced_and_comments_stay() {
        for (text, path, value, wanted) in [
            (
                "a: b # c\nd: e\n",
                "a",
                json!("x y"),
                "a: \"x y\" # c\nd: e\n",
            ),
            ("a: 'it''s' # c\n", "a", json!(1), "a: 1 # c\n"),
            ("a: \"q\\\" # no\" # c\n", "a", json!(true), "a: true # c\n"),
            (
                "a: |\n  b\n  c\n\n# d\ne: f\n",
                "a",
                json!("x"),
                "a: x\n\n# d\ne: f\n",
            ),
            ("a: b\n  c\nd: e\n", "a", json!("x"), "a: x\nd: e\n"),
            (
                "a:\n  # why\n  b\nc: d\n",
                "a",
                json!("x"),
                "a:\n  # why\n  x\nc: d\n",
            ),
            ("- a\n- b # c\n", "[1]", json!("x"), "- a\n- x # c\n"),
            (
                "tests:\n- name: a\n  expect: {allowed: true, message: b c } # d\n",
                "tests[0].expect.message",
                json!("^x, y$"),
                "tests:\n- name: a\n  expect: {allowed: true, message: \"^x, y$\" } # d\n",
            ),
            (
                "{\"a\": {\"b\":1}}",
                "a.b",
                json!("x"),
                "{\"a\": {\"b\":x}}",
            ),
            (
                "a: {b: [1, {c: it's}, 3]}\n",
                "a.b[1].c",
                json!("x"),
                "a: {b: [1, {c: x}, 3]}\n",
            ),
        ] {
            assert_eq!(changed(text, path, value), wanted, "{text}");
        }
    }

    #[test]
    fn maps_and_lists_are_replaced_in_the_style_they_have() {
        let patch = json!([{"op": "add", "path": "/a b", "value": {}}]);
        assert_eq!(
            changed("a: [] # none\nb: c\n", "a", patch.clone()),
            "a: [{op: add, path: \"/a b\", value: {}}] # none\nb: c\n"
        );
        assert_eq!(
            changed("a:\n- b: 1\n  c: 2\n# end\nd: e\n", "a", patch.clone()),
            "a:\n- op: add\n  path: \"/a b\"\n  value: {}\n# end\nd: e\n"
        );
        assert_eq!(
            changed(
                "x:\n  a:\n    b: 1\n\n    c: 2\n  d: e\n",
                "x.a",
                json!({"k": {"l": 1}})
            ),
            "x:\n  a:\n    k:\n      l: 1\n  d: e\n"
        );
        assert_eq!(
            changed("a: b # c\nd: e\n", "a", json!({"k": 1})),
            "a: \n  k: 1 # c\nd: e\n"
        );
        assert_eq!(
            changed("a:\n  b: 1\nc: d\n", "a", json!([])),
            "a:\n  []\nc: d\n"
        );
    }

    #[test]
    fn what_is_not_understood_is_not_touched() {
        for (text, path) in [
            ("a: &x b\nc: *x\n", "c"),
            ("a: !!str b\n", "a"),
            ("a: b\n", "c"),
        ] {
            let said = changed(text, path, json!("y"));
            assert!(said.contains("can't be changed in place"), "{text}: {said}");
        }
    }

    #[test]
    fn several_values_are_replaced_at_once() {
        let source = Source::text_named("a.yaml", "a: 1 # x\nb:\n- 2 # y\n- 3\n");
        let document = parse_as(&source, Dialect::Yaml).unwrap();
        let changes = [("b[1]".to_owned(), json!(5)), ("a".to_owned(), json!(4))];
        let text = replaced(&document, Dialect::Yaml, &changes).unwrap();
        assert_eq!(text, "a: 4 # x\nb:\n- 2 # y\n- 5\n");
    }
}
