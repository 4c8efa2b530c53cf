//! What is asked: a policy, and the request it judges.

use std::collections::BTreeMap;

use portcullis_config::Limits;
use portcullis_core::{PolicyMode, vocabulary};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// Bytes of a policy, at most.
const POLICY: usize = 64 << 10;
/// Bytes of an object, at most.
const OBJECT: usize = 256 << 10;
/// Bytes of a name, at most.
const NAME: usize = 1 << 10;
/// Groups, or labels, at most.
const NAMES: usize = 256;

vocabulary! {
    /// The language of a policy.
    #[derive(Default, JsonSchema)]
    #[schemars(rename = "PolicyLanguage")]
    pub enum Language {
        /// JavaScript.
        #[default]
        JavaScript = "js",
        /// TypeScript.
        TypeScript = "ts",
    }
}

impl From<Language> for portcullis_script::Language {
    fn from(language: Language) -> Self {
        match language {
            Language::JavaScript => Self::JavaScript,
            Language::TypeScript => Self::TypeScript,
        }
    }
}

vocabulary! {
    /// Where a request is judged.
    #[derive(JsonSchema)]
    #[schemars(rename = "PlaygroundDoor")]
    pub enum Door {
        /// As an object of Kubernetes.
        Kubernetes = "kubernetes",
        /// As a CI job.
        Ci = "ci",
    }
}

/// An object: JSON, or a text in YAML or JSON.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
#[schemars(rename = "PlaygroundManifest")]
pub enum ManifestText {
    /// Text with one object.
    Text(String),
    /// The object itself.
    Object(Map<String, Value>),
}

/// A policy, and the request it judges.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "PlaygroundQuestion")]
pub struct Question {
    /// The policy: the body of a function, or an ES module without imports. At most 64 KiB.
    pub policy: String,
    /// Its language; by default JavaScript.
    #[serde(default)]
    pub language: Language,
    /// The object: JSON, or a text in YAML or JSON of at most 256 KiB. A CI job is an object of `ci.portcullis.dev/v1`.
    pub object: ManifestText,
    /// The object as it is before an `UPDATE` or a `DELETE`.
    #[serde(default)]
    pub old_object: Option<ManifestText>,
    /// `CREATE`, `UPDATE`, `DELETE` or `CONNECT`; by default `CREATE`.
    #[serde(default)]
    pub operation: Option<String>,
    /// The user; by default `portcullis-test`.
    #[serde(default)]
    pub user: Option<String>,
    /// The groups of the user, besides `system:authenticated`.
    #[serde(default)]
    pub groups: Vec<String>,
    /// The namespace of an object that names none; by default `default`.
    #[serde(default)]
    pub namespace: Option<String>,
    /// Labels of the object's namespace.
    #[serde(default)]
    pub namespace_labels: BTreeMap<String, String>,
    /// What a denial means; by default what the policy says of itself, or else `enforce`.
    #[serde(default)]
    pub mode: Option<PolicyMode>,
    /// Where it is judged; by default where objects of this kind are.
    #[serde(default)]
    pub door: Option<Door>,
}

/// A question, and what else the process needs to answer it.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Posed {
    /// The question.
    pub(super) question: Question,
    /// JavaScript that is run before the policy.
    pub(super) globals: String,
    /// What the evaluation may use.
    pub(super) limits: Limits,
}

impl ManifestText {
    fn len(&self) -> usize {
        match self {
            Self::Text(text) => text.len(),
            Self::Object(map) => serde_json::to_vec(map).map_or(usize::MAX, |text| text.len()),
        }
    }
}

impl Question {
    /// The first field that is too large, and how large it may be.
    pub fn too_large(&self) -> Option<(&'static str, String)> {
        let names = [&self.operation, &self.user, &self.namespace];
        let longest = |texts: &mut dyn Iterator<Item = &String>| texts.map(String::len).max();
        let labels = self.namespace_labels.iter();
        let mut labels = labels.flat_map(|(key, value)| [key, value]);
        let bytes = [
            ("policy", self.policy.len(), POLICY),
            ("object", self.object.len(), OBJECT),
            (
                "old_object",
                self.old_object.as_ref().map_or(0, ManifestText::len),
                OBJECT,
            ),
            (
                "groups",
                longest(&mut self.groups.iter()).unwrap_or_default(),
                NAME,
            ),
            (
                "namespace_labels",
                longest(&mut labels).unwrap_or_default(),
                NAME,
            ),
        ];
        let named = ["operation", "user", "namespace"];
        let named = named.into_iter().zip(names);
        let named = named.map(|(field, text)| (field, text.as_ref().map_or(0, String::len), NAME));
        let mut bytes = bytes.into_iter().chain(named);
        if let Some((field, _, most)) = bytes.find(|(_, is, most)| is > most) {
            return Some((field, format!("{most} bytes")));
        }
        let counts = [
            ("groups", self.groups.len()),
            ("namespace_labels", self.namespace_labels.len()),
        ];
        let (field, _) = counts.into_iter().find(|(_, is)| *is > NAMES)?;
        Some((field, format!("{NAMES} entries")))
    }
}
