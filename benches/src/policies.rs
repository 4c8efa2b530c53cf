//! The policies that are measured, and the files that hold them for each program.

use serde_json::{Value, json};

/// The name follows the naming rules.
const NAME: &str = include_str!("../fixtures/policies/name.js");
/// Every image is trusted.
const IMAGES: &str = include_str!("../fixtures/policies/images.js");
/// Volumes of kind `gitRepo` are rewritten.
const GITREPO: &str = include_str!("../fixtures/policies/gitrepo.js");
/// An annotation with the user is added.
const OWNER: &str = include_str!("../fixtures/policies/owner.js");
/// The first two in the language of OPA.
pub(crate) const REGO: &str = include_str!("../fixtures/policies/validating.rego");

/// A set of policies, in the order in which they are asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Set {
    /// The name, then the images.
    Validating,
    /// These two, then the rewriting of `gitRepo` volumes.
    Reference,
    /// An annotation, then the rewriting of `gitRepo` volumes: both change the object.
    TwoWriters,
    /// Those of `Validating` again and again, with other words in each, until there are a hundred.
    Hundred,
}

impl Set {
    /// A name for directories and the report.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Validating => "2 policies",
            Self::Reference => "3 policies",
            Self::TwoWriters => "2 writing policies",
            Self::Hundred => "100 policies",
        }
    }

    /// The `policies` and `defaultAction` keys, which mean the same to Portcullis and to acjs.
    pub(crate) fn keys(self) -> Value {
        let policy = |name: &str, code: &str| json!({"name": name, "code": code});
        let policies: Vec<Value> = match self {
            Self::Validating => vec![policy("name", NAME), policy("images", IMAGES)],
            Self::Reference => {
                let first = [policy("name", NAME), policy("images", IMAGES)];
                first
                    .into_iter()
                    .chain([policy("gitrepo", GITREPO)])
                    .collect()
            }
            Self::TwoWriters => vec![policy("owner", OWNER), policy("gitrepo", GITREPO)],
            Self::Hundred => (0..50).flat_map(variation).collect(),
        };
        json!({"policies": policies, "defaultAction": "allow"})
    }

    /// The text of a file for a folder of policies: the same names in the same order.
    pub(crate) fn folder_file(self) -> String {
        let mut keys = self.keys();
        let policies = keys.pointer_mut("/policies").map(Value::take);
        json!({"policies": policies}).to_string() + "\n"
    }

    /// Those keys as lines of a YAML file: every line of JSON is one.
    pub(crate) fn yaml(self) -> String {
        let keys = self.keys();
        let lines = keys.as_object().into_iter().flatten();
        lines
            .map(|(key, value)| format!("{key}: {value}\n"))
            .collect()
    }
}

/// Two policies whose text nobody else has, so that nothing is shared between them.
fn variation(number: usize) -> [Value; 2] {
    let folders = format!("(shop|mesh|observability|team-{number})");
    let images = IMAGES.replace("(shop|mesh|observability)", &folders);
    let name = NAME.replace("naming rules", &format!("naming rules, number {number}"));
    [
        json!({"name": format!("name-{number}"), "code": name}),
        json!({"name": format!("images-{number}"), "code": images}),
    ]
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn a_hundred_policies_differ_in_name_and_text() {
        let keys = Set::Hundred.keys();
        let policies = keys["policies"].as_array().unwrap();
        let different = |key: &str| -> usize {
            let texts = policies.iter().map(|p| p[key].as_str().unwrap());
            texts.collect::<HashSet<_>>().len()
        };
        assert_eq!((different("name"), different("code")), (100, 100));
    }

    #[test]
    fn sets_are_lines_of_yaml() {
        let text = Set::Reference.yaml();
        assert_eq!(text.lines().count(), 2, "{text}");
        assert!(text.contains("defaultAction: \"allow\"\n") && text.contains("\npolicies: [{"));
    }

    #[test]
    fn a_folder_holds_the_same_policies_in_the_same_order() {
        let file: Value = serde_json::from_str(&Set::Reference.folder_file()).unwrap();
        assert_eq!(file["policies"], Set::Reference.keys()["policies"]);
        assert_eq!(file.as_object().unwrap().len(), 1);
    }

    #[test]
    fn the_rules_of_opa_are_those_of_the_scripts() {
        for pattern in [
            "^[a-z][a-z0-9-]{3,61}[a-z0-9]$",
            "(shop|mesh|observability)",
        ] {
            assert!(REGO.contains(pattern), "{pattern}");
            assert!(
                NAME.contains(pattern) || IMAGES.contains(pattern),
                "{pattern}"
            );
        }
    }
}
