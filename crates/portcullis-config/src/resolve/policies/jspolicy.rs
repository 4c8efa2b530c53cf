//! Policies of jsPolicy: files with `kind: JsPolicy`.
//!
//! What has no counterpart is a fault where it says when or how the policy decides, and named in a warning otherwise.

use std::sync::Arc;

use portcullis_core::PolicyMode;
use portcullis_js::PolicyCode;
use serde::Deserialize;
use serde_json::Value;

use super::{matcher, scripts::Scripts};
use crate::model::Written;
use crate::{
    matcher::{LabelSelector, MatchPolicy, MatchSpec},
    model::{About, Policy},
    notes::Notes,
};
use portcullis_document::{Document, Source, read, yaml};

/// The API group of jsPolicy's files.
const GROUP: &str = "policy.jspolicy.com/";
const KIND: &str = "JsPolicy";

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Manifest {
    #[serde(default)]
    metadata: ObjectMeta,
    #[serde(default)]
    spec: Spec,
}

#[derive(Debug, Default, Deserialize)]
struct ObjectMeta {
    #[serde(default)]
    name: String,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
struct Spec {
    operations: Option<Vec<String>>,
    resources: Option<Vec<String>>,
    api_groups: Option<Vec<String>>,
    api_versions: Option<Vec<String>>,
    scope: Option<String>,
    object_selector: Option<LabelSelector>,
    namespace_selector: Option<LabelSelector>,
    match_policy: MatchPolicy,
    violation_policy: Option<String>,
    #[serde(rename = "type")]
    kind: Option<String>,
    dependencies: Option<Value>,
    javascript: Option<String>,
    // What says how the API server calls jsPolicy, or what jsPolicy logs.
    failure_policy: Option<FailurePolicy>,
    reinvocation_policy: Option<ReinvocationPolicy>,
    timeout_seconds: Option<u32>,
    audit_policy: Option<AuditPolicy>,
    audit_log_size: Option<u32>,
}

/// What follows if the API server can't reach jsPolicy.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
enum FailurePolicy {
    Fail,
    Ignore,
}

/// Whether a policy is asked again after other webhooks changed the object.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
enum ReinvocationPolicy {
    Never,
    IfNeeded,
}

/// Whether violations are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
enum AuditPolicy {
    Log,
    Skip,
}

/// Whether a file is one of jsPolicy's.
pub(super) fn is_jspolicy(source: &Source) -> bool {
    source.text().lines().any(|line| {
        let value = line.strip_prefix("apiVersion:").map(str::trim_start);
        value.is_some_and(|value| value.trim_start_matches(['"', '\'']).starts_with(GROUP))
    })
}

/// The policies of such a file, one for each document.
pub(super) fn policies(
    source: &Arc<Source>,
    scripts: &mut Scripts,
    notes: &mut Notes,
) -> Vec<Policy> {
    let mut found = Vec::new();
    for part in parts(source) {
        let Some(document) = notes.keep(yaml::parse_map(&part)) else {
            continue;
        };
        let text = |key: &str| match &document.root.nearest(key).to_json() {
            Value::String(text) => text.clone(),
            _ => String::new(),
        };
        if text("kind") != KIND || !text("apiVersion").starts_with(GROUP) {
            let message = format!("expected `kind: {KIND}` of `apiVersion: {GROUP}v1beta1`");
            notes.fault(document.fault("kind", message));
            continue;
        }
        if let Some(manifest) = notes.keep(read::typed::<Manifest>(&part, &document.root)) {
            found.extend(policy(&document, manifest, scripts, notes));
        }
    }
    found
}

/// The documents of a file, each at its own lines.
fn parts(source: &Arc<Source>) -> Vec<Arc<Source>> {
    let mut parts = Vec::new();
    let (mut text, mut lines) = (String::new(), 0);
    for line in source.text().split_inclusive('\n') {
        if line.trim_end() == "---" || line.starts_with("--- ") {
            parts.push(std::mem::replace(&mut text, "\n".repeat(lines + 1)));
        } else {
            text.push_str(line);
        }
        lines += 1;
    }
    parts.push(text);
    let is_blank = |part: &String| {
        let mut lines = part.lines().map(str::trim_start);
        lines.all(|line| line.is_empty() || line.starts_with('#'))
    };
    let source = |text: String| match source.path() {
        Some(path) => Source::file(path, text),
        None => Source::text_named(source.label(), text),
    };
    parts.retain(|part| !is_blank(part));
    parts.into_iter().map(source).collect()
}

fn policy(
    document: &Document,
    Manifest { metadata, spec }: Manifest,
    scripts: &mut Scripts,
    notes: &mut Notes,
) -> Option<Policy> {
    let name = metadata.name;
    let mut fault = |at: &str, message: &str| notes.fault(document.fault(at, message));
    if name.is_empty() {
        fault("metadata", "the key `name` is missing");
    }
    for (key, is_missing) in [
        ("operations", spec.operations.is_none()),
        ("resources", spec.resources.is_none()),
    ] {
        if is_missing {
            fault("spec", &format!("the key `{key}` is missing"));
        }
    }
    match spec.kind.as_deref() {
        None | Some("Validating" | "Mutating") => {}
        Some("Controller") => fault("spec.type", "controller policies are not supported"),
        Some(other) => fault(
            "spec.type",
            &format!("unknown type `{other}`: expected Validating or Mutating"),
        ),
    }
    let mode = match spec.violation_policy.as_deref() {
        None | Some("Deny") => PolicyMode::Enforce,
        Some("Warn") => PolicyMode::Warn,
        Some("Dry") => PolicyMode::DryRun,
        Some(other) => {
            let message = format!("unknown value `{other}`: expected Deny, Warn or Dry");
            fault("spec.violationPolicy", &message);
            PolicyMode::Enforce
        }
    };
    if spec.dependencies.as_ref().is_some_and(|all| !is_empty(all)) {
        let message = "npm packages are not supported: bundle them into `javascript`";
        fault("spec.dependencies", message);
    }
    let Some(code) = spec
        .javascript
        .clone()
        .filter(|code| !code.trim().is_empty())
    else {
        let message =
            "the key `javascript` is missing; policies of a JsPolicyBundle are not supported";
        fault("spec", message);
        return None;
    };
    warn_of_the_rest(document, &name, &spec, notes);
    let place = document.root.nearest("spec.javascript").position;
    let written = format!("{}:{}", document.source.label(), place.line);
    let text = Source::part_of(format!("policy `{name}`"), code, written);
    let rules = |path: &str, message: String| {
        let path = path.strip_prefix("match.").unwrap_or(path);
        let path = if path.starts_with("resources") {
            "resources"
        } else {
            path
        };
        document.fault(&format!("spec.{path}"), message)
    };
    let matcher = matcher(&match_of(&spec), rules, notes)?;
    let code = match scripts.inline(&text, notes)? {
        PolicyCode::Body(code) | PolicyCode::JsPolicy(code) => PolicyCode::JsPolicy(code),
        PolicyCode::Module(_) => {
            let message = "expected statements, found a module: remove `export`";
            notes.fault(text.fault(None, "", message));
            return None;
        }
    };
    Some(Policy {
        name,
        matcher,
        mode,
        code,
        text,
        about: About::default(),
        written: Written::code_at(
            &document.source,
            document.root.nearest("spec.javascript").position,
            document.root.nearest("spec"),
        ),
    })
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Object(members) => members.is_empty(),
        _ => false,
    }
}

/// Warns of what is decided elsewhere here, if it is not what happens anyway.
fn warn_of_the_rest(document: &Document, name: &str, spec: &Spec, notes: &mut Notes) {
    let registration = "set it in the registration of the webhook";
    let log = "the decision log has every decision, and `decisions` says for how long";
    let ignored = [
        (
            "failurePolicy",
            spec.failure_policy == Some(FailurePolicy::Ignore),
            registration,
        ),
        (
            "reinvocationPolicy",
            spec.reinvocation_policy == Some(ReinvocationPolicy::IfNeeded),
            registration,
        ),
        (
            "timeoutSeconds",
            spec.timeout_seconds.is_some(),
            "`limits.deadline` is for all policies of a request together",
        ),
        (
            "auditPolicy",
            spec.audit_policy == Some(AuditPolicy::Skip),
            log,
        ),
        ("auditLogSize", spec.audit_log_size.is_some(), log),
    ];
    for (key, is_ignored, instead) in ignored {
        if is_ignored {
            let message = format!("policy `{name}`: ignored: {instead}");
            notes.warn(document.fault(&format!("spec.{key}"), message));
        }
    }
}

/// The rules of the webhook that jsPolicy would register.
fn match_of(spec: &Spec) -> MatchSpec {
    let star = || vec!["*".to_owned()];
    let groups = spec.api_groups.clone().unwrap_or_else(star);
    let versions = spec.api_versions.clone().unwrap_or_else(star);
    let mut resources = Vec::new();
    for named in spec.resources.iter().flatten() {
        for group in &groups {
            for version in &versions {
                let (resource, subresource) = match named.split_once('/') {
                    Some((resource, subresource)) => (resource, format!("/{subresource}")),
                    None => (named.as_str(), String::new()),
                };
                resources.push(match version.as_str() {
                    "*" if group == "*" => named.clone(),
                    "*" => format!("{resource}.{group}{subresource}"),
                    version => format!("{resource}.{version}.{group}{subresource}"),
                });
            }
        }
    }
    MatchSpec {
        operations: spec.operations.clone(),
        resources: spec.resources.as_ref().map(|_| resources),
        scope: spec.scope.clone().filter(|scope| scope != "*"),
        object_selector: spec.object_selector.clone(),
        namespace_selector: spec.namespace_selector.clone(),
        match_policy: spec.match_policy,
        ..MatchSpec::default()
    }
}
