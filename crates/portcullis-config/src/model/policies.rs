//! The keys `policies` and `policyDirs`, the metadata of policies, and the policies that are evaluated.

use std::collections::BTreeMap;
use std::sync::Arc;

use portcullis_core::PolicyMode;
use portcullis_host::HostSettings;
use portcullis_js::{ModuleSource, PolicyCode};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::matcher::{MatchSpec, Matcher};
use portcullis_document::{Node, Position, Source, Value};

/// A policy in JavaScript.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(rename = "Policy", extend("required" = ["name", "code"]))]
pub(crate) struct PolicySpec {
    /// The name in messages, unique.
    #[serde(default)]
    pub(crate) name: Option<String>,
    /// The body of a function: `true` allows, `false` and text deny, anything else has no opinion.
    #[serde(default)]
    pub(crate) code: Option<String>,
    /// Which requests it applies to; by default all.
    #[serde(default, rename = "match")]
    pub(crate) matching: MatchSpec,
    /// What a denial by this policy means.
    #[serde(default)]
    pub(crate) mode: PolicyMode,
    /// A sentence that describes it; for reports.
    #[serde(default)]
    pub(crate) description: Option<String>,
    /// The severity of a violation; for reports.
    #[serde(default)]
    pub(crate) severity: Option<Severity>,
    /// Its category, like `supply chain`; for reports.
    #[serde(default)]
    pub(crate) category: Option<String>,
    /// A page with more information: `https://...`; for reports.
    #[serde(default)]
    pub(crate) link: Option<String>,
}

/// The severity of a violation of a policy.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// A matter of style.
    Low,
    /// Should be fixed.
    Medium,
    /// Must be fixed.
    High,
    /// Dangerous.
    Critical,
}

impl Severity {
    /// As it is written.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
            Self::Critical => "critical",
        }
    }
}

/// What a policy file says of itself: `export const policy = {...}`.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub(crate) struct PolicyMetadata {
    #[serde(rename = "match")]
    pub(crate) matching: MatchSpec,
    pub(crate) mode: PolicyMode,
    pub(crate) description: Option<String>,
    pub(crate) severity: Option<Severity>,
    pub(crate) category: Option<String>,
    pub(crate) link: Option<String>,
}

impl PolicySpec {
    /// What its author says of it.
    pub(crate) fn about(&self) -> About {
        About {
            description: self.description.clone(),
            severity: self.severity,
            category: self.category.clone(),
            link: self.link.clone(),
        }
    }
}

impl PolicyMetadata {
    /// What its author says of it.
    pub(crate) fn about(&self) -> About {
        About {
            description: self.description.clone(),
            severity: self.severity,
            category: self.category.clone(),
            link: self.link.clone(),
        }
    }
}

/// Everything about policies.
#[derive(Debug, Clone)]
pub struct Policies {
    /// JavaScript that is run before them.
    pub globals: Arc<Source>,
    /// The policies, in the order they are asked.
    pub list: Vec<Policy>,
    /// The modules that policies are or import.
    pub modules: Vec<Module>,
    /// Where each mark of coverage stands; none unless coverage is wanted.
    pub marks: Vec<MarkPlace>,
    /// What happens when no policy has an opinion.
    pub default_action: DefaultAction,
    /// Whether warnings name the link of the policy. Answers of acjs files stay as acjs has them.
    pub names_links: bool,
    /// Host calls of policies.
    pub host: HostSettings,
}

/// What happens when no policy has an opinion.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum DefaultAction {
    /// The request is allowed.
    Allow,
    /// The request is denied.
    #[default]
    Reject,
}

/// A policy, ready for the engine.
#[derive(Debug, Clone)]
pub struct Policy {
    /// Its name, once only.
    pub name: String,
    /// Which requests it is asked about.
    pub matcher: Matcher,
    /// What a denial by this policy means.
    pub mode: PolicyMode,
    /// What is run.
    pub code: PolicyCode,
    /// What its author wrote.
    pub text: Arc<Source>,
    /// What its author says of it.
    pub about: About,
    /// Where it stands in a file.
    pub written: Written,
}

/// Where the parts of a policy stand.
#[derive(Debug, Clone)]
pub struct Written {
    /// The file: the policy itself, or the list it is in.
    pub file: Arc<Source>,
    /// Where its code begins, if that is a value in a list.
    pub code: Option<Position>,
    /// Where the keys and values below `match` stand, by path: `kinds[0]`.
    pub rules: BTreeMap<String, Position>,
}

impl Written {
    /// A text that is a policy as a whole, with its description of itself, if it has one.
    pub fn whole(text: &Arc<Source>, description: Option<&Node>) -> Self {
        Self {
            file: Arc::clone(text),
            code: None,
            rules: description.map(rules).unwrap_or_default(),
        }
    }

    /// A file of another format, in which the code is this value, and the keys of `match` are those of a map.
    pub(crate) fn code_at(file: &Arc<Source>, code: Position, matching: &Node) -> Self {
        Self {
            file: Arc::clone(file),
            code: Some(code),
            rules: places(matching),
        }
    }

    /// An entry of a list.
    pub(crate) fn in_list(file: &Arc<Source>, entry: &Node) -> Self {
        Self {
            file: Arc::clone(file),
            code: entry.get("code").map(|code| code.position),
            rules: rules(entry),
        }
    }
}

/// The places of what stands below `match`.
fn rules(description: &Node) -> BTreeMap<String, Position> {
    description.get("match").map(places).unwrap_or_default()
}

/// The places of what stands in a map.
fn places(map: &Node) -> BTreeMap<String, Position> {
    let mut places = BTreeMap::new();
    let Value::Map(entries) = &map.value else {
        return places;
    };
    for (key, value) in entries {
        places.insert(key.value.clone(), key.position);
        if let Value::Seq(items) = &value.value {
            for (index, item) in items.iter().enumerate() {
                places.insert(format!("{}[{index}]", key.value), item.position);
            }
        }
    }
    places
}

/// What the author of a policy says of it, for reports. Nothing is judged by it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct About {
    /// What it is for.
    pub description: Option<String>,
    /// How much a violation matters.
    pub severity: Option<Severity>,
    /// What it belongs to.
    pub category: Option<String>,
    /// A page that says more.
    pub link: Option<String>,
}

/// An ES module as the engine takes it.
#[derive(Debug, Clone)]
pub struct Module {
    /// What is run.
    pub source: ModuleSource,
    /// What its author wrote.
    pub text: Arc<Source>,
}

/// A mark of coverage.
#[derive(Debug, Clone)]
pub struct MarkPlace {
    /// The text it is in.
    pub text: Arc<Source>,
    /// The line of the statement behind it.
    pub line: u32,
}
