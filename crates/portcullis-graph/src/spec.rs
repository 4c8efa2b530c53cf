//! A profile as it is written: shapes only, no meaning.
//!
//! Every text called an expression is CEL; what it sees is documented at its place. A template is a text in
//! which `{name}` and the like stand for what the subject's `user` pattern captured.

use std::collections::BTreeMap;

use serde::Deserialize;

/// The whole file.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ProfileSpec {
    /// What the file is.
    pub kind: DocumentKind,
    /// What it is for, in a sentence or two.
    #[serde(default)]
    pub description: Option<String>,
    /// Kinds that agents stand for and paths lead to. Each has a graph of its own.
    pub targets: Vec<String>,
    /// Kinds of vertices by name.
    pub vertices: BTreeMap<String, VertexSpec>,
    /// Which objects are watched, and what they contribute.
    #[serde(default)]
    pub sources: Vec<SourceSpec>,
    /// Who the agents are.
    pub subjects: Vec<SubjectSpec>,
    /// What is said where no rule allows.
    #[serde(default)]
    pub on_miss: OnMiss,
    /// Whether upstream's answers about selectors and deletions of unknown objects are looser than these, so
    /// that `compat: upstream` means something.
    #[serde(default)]
    pub upstream_is_looser: bool,
    /// What agents may do to resources.
    #[serde(default)]
    pub rules: Vec<RuleSpec>,
    /// What agents may do whatever the graph says.
    #[serde(default, rename = "static")]
    pub static_rules: Vec<StaticSpec>,
    /// What is required of what agents write.
    #[serde(default)]
    pub admission: Option<AdmissionSpec>,
}

/// What a file is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
pub enum DocumentKind {
    /// A profile.
    RelationshipGraph,
}

/// A kind of vertices.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct VertexSpec {
    /// API group, empty for the core group.
    #[serde(default)]
    pub group: String,
    /// API version that is watched and read; `v1` if it is not said.
    #[serde(default)]
    pub version: Option<String>,
    /// Resource, like `shoots`.
    pub resource: String,
    /// Whether its objects are in namespaces.
    #[serde(default)]
    pub namespaced: bool,
}

/// A text, or a list of texts.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(untagged)]
pub enum OneOrMany {
    /// One.
    One(String),
    /// Several.
    Many(Vec<String>),
}

/// Objects that are watched.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SourceSpec {
    /// Their kind, one of `vertices`.
    pub kind: String,
    /// Graphs they contribute to, by target; all if it is not said.
    #[serde(default)]
    pub targets: Option<Vec<String>>,
    /// Expression over `self`: objects for which it is not true are as if they weren't there.
    #[serde(default)]
    pub only: Option<String>,
    /// Paths of fields that others may look up, like `spec.seedName`. Name, namespace, uid and
    /// deletionTimestamp are always kept if anything is.
    #[serde(default)]
    pub keep: Vec<String>,
    /// What makes an object malformed. Its other edges count all the same.
    #[serde(default)]
    pub malformed: Vec<MalformedSpec>,
    /// What it contributes.
    #[serde(default)]
    pub edges: Vec<EdgeSpec>,
}

/// What makes an object malformed.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct MalformedSpec {
    /// Expression over `self`.
    pub when: String,
    /// What is wrong, in words.
    pub says: String,
}

/// Edges that an object contributes. Just one of `from` and `to` is given: the other end is the object
/// itself, or what `of` says.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct EdgeSpec {
    /// Edges begin at vertices of this kind (with several kinds: at those whose `kind` it is).
    #[serde(default)]
    pub from: Option<OneOrMany>,
    /// Edges end at vertices of this kind.
    #[serde(default)]
    pub to: Option<OneOrMany>,
    /// Expressions over `self`, each on its own: a name, a reference `{kind?, apiVersion?, namespace?,
    /// name}`, or a list of such. What is missing, null or empty contributes nothing.
    pub names: OneOrMany,
    /// Expression over `self`: the namespace where a reference has none. The object's own if it is not said.
    #[serde(default)]
    pub namespace: Option<String>,
    /// Expression over `self`: no edges unless it is true.
    #[serde(default)]
    pub when: Option<String>,
    /// References must have the very `apiVersion` of the kind.
    #[serde(default)]
    pub exact: bool,
    /// The other end in place of the object itself.
    #[serde(default)]
    pub of: Option<OfSpec>,
    /// Graphs these edges are in, by target; those of the source if it is not said.
    #[serde(default)]
    pub targets: Option<Vec<String>>,
}

/// Another end of an edge.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct OfSpec {
    /// Kind.
    pub kind: String,
    /// Expression over `self`: name.
    pub name: String,
    /// Expression over `self`: namespace; the object's own if it is not said.
    #[serde(default)]
    pub namespace: Option<String>,
}

/// Who is an agent, and what it stands for.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SubjectSpec {
    /// The name that rules use.
    pub id: String,
    /// Pattern of the user: text, `{capture}` (anything but `:`, not empty), and `*` at the end (anything,
    /// not empty). Like `system:node:{name}`.
    pub user: String,
    /// Templates of groups; the user must be in all of them.
    pub groups: Vec<String>,
    /// Templates of groups; the user must be in none of them.
    #[serde(default)]
    pub without_groups: Vec<String>,
    /// The reason for a user that would fit if a capture were not empty; a general one if it is not said.
    #[serde(default)]
    pub unnamed: Option<String>,
    /// What it stands for.
    pub target: SubjectTarget,
}

/// What an agent stands for.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SubjectTarget {
    /// Kind, one of `targets`.
    pub kind: String,
    /// Template.
    #[serde(default)]
    pub namespace: String,
    /// Template.
    pub name: String,
}

/// What is said where no rule allows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
pub enum OnMiss {
    /// Nothing: the next authorizer is asked.
    #[default]
    NoOpinion,
    /// No, to every request of an agent for resources. Other users and non-resource paths are not denied.
    Deny,
}

/// What agents may do to resources. Several rules may be about one resource: the first that allows counts.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct RuleSpec {
    /// Resources, like `shoots.core.gardener.cloud`, `secrets`, or a subresource alone: `pods/status`.
    pub resources: Vec<String>,
    /// For which subjects; all if it is not said.
    #[serde(default)]
    pub subjects: Option<Vec<String>>,
    /// Allowed before anything else is looked at, subresources included.
    #[serde(default)]
    pub shortcuts: Vec<ShortcutSpec>,
    /// Templates: the namespaces it is limited to.
    #[serde(default)]
    pub namespaces: Option<Vec<String>>,
    /// What is said about other namespaces, in place of the usual text.
    #[serde(default)]
    pub namespace_reason: Option<String>,
    /// What is said about other verbs, in place of the usual text.
    #[serde(default)]
    pub verb_reason: Option<String>,
    /// Subresources that are as the object itself; `*` for any.
    #[serde(default)]
    pub subresources: Vec<String>,
    /// Verbs that are always allowed.
    #[serde(default)]
    pub always: Vec<String>,
    /// Verbs that need a path from the object to what the subject stands for.
    #[serde(default)]
    pub path: Vec<String>,
    /// Verbs that need the object to have a certain name, without the graph.
    #[serde(default)]
    pub named: Vec<NamedSpec>,
    /// Selectors that open lists and watches. One of them must be there.
    #[serde(default)]
    pub selectors: Vec<SelectorSpec>,
    /// Whether an object without a vertex may be deleted.
    #[serde(default)]
    pub delete_unknown: bool,
    /// What is said where this rule does not allow, in place of the profile's.
    #[serde(default)]
    pub on_miss: Option<OnMiss>,
}

/// Something that is always allowed.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ShortcutSpec {
    /// Verbs; `*` for any.
    pub verbs: Vec<String>,
    /// Template; any if it is not said.
    #[serde(default)]
    pub namespace: Option<String>,
    /// Template; any if it is not said.
    #[serde(default)]
    pub name: Option<String>,
    /// Expression over `subject` (`id`, `kind`, `namespace`, `name`): the name.
    #[serde(default)]
    pub name_expression: Option<String>,
    /// Template: what the name begins with.
    #[serde(default)]
    pub name_prefix: Option<String>,
}

/// Verbs on an object of a certain name.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NamedSpec {
    /// Verbs.
    pub verbs: Vec<String>,
    /// Template.
    pub name: String,
}

/// A requirement of a selector, or several that must all be there.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SelectorSpec {
    /// Template: key of a label.
    #[serde(default)]
    pub label: Option<String>,
    /// Path of a field, like `spec.nodeName`.
    #[serde(default)]
    pub field: Option<String>,
    /// Template: the only value.
    #[serde(default)]
    pub equals: Option<String>,
    /// All of these, in place of the three above.
    #[serde(default)]
    pub all: Vec<SelectorSpec>,
}

/// Something that agents may do whatever the graph says.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct StaticSpec {
    /// For which subjects; all if it is not said.
    #[serde(default)]
    pub subjects: Option<Vec<String>>,
    /// Verbs; `*` for any.
    pub verbs: Vec<String>,
    /// Resources, as in rules; names of subresources are part of them.
    #[serde(default)]
    pub resources: Vec<String>,
    /// Non-resource paths; `*` at the end for any rest.
    #[serde(default)]
    pub paths: Vec<String>,
    /// Templates: the namespaces it is limited to.
    #[serde(default)]
    pub namespaces: Option<Vec<String>>,
}

/// What is required of what agents write.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct AdmissionSpec {
    /// Whether a CREATE of an object that is there already passes: the API server will reject it itself.
    /// Existence is looked at only if the rules would deny.
    #[serde(default)]
    pub skip_existing: bool,
    /// What is said of resources that no rule of the subject is about; they pass if it is not said. A
    /// subresource is a resource of its own.
    #[serde(default)]
    pub other_resources: Option<RefusalSpec>,
    /// What is said of operations that no rule of the subject and resource is about; they pass if it is not
    /// said.
    #[serde(default)]
    pub other_operations: Option<RefusalSpec>,
    /// The rules. The first about resource, operation and subject counts.
    pub rules: Vec<AdmissionRuleSpec>,
}

/// A denial.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct RefusalSpec {
    /// HTTP status, 400 to 599; 403 if it is not said.
    #[serde(default)]
    pub code: Option<u16>,
    /// Template: `{name}` and `{namespace}` (of what the subject stands for), `{subject.id}`,
    /// `{subject.kind}`, `{subject.namespace}`, `{subject.name}`, `{request.name}`, `{request.namespace}`,
    /// `{request.operation}`, `{request.group}`, `{request.resource}`, `{request.subresource}` and names of
    /// `let`. A brace itself is written twice. Values are escaped and cut.
    pub message: String,
}

/// What is required of what agents write to some resources.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct AdmissionRuleSpec {
    /// Resources, `resource[.group][/subresource]`: `seeds.core.gardener.cloud`, `pods/eviction`;
    /// `pods/*` for any subresource without a rule of its own.
    pub resources: Vec<String>,
    /// Operations: CREATE, UPDATE, DELETE, CONNECT.
    pub operations: Vec<String>,
    /// For which subjects; all if it is not said.
    #[serde(default)]
    pub subjects: Option<Vec<String>>,
    /// The first case whose `when` holds decides.
    pub cases: Vec<CaseSpec>,
    /// What is said if no case holds; a plain 403 if it is not said.
    #[serde(default)]
    pub otherwise: Option<RefusalSpec>,
}

/// One case. Expressions see `object`, `oldObject` (null where there is none), `request` (`name`,
/// `namespace`, `operation`, `group`, `resource`, `subresource`, `user`, `groups`, `options`), `subject`
/// (`id`, `kind`, `namespace`, `name`) and the names of `let` before them. What is missing makes an
/// expression false.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct CaseSpec {
    /// Expression; always if it is not said.
    #[serde(default)]
    pub when: Option<String>,
    /// Values with names, computed when they are first needed. What is missing is null.
    #[serde(default, rename = "let")]
    pub values: Vec<LetSpec>,
    /// What must be true, in order. The first that is not decides.
    #[serde(default)]
    pub require: Vec<RequireSpec>,
}

/// A value with a name.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct LetSpec {
    /// Name.
    pub name: String,
    /// Expression.
    pub value: String,
}

/// Something that must be true, or the denial.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct RequireSpec {
    /// Expression; `false` denies always.
    pub that: String,
    /// HTTP status; 403 if it is not said.
    #[serde(default)]
    pub code: Option<u16>,
    /// Template, as in denials.
    pub message: String,
}
