//! The items of the tenants document as they are written.

use std::collections::BTreeMap;
use std::fmt;

use portcullis_document::{Node, path};
use serde::de::{Deserializer, SeqAccess, Visitor};
use serde::{Deserialize, de};

/// `authorization-rule`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RuleSpec {
    pub(super) name: String,
    pub(super) conditions: Node,
}

/// `role`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RoleSpec {
    pub(super) name: String,
    /// `true`, `false`, or a map with conditions.
    pub(super) permissions: BTreeMap<String, Node>,
}

/// `tenant`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct TenantSpec {
    #[serde(rename = "name")]
    pub(super) _name: String,
    #[serde(default, deserialize_with = "given")]
    pub(super) role_mappings: Option<BTreeMap<String, Texts>>,
    #[serde(default, deserialize_with = "given")]
    pub(super) anonymous_read_access: Option<bool>,
    #[serde(default, deserialize_with = "given")]
    pub(super) admin_rules: Option<Texts>,
    #[serde(default, deserialize_with = "given")]
    pub(super) access_rules: Option<Texts>,
    #[serde(default, deserialize_with = "given")]
    pub(super) projects: Option<Texts>,
    #[serde(default, deserialize_with = "given")]
    pub(super) source: Option<BTreeMap<String, HostSpec>>,
}

/// A host of a tenant's `source`: names of projects, with their options or without.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct HostSpec {
    #[serde(default, deserialize_with = "given")]
    pub(super) config_projects: Option<Node>,
    #[serde(default, deserialize_with = "given")]
    pub(super) untrusted_projects: Option<Node>,
}

/// `api-root`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct RootSpec {
    #[serde(default, deserialize_with = "given")]
    pub(super) role_mappings: Option<BTreeMap<String, Texts>>,
    #[serde(default, deserialize_with = "given")]
    pub(super) anonymous_read_access: Option<bool>,
    #[serde(default, deserialize_with = "given")]
    pub(super) access_rules: Option<Texts>,
}

/// What Zuul knows of a tenant and is not used here.
pub(super) const IGNORED: &[&str] = &[
    "allow-circular-dependencies",
    "allowed-labels",
    "allowed-reporters",
    "allowed-triggers",
    "always-dynamic-branches",
    "attribute-control",
    "authentication-realm",
    "default-ansible-version",
    "default-parent",
    "disallowed-labels",
    "exclude-branches",
    "exclude-locked-branches",
    "exclude-unprotected-branches",
    "include-branches",
    "max-changes-per-pipeline",
    "max-dependencies",
    "max-job-timeout",
    "max-nodes-per-job",
    "report-build-page",
    "semaphores",
    "web-root",
];

/// What Zuul knows of `api-root` and is not used here.
pub(super) const ROOT_IGNORED: &[&str] = &["authentication-realm"];

/// An optional key that can't be `null`.
fn given<'de, T: Deserialize<'de>, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<T>, D::Error> {
    T::deserialize(deserializer).map(Some)
}

/// A text, or a list of texts.
#[derive(Debug)]
pub(super) enum Texts {
    One(String),
    Many(Vec<String>),
}

impl Texts {
    /// Each with its path; `at` is the path of all.
    pub(super) fn iter(&self, at: &str) -> Vec<(String, &str)> {
        match self {
            Self::One(text) => vec![(at.to_owned(), text)],
            Self::Many(texts) => {
                let texts = texts.iter().enumerate();
                texts
                    .map(|(index, text)| (path::index(at, index), text.as_str()))
                    .collect()
            }
        }
    }

    /// Whether it is a list of none.
    pub(super) fn is_empty(&self) -> bool {
        matches!(self, Self::Many(texts) if texts.is_empty())
    }
}

impl<'de> Deserialize<'de> for Texts {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(TextsVisitor)
    }
}

struct TextsVisitor;

impl<'de> Visitor<'de> for TextsVisitor {
    type Value = Texts;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("text or a list of texts")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Texts, E> {
        Ok(Texts::One(text.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Texts, A::Error> {
        let mut texts = Vec::new();
        while let Some(text) = items.next_element()? {
            texts.push(text);
        }
        Ok(Texts::Many(texts))
    }
}
