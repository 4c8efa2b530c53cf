//! Reading `projects` and Zuul's `source` of a tenant.

use std::collections::BTreeMap;

use portcullis_document::{Node, Value, path};

use super::super::projects::{ProjectList, Projects};
use super::findings::{Findings, text_not};
use super::spec::{HostSpec, Texts};

/// How deep groups of projects may be nested.
const DEEPEST: usize = 8;

/// Reads which projects a tenant holds. `at` is the path of the tenant.
pub(super) fn read(
    projects: Option<&Texts>,
    source: Option<&BTreeMap<String, HostSpec>>,
    at: &str,
    findings: &mut Findings<'_>,
) -> Projects {
    if projects.is_none() && source.is_none() {
        return Projects::all();
    }
    let mut written = ProjectList::default();
    if let Some(texts) = projects {
        for (at, text) in texts.iter(&path::key(at, "projects")) {
            add_name(text, &at, findings, &mut written.plain, ToOwned::to_owned);
        }
    }
    let at_source = path::key(at, "source");
    for (host, spec) in source.into_iter().flatten() {
        read_host(
            host,
            spec,
            &path::key(&at_source, host),
            findings,
            &mut written,
        );
    }
    for name in Projects::ambiguous(&written) {
        let message = format!(
            "the project `{name}` is on several hosts: use its canonical names, like `HOST/{name}`"
        );
        findings.warn(&at_source, message);
    }
    if written.plain.is_empty() && written.hosted.is_empty() {
        findings.warn(at, "the tenant has no projects");
    }
    Projects::of(&written)
}

fn read_host(
    host: &str,
    spec: &HostSpec,
    at: &str,
    findings: &mut Findings<'_>,
    written: &mut ProjectList,
) {
    if host.is_empty() || host.chars().any(char::is_control) {
        findings.fault(
            at,
            "the name of a host must not be empty or contain control characters",
        );
    }
    for (key, node) in [
        ("config-projects", &spec.config_projects),
        ("untrusted-projects", &spec.untrusted_projects),
    ] {
        if let Some(node) = node {
            read_projects(host, node, &path::key(at, key), findings, written, DEEPEST);
        }
    }
}

/// Names, maps from one name to its options, and groups (`projects` beside their options), alone or in
/// a list. The options are not looked at.
fn read_projects(
    host: &str,
    node: &Node,
    at: &str,
    findings: &mut Findings<'_>,
    written: &mut ProjectList,
    deeper: usize,
) {
    let Some(deeper) = deeper.checked_sub(1) else {
        findings.fault(at, "the projects are nested too deep");
        return;
    };
    let hosted = |name: &str| (host.to_owned(), name.to_owned());
    match &node.value {
        Value::Str(name) => add_name(name, at, findings, &mut written.hosted, hosted),
        Value::Seq(items) => {
            for (index, item) in items.iter().enumerate() {
                let at = path::index(at, index);
                read_projects(host, item, &at, findings, written, deeper);
            }
        }
        Value::Map(entries) => match (node.get("projects"), entries.as_slice()) {
            (Some(group), _) => {
                let at = path::key(at, "projects");
                read_projects(host, group, &at, findings, written, deeper);
            }
            (None, [(name, options)]) => {
                let at = path::key(at, name);
                if !matches!(options.value, Value::Map(_) | Value::Null) {
                    let found = options.kind();
                    let wrong =
                        format!("the options of the project `{}` must be a map, not {found}", name.value);
                    findings.fault(&at, wrong);
                }
                add_name(name, &at, findings, &mut written.hosted, hosted);
            }
            _ => findings.fault(
                at,
                "a project is written as its name, as a map from its name to its options, or in a group with `projects`",
            ),
        },
        other => findings.fault(at, format!("a project must be {}", text_not(other))),
    }
}

fn add_name<T>(
    name: &str,
    at: &str,
    findings: &mut Findings<'_>,
    list: &mut Vec<T>,
    make: impl Fn(&str) -> T,
) {
    if name.is_empty() || name.chars().any(char::is_control) {
        findings.fault(
            at,
            "the name of a project must not be empty or contain control characters",
        );
    } else {
        list.push(make(name));
    }
}
