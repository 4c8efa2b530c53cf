//! Kinds and fields of Kubernetes, from a table that `scripts/kubernetes-fields` writes.
//!
//! The table is text, so that a new version of Kubernetes is a difference that can be read. Lines begin with `kind`
//! or `type`; below a `type`, each field has a line with a space before it, and a word for what it holds: `text`,
//! `number`, `truth`, `any`, the name of a type, or one of these behind `[` for a list and `{` for a map.

use std::collections::{BTreeMap, HashMap};
use std::sync::OnceLock;

const TABLE: &str = include_str!("kubernetes/fields.txt");

/// The version of Kubernetes whose kinds and fields are known.
pub const VERSION_OF_KUBERNETES: &str = "1.36.4";

/// The type of `metadata`.
pub(crate) const OBJECT_META: &str = "meta.v1.ObjectMeta";

/// A kind of Kubernetes in one of its versions.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Kind {
    /// Empty for the group of `Pod`.
    pub(crate) group: &'static str,
    pub(crate) version: &'static str,
    pub(crate) name: &'static str,
    pub(crate) is_namespaced: bool,
    /// The type of its objects, if their fields are known.
    pub(crate) fields: Option<&'static str>,
}

impl Kind {
    /// As `match.kinds` has it: `apps/v1/Deployment`.
    pub(crate) fn written(&self) -> String {
        match self.group {
            "" => format!("{}/{}", self.version, self.name),
            group => format!("{group}/{}/{}", self.version, self.name),
        }
    }

    /// Without its version: `apps/Deployment`.
    pub(crate) fn without_version(&self) -> String {
        match self.group {
            "" => self.name.to_owned(),
            group => format!("{group}/{}", self.name),
        }
    }
}

/// Fields, each with the word for what it holds.
pub(crate) type Fields = BTreeMap<&'static str, &'static str>;

#[derive(Debug, Default)]
struct Table {
    kinds: Vec<Kind>,
    types: HashMap<&'static str, Fields>,
}

/// All kinds, by group, version and name.
pub(crate) fn kinds() -> &'static [Kind] {
    &table().kinds
}

/// Groups and versions in which Kubernetes has a kind of this name.
pub fn homes_of_kind(name: &str) -> impl Iterator<Item = (&'static str, &'static str)> {
    let homes = kinds().iter().filter(move |kind| kind.name == name);
    homes.map(|kind| (kind.group, kind.version))
}

/// The fields of a type.
pub(crate) fn fields(name: &str) -> Option<&'static Fields> {
    table().types.get(name)
}

/// Whether Kubernetes itself has this group.
pub(crate) fn has_group(group: &str) -> bool {
    kinds().iter().any(|kind| kind.group == group)
}

fn table() -> &'static Table {
    static READ: OnceLock<Table> = OnceLock::new();
    READ.get_or_init(|| read(TABLE))
}

fn read(text: &'static str) -> Table {
    let mut table = Table::default();
    let mut inside = "";
    for line in text.lines() {
        let words: Vec<&'static str> = line.split_ascii_whitespace().collect();
        match *words.as_slice() {
            ["#", ..] => {}
            ["kind", place, name, scope, fields] => {
                let (group, version) = place.split_once('/').unwrap_or(("", place));
                table.kinds.push(Kind {
                    group,
                    version,
                    name,
                    is_namespaced: scope == "namespaced",
                    fields: (fields != "any").then_some(fields),
                });
            }
            // A field may be named `type` too.
            ["type", name] if !line.starts_with(' ') => {
                inside = name;
                table.types.insert(name, Fields::new());
            }
            [field, holds] => {
                let fields = table.types.entry(inside).or_default();
                fields.insert(field, holds);
            }
            _ => {}
        }
    }
    table
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    #[test]
    fn every_line_of_the_table_is_understood() {
        let lines = TABLE.lines().count();
        let table = table();
        let fields: usize = table.types.values().map(BTreeMap::len).sum();
        assert_eq!(lines, 1 + table.kinds.len() + table.types.len() + fields);
        assert!(table.kinds.len() > 90 && fields > 2500);
        for kind in &table.kinds {
            assert!(
                kind.fields
                    .is_none_or(|name| table.types.contains_key(name)),
                "{kind:?}"
            );
        }
        for (field, word) in table.types.values().flatten() {
            let inner = word.trim_start_matches(['[', '{']);
            let is_word = ["text", "number", "truth", "any"].contains(&inner);
            assert!(is_word || table.types.contains_key(inner), "{field} {word}");
        }
    }

    #[test]
    fn well_known_fields_are_there() {
        let pod = fields("core.v1.PodSpec").unwrap();
        assert_eq!(pod["containers"], "[core.v1.Container");
        assert_eq!(fields("core.v1.Container").unwrap()["image"], "text");
        assert_eq!(fields(OBJECT_META).unwrap()["labels"], "{text");
        let node = kinds().iter().find(|kind| kind.name == "Node").unwrap();
        assert!(!node.is_namespaced && node.group.is_empty() && node.version == "v1");
    }

    /// After a change of the version in go.mod, `scripts/kubernetes-fields` writes the table.
    #[test]
    fn the_table_is_of_the_version_that_the_tests_build() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let modules = std::fs::read_to_string(root.join("e2e/kube/go.mod")).unwrap();
        let wanted = format!("k8s.io/kubernetes v{VERSION_OF_KUBERNETES}\n");
        assert!(modules.contains(&wanted), "run scripts/kubernetes-fields");
        let first = TABLE.lines().next().unwrap();
        let said = format!("# Kubernetes {VERSION_OF_KUBERNETES}: ");
        assert!(first.starts_with(&said), "{first}");
    }
}
