//! The objects of a manifest's text.
//!
//! Manifests are YAML as Kubernetes reads it (`0644` is octal, `yes` is a boolean), JSON among it. A
//! document that can't be used is reported, with its line, and the others are still read.

use portcullis_document::{Fault, Position, yaml};
use portcullis_kube::manifest::{ManifestText, list_items, parts};
use serde_json::Value;

/// What a text holds.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Contents {
    /// The objects that can be used, in their order.
    pub(super) objects: Vec<Object>,
    /// What is wrong with the others.
    pub(super) faults: Vec<Fault>,
    /// Whether there is no document at all.
    pub(super) is_empty: bool,
}

/// An object that says what it is.
#[derive(Debug, PartialEq)]
pub(super) struct Object {
    pub(super) api_version: String,
    pub(super) kind: String,
    /// Empty if it names none.
    pub(super) namespace: String,
    pub(super) name: String,
    pub(super) value: Value,
    /// The line of its document.
    pub(super) line: u64,
}

/// Reads all objects of a text, lists taken apart.
pub(super) fn read(text: &str) -> Contents {
    let parts = parts(text);
    let mut contents = Contents {
        is_empty: true,
        ..Contents::default()
    };
    let work = || {
        for part in &parts {
            match document(part) {
                Ok(value) => take(part.line(), value, &mut contents),
                Err(why) => {
                    contents.is_empty = false;
                    contents.faults.push(*why);
                }
            }
        }
        contents
    };
    yaml::with_stack(work).unwrap_or_else(|why| Contents {
        faults: vec![Fault::at("", why)],
        ..Contents::default()
    })
}

fn document(part: &ManifestText<'_>) -> Result<Value, Box<Fault>> {
    yaml::manifest(part.text).map_err(|fault| {
        let position = match fault.position {
            Some(Position { line, column }) => Position {
                line: part.before + line,
                column: column.max(1),
            },
            None => beginning(part.line()),
        };
        Box::new(Fault::at_position(position, fault.message))
    })
}

/// The beginning of a line.
pub(super) fn beginning(line: u64) -> Position {
    Position { line, column: 1 }
}

/// Takes an object, or the objects of a list.
fn take(line: u64, value: Value, into: &mut Contents) {
    // As in kubectl, an empty document is skipped.
    if value.is_null() {
        return;
    }
    into.is_empty = false;
    if let Some(items) = list_items(&value) {
        drop(value);
        for (index, item) in items.into_iter().enumerate() {
            match object(line, item) {
                Ok(object) => into.objects.push(object),
                Err(why) => {
                    let why = format!("items[{index}]: {why}");
                    into.faults.push(Fault::at_position(beginning(line), why));
                }
            }
        }
        return;
    }
    match object(line, value) {
        Ok(object) => into.objects.push(object),
        Err(why) => into.faults.push(Fault::at_position(beginning(line), why)),
    }
}

fn object(line: u64, value: Value) -> Result<Object, String> {
    if !value.is_object() {
        return Err("expected a map with apiVersion and kind".to_owned());
    }
    let text = |pointer: &str, path: &str| match value.pointer(pointer) {
        None | Some(Value::Null) => Ok(String::new()),
        Some(Value::String(text)) => Ok(text.clone()),
        Some(_) => Err(format!("{path}: expected text; put it in quotes")),
    };
    let needed = |pointer: &str, path: &str| match text(pointer, path) {
        Ok(text) if text.is_empty() => Err(format!("{path} is missing")),
        other => other,
    };
    Ok(Object {
        api_version: needed("/apiVersion", "apiVersion")?,
        kind: needed("/kind", "kind")?,
        namespace: text("/metadata/namespace", "metadata.namespace")?,
        name: needed("/metadata/name", "metadata.name")?,
        line,
        value,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(text: &str) -> (Vec<String>, Vec<String>) {
        let contents = read(text);
        let name = |o: Object| format!("{}/{}:{}/{}", o.api_version, o.kind, o.namespace, o.name);
        let fault = |fault: Fault| match fault.position {
            Some(Position { line, column }) => format!("{line}:{column}: {}", fault.message),
            None => fault.message,
        };
        (
            contents.objects.into_iter().map(name).collect(),
            contents.faults.into_iter().map(fault).collect(),
        )
    }

    #[test]
    fn documents_lists_and_json() {
        let text = "# first\napiVersion: v1\nkind: Pod\nmetadata: {name: a, namespace: ns}\n---\n\
            {\"apiVersion\":\"v1\",\"kind\":\"Node\",\"metadata\":{\"name\":\"b\"}}\n---\nnull\n---\n\
            kind: List\napiVersion: v1\nitems:\n- {apiVersion: v1, kind: Secret, metadata: {name: c, namespace: ns}}\n\
            - {apiVersion: v1, kind: Secret, metadata: {name: d, namespace: ns}}\n---\n\
            kind: PodList\napiVersion: v1\nitems: [{metadata: {name: e, namespace: ns}}]\n";
        let expected = [
            "v1/Pod:ns/a",
            "v1/Node:/b",
            "v1/Secret:ns/c",
            "v1/Secret:ns/d",
            "v1/Pod:ns/e",
        ];
        assert_eq!(names(text), (expected.map(str::to_owned).into(), vec![]));
    }

    #[test]
    fn a_bad_document_does_not_take_the_others_along() {
        let good = "apiVersion: v1\nkind: Pod\nmetadata: {name: a, namespace: ns}\n";
        for (bad, words) in [
            ("kind: SecretBinding\n  metadata: [\n", "not valid YAML"),
            ("a: 1\na: 2\n", "2:1: a key is given twice"),
            ("{\"kind\": \"Pod\", \"kind\": \"Pod\"}", "given twice"),
            ("- 1\n", "1:1: expected a map"),
            ("kind: Pod\nmetadata: {name: a}\n", "apiVersion is missing"),
            ("apiVersion: v1\nkind: Pod\n", "metadata.name is missing"),
            (
                "apiVersion: v1\nkind: Pod\nmetadata: 7\n",
                "metadata.name is missing",
            ),
            (
                "apiVersion: v1\nkind: 5\nmetadata: {name: a}\n",
                "kind: expected text",
            ),
            ("kind: List\nitems: [7]\n", "items[0]: expected a map"),
            ("a: *nothing\n", "anchor"),
        ] {
            let (objects, faults) = names(&format!("{bad}\n---\n{good}"));
            assert_eq!(objects, ["v1/Pod:ns/a"], "{bad}");
            assert_eq!(faults.len(), 1, "{bad}");
            assert!(faults[0].contains(words), "{faults:?}");
        }
        let (_, faults) = names(&format!("{good}---\n{good}---\n\n- secret\n"));
        assert_eq!(faults, ["10:1: expected a map with apiVersion and kind"]);
    }

    #[test]
    fn faults_do_not_quote_the_file() {
        for text in ["password: \"s3cret", "s3cret: 1\ns3cret: 2", "a: *s3cret"] {
            let (_, faults) = names(text);
            assert!(!faults.is_empty() && !faults[0].contains("s3cret"));
        }
    }

    #[test]
    fn bombs_are_refused() {
        let mut bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n".to_owned();
        for n in 1..12 {
            let all = format!("*a{}, ", n - 1).repeat(10);
            bomb += &format!("a{n}: &a{n} [{all}]\n");
        }
        let deep = format!("a: {}{}\n", "[".repeat(5000), "]".repeat(5000));
        let deep_json = format!("{{\"a\": {}{}}}", "[".repeat(50000), "]".repeat(50000));
        for text in [bomb, deep, deep_json] {
            let (objects, faults) = names(&text);
            assert!(objects.is_empty());
            assert_eq!(faults.len(), 1);
        }
    }

    #[test]
    fn nothing_is_nothing() {
        assert!(read("").is_empty);
        assert!(read("# a comment\n---\n").is_empty);
        assert!(read("---\nnull\n").is_empty);
        assert!(!read("[").is_empty);
        assert!(!read("kind: List\nitems: []\n").is_empty);
    }
}
