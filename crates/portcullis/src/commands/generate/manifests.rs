//! Several manifests as one text.

use clap::ValueEnum;
use serde_json::{Value, json};

use crate::commands::text::{json, yaml};
use crate::output;

/// The format of manifests.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Format {
    /// YAML documents.
    Yaml,
    /// One JSON document: a list, if there are several.
    Json,
}

/// Prints them.
pub(super) fn print(manifests: &[Value], format: Format) {
    output::data(&text(manifests, format));
}

/// One text for all of them.
pub(super) fn text(manifests: &[Value], format: Format) -> String {
    match (format, manifests) {
        (Format::Yaml, _) => {
            let all = manifests.iter().map(yaml::write);
            all.collect::<Vec<_>>().join("---\n")
        }
        (Format::Json, [one]) => json::pretty(one),
        (Format::Json, several) => {
            json::pretty(&json!({"apiVersion": "v1", "kind": "List", "items": several}))
        }
    }
}

/// Name and labels.
pub(super) fn metadata(name: &str) -> Value {
    json!({"name": name, "labels": {"app.kubernetes.io/name": "portcullis"}})
}

/// A text as a part of a name in Kubernetes.
pub(super) fn name_part(text: &str) -> String {
    let plain = |c: char| match c.to_ascii_lowercase() {
        c if c.is_ascii_alphanumeric() || c == '.' => c,
        _ => '-',
    };
    let name: String = text.chars().map(plain).collect();
    name.trim_matches(['-', '.']).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn several_yaml_documents_are_separated() {
        let all = [json!({"a": 1}), json!({"b": 2})];
        assert_eq!(text(&all, Format::Yaml), "a: 1\n---\nb: 2\n");
        assert!(text(&all, Format::Json).contains("\"kind\": \"List\""));
        assert!(!text(&all[..1], Format::Json).contains("List"));
    }

    #[test]
    fn names_are_those_of_kubernetes() {
        for (text, expected) in [("seed", "seed"), ("My_Chain", "my-chain"), ("-a-", "a")] {
            assert_eq!(name_part(text), expected);
        }
    }
}
