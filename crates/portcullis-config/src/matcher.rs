//! Which requests a policy applies to.

mod described;
mod pattern;
mod resources;
mod selectors;

use std::collections::BTreeMap;

use portcullis_core::{Attributes, Door, Glob, Kind, Operation, Resource};
use portcullis_kube::Namespaces;
use portcullis_kube::cluster_objects::Unknown;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};

pub use pattern::{MatchPattern, MatchedName};
use resources::{ResourcePattern, SCOPES, Scope};
pub(crate) use selectors::LabelSelector;
use selectors::Selector;

/// The doors at which policies can judge.
const JUDGED_DOORS: [Door; 2] = [Door::Kubernetes, Door::Ci];

/// Which requests a policy applies to. Every key must match; of a list, one entry must.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
#[schemars(rename = "Match")]
pub struct MatchSpec {
    /// `CREATE`, `UPDATE`, `DELETE`, `CONNECT`.
    pub(crate) operations: Option<Vec<String>>,
    /// `Pod`, `apps/Deployment`, `apps/v1/Deployment`.
    pub(crate) kinds: Option<Vec<String>>,
    /// `pods`, `deployments.apps`, `deployments.v1.apps`, `pods/exec`.
    pub(crate) resources: Option<Vec<String>>,
    /// `Namespaced` or `Cluster`; by default both.
    #[schemars(schema_with = "scope_schema")]
    pub(crate) scope: Option<String>,
    /// Patterns for the namespace, like `prod-*`.
    pub(crate) namespaces: Option<Vec<String>>,
    /// Labels the object has, all of them; on DELETE those of the old object.
    pub(crate) labels: Option<BTreeMap<String, String>>,
    /// Selects objects by their labels, as they are or as they were.
    pub(crate) object_selector: Option<LabelSelector>,
    /// Selects objects by the labels of their namespace; namespaces by their own. Other objects outside of
    /// namespaces are always selected.
    pub(crate) namespace_selector: Option<LabelSelector>,
    /// Whether requests that the API server converted to another version or resource match.
    pub(crate) match_policy: MatchPolicy,
    /// Patterns for the path of the request, like `/mutate/shop/**`.
    pub(crate) paths: Option<Vec<String>>,
    /// The doors it applies to; by default `kubernetes`.
    #[schemars(schema_with = "doors_schema")]
    pub(crate) doors: Option<Vec<String>>,
}

/// Whether requests match that the API server converted for the rules of a webhook.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(crate) enum MatchPolicy {
    /// What the API server sends counts, converted or not.
    #[default]
    Equivalent,
    /// `resources` and `kinds` must also fit what was asked for originally.
    Exact,
}

/// One of the doors at which policies judge.
fn doors_schema(_: &mut SchemaGenerator) -> Schema {
    let doors = JUDGED_DOORS.map(Door::as_str);
    json_schema!({"type": ["array", "null"], "items": {"type": "string", "enum": doors}})
}

/// One of the scopes of resources.
fn scope_schema(_: &mut SchemaGenerator) -> Schema {
    let mut scopes: Vec<Option<&str>> = SCOPES.map(|(name, _)| Some(name)).to_vec();
    scopes.push(None);
    json_schema!({"type": ["string", "null"], "enum": scopes})
}

/// Which requests a policy is asked about: every key must fit, of a list one entry.
#[derive(Debug, Clone)]
pub struct Matcher {
    doors: Vec<Door>,
    operations: Option<Vec<Operation>>,
    kinds: Option<Vec<KindPattern>>,
    resources: Option<Vec<ResourcePattern>>,
    scope: Option<Scope>,
    namespaces: Option<Vec<Glob>>,
    labels: Option<BTreeMap<String, String>>,
    object_selector: Option<Selector>,
    namespace_selector: Option<Selector>,
    match_policy: MatchPolicy,
    paths: Option<Vec<Glob>>,
}

/// `Pod`, `apps/Deployment`, `apps/v1/Deployment`; `*` stands for any part.
#[derive(Debug, Clone, PartialEq, Eq)]
struct KindPattern {
    group: Option<String>,
    version: Option<String>,
    kind: Option<String>,
}

/// What is wrong with a `match`: the key in it, and why.
pub(crate) type MatchFault = (String, String);

impl Default for Matcher {
    fn default() -> Self {
        Self {
            doors: vec![Door::Kubernetes],
            operations: None,
            kinds: None,
            resources: None,
            scope: None,
            namespaces: None,
            labels: None,
            object_selector: None,
            namespace_selector: None,
            match_policy: MatchPolicy::default(),
            paths: None,
        }
    }
}

impl Matcher {
    /// The rules as they are written, or everything that is wrong with them.
    pub fn new(spec: &MatchSpec) -> Result<Self, Vec<MatchFault>> {
        let mut faults = Vec::new();
        let made = Self {
            doors: match &spec.doors {
                Some(names) => each(names, "doors", &mut faults, door),
                None => vec![Door::Kubernetes],
            },
            operations: spec
                .operations
                .as_ref()
                .map(|names| operations(names, &mut faults)),
            kinds: spec
                .kinds
                .as_ref()
                .map(|kinds| each(kinds, "kinds", &mut faults, kind)),
            resources: spec
                .resources
                .as_ref()
                .map(|all| each(all, "resources", &mut faults, ResourcePattern::parse)),
            scope: spec.scope.as_ref().and_then(|name| {
                let found = Scope::parse(name);
                found
                    .map_err(|message| faults.push(("scope".to_owned(), message)))
                    .ok()
            }),
            namespaces: spec
                .namespaces
                .as_ref()
                .map(|globs| each(globs, "namespaces", &mut faults, glob)),
            labels: spec.labels.clone(),
            object_selector: Selector::read(
                spec.object_selector.as_ref(),
                "objectSelector",
                &mut faults,
            ),
            namespace_selector: Selector::read(
                spec.namespace_selector.as_ref(),
                "namespaceSelector",
                &mut faults,
            ),
            match_policy: spec.match_policy,
            paths: spec
                .paths
                .as_ref()
                .map(|globs| each(globs, "paths", &mut faults, glob)),
        };
        let lists = [
            ("doors", made.doors.is_empty()),
            (
                "operations",
                made.operations.as_ref().is_some_and(Vec::is_empty),
            ),
            ("kinds", spec.kinds.as_ref().is_some_and(Vec::is_empty)),
            (
                "resources",
                spec.resources.as_ref().is_some_and(Vec::is_empty),
            ),
            (
                "namespaces",
                spec.namespaces.as_ref().is_some_and(Vec::is_empty),
            ),
            ("paths", spec.paths.as_ref().is_some_and(Vec::is_empty)),
        ];
        for (key, is_empty) in lists {
            if is_empty && !faults.iter().any(|(at, _)| at.starts_with(key)) {
                let message = "the list is empty, so nothing would ever match";
                faults.push((key.to_owned(), message.to_owned()));
            }
        }
        if faults.is_empty() {
            Ok(made)
        } else {
            Err(faults)
        }
    }

    /// The same, for CI jobs too.
    pub fn also_for_jobs(&mut self) {
        if !self.doors.contains(&Door::Ci) {
            self.doors.push(Door::Ci);
        }
    }

    /// Whether it is for this door.
    pub fn is_for(&self, door: Door) -> bool {
        self.doors.contains(&door)
    }

    /// Whether it depends on the path of the request.
    pub fn looks_at_path(&self) -> bool {
        self.paths.is_some()
    }

    /// Why the policy is not asked about a request; nothing if it is.
    ///
    /// # Errors
    ///
    /// When that depends on the labels of a namespace, and they aren't known.
    pub fn mismatch(
        &self,
        request: &Attributes,
        namespaces: &dyn Namespaces,
    ) -> Result<Option<&'static str>, Unknown> {
        let in_request = self.mismatch_in_request(request);
        if in_request.is_some() || self.selects_namespace(request, namespaces)? {
            return Ok(in_request);
        }
        Ok(Some("labels of the namespace do not match"))
    }

    /// The same, as far as it can be told without looking up a namespace.
    fn mismatch_in_request(&self, request: &Attributes) -> Option<&'static str> {
        if !self.doors.contains(&request.door) {
            return Some("source does not match");
        }
        if self
            .operations
            .as_ref()
            .is_some_and(|all| !all.contains(&request.operation))
        {
            return Some("operation does not match");
        }
        if !self.fits_kind(request) {
            return Some("kind does not match");
        }
        if !self.fits_resource(request) {
            return Some("resource does not match");
        }
        if self.scope.is_some_and(|scope| !scope.matches(request)) {
            return Some("scope does not match");
        }
        let misses = |globs: &Option<Vec<Glob>>, text: &str| {
            globs
                .as_ref()
                .is_some_and(|all| !all.iter().any(|glob| glob.matches(text)))
        };
        if misses(&self.namespaces, &request.namespace) {
            return Some("namespace does not match");
        }
        let path = request.context.uri.split('?').next().unwrap_or_default();
        if misses(&self.paths, path) {
            return Some("path does not match");
        }
        if !self.has_labels(request) || !self.selects_object(request) {
            return Some("labels do not match");
        }
        None
    }

    /// What the API server converted fits exactly if what was asked for originally does, too.
    fn original<'r, T>(&self, original: Option<&'r T>) -> Option<&'r T> {
        original.filter(|_| self.match_policy == MatchPolicy::Exact)
    }

    fn fits_kind(&self, request: &Attributes) -> bool {
        let Some(all) = &self.kinds else {
            return true;
        };
        let fits = |kind: &Kind| all.iter().any(|pattern| pattern.matches(kind));
        let original = self.original(request.context.request_kind.as_ref());
        fits(&request.kind) && original.is_none_or(fits)
    }

    fn fits_resource(&self, request: &Attributes) -> bool {
        let Some(all) = &self.resources else {
            return true;
        };
        let fits = |resource: &Resource, subresource: &str| {
            let mut patterns = all.iter();
            patterns.any(|pattern| pattern.matches(resource, subresource))
        };
        let context = &request.context;
        let original = self.original(context.request_resource.as_ref());
        fits(&request.resource, &request.subresource)
            && original.is_none_or(|original| fits(original, &context.request_subresource))
    }
}

impl KindPattern {
    fn matches(&self, kind: &Kind) -> bool {
        let fits = |wanted: &Option<String>, found: &str| match wanted {
            Some(wanted) => wanted == found,
            None => true,
        };
        fits(&self.group, &kind.group)
            && fits(&self.version, &kind.version)
            && fits(&self.kind, &kind.kind)
    }
}

fn each<T>(
    texts: &[String],
    key: &str,
    faults: &mut Vec<MatchFault>,
    read: impl Fn(&str) -> Result<T, String>,
) -> Vec<T> {
    let mut made = Vec::with_capacity(texts.len());
    for (index, text) in texts.iter().enumerate() {
        match read(text) {
            Ok(one) => made.push(one),
            Err(message) => faults.push((format!("{key}[{index}]"), message)),
        }
    }
    made
}

fn operations(names: &[String], faults: &mut Vec<MatchFault>) -> Vec<Operation> {
    if names.iter().any(|name| name == "*") {
        return Operation::ALL.to_vec();
    }
    each(names, "operations", faults, |name| {
        name.parse().map_err(|_| {
            format!("unknown operation `{name}`: expected CREATE, UPDATE, DELETE or CONNECT")
        })
    })
}

fn door(name: &str) -> Result<Door, String> {
    let mut doors = JUDGED_DOORS.into_iter();
    let known = doors.find(|door| door.as_str() == name);
    known.ok_or_else(|| {
        format!(
            "unknown door `{name}`: expected {}",
            JUDGED_DOORS.map(Door::as_str).join(" or ")
        )
    })
}

fn glob(text: &str) -> Result<Glob, String> {
    if text.is_empty() {
        return Err("the pattern is empty".to_owned());
    }
    Ok(Glob::new(text))
}

fn kind(text: &str) -> Result<KindPattern, String> {
    let part = |text: &str| (text != "*").then(|| text.to_owned());
    let parts: Vec<&str> = text.split('/').collect();
    let pattern = match parts.as_slice() {
        [kind] if !kind.is_empty() => KindPattern {
            group: None,
            version: None,
            kind: part(kind),
        },
        // `v1/Pod`, as manifests have it: the group without a name.
        [version, kind] if is_version(version) && !kind.is_empty() => KindPattern {
            group: Some(String::new()),
            version: Some((*version).to_owned()),
            kind: part(kind),
        },
        [group, kind] if !kind.is_empty() => KindPattern {
            group: part(group),
            version: None,
            kind: part(kind),
        },
        [group, version, kind] if !version.is_empty() && !kind.is_empty() => KindPattern {
            group: part(group),
            version: part(version),
            kind: part(kind),
        },
        _ => {
            return Err(format!(
                "invalid kind `{text}`: expected `Pod`, `apps/Deployment` or `apps/v1/Deployment`"
            ));
        }
    };
    Ok(pattern)
}

fn is_version(text: &str) -> bool {
    let digits = text.strip_prefix('v').unwrap_or_default();
    digits.starts_with(|c: char| c.is_ascii_digit())
}

#[cfg(test)]
mod tests;
