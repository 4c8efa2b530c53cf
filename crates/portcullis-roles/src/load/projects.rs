//! Reading `projects` and Zuul's `source` of a tenant.

use serde_json::Value;

use super::super::projects::{Projects, Written};
use super::findings::{At, Findings, kind, text_not};

/// What a host of `source` may have.
const KINDS: &[&str] = &["config-projects", "untrusted-projects"];

/// How deep groups of projects may be nested.
const DEEPEST: usize = 8;

/// Reads which projects a tenant holds. `at` is the place of the tenant.
pub(super) fn read(
    projects: Option<&Value>,
    source: Option<&Value>,
    at: &At,
    findings: &mut Findings,
) -> Projects {
    if projects.is_none() && source.is_none() {
        return Projects::all();
    }
    let mut written = Written::default();
    if let Some(value) = projects {
        let at = at.key("projects");
        for (at, text) in findings.texts(value, &at, "a project") {
            add_name(text, &at, findings, &mut written.plain, ToOwned::to_owned);
        }
    }
    if let Some(value) = source {
        let at = at.key("source");
        if let Some(hosts) = findings.map(value, &at, "`source`") {
            for (host, value) in hosts {
                read_host(host, value, &at.key(host), findings, &mut written);
            }
        }
    }
    for name in Projects::ambiguous(&written) {
        let message = format!(
            "the project `{name}` is on several hosts: use its canonical names, like `HOST/{name}`"
        );
        findings.warn(&at.key("source"), message);
    }
    if written.plain.is_empty() && written.hosted.is_empty() {
        findings.warn(at, "the tenant has no projects");
    }
    Projects::of(&written)
}

fn read_host(host: &str, value: &Value, at: &At, findings: &mut Findings, written: &mut Written) {
    let Some(map) = findings.map(value, at, "a host of `source`") else {
        return;
    };
    if host.is_empty() || host.chars().any(char::is_control) {
        findings.fault(
            at,
            "the name of a host must not be empty or contain control characters",
        );
    }
    for (key, value) in map {
        let at = at.key(key);
        if !KINDS.contains(&key.as_str()) {
            let message = format!("unknown key `{key}` of the host `{host}`");
            findings.unknown(
                &at,
                message,
                "known keys of a host",
                key,
                KINDS.iter().copied(),
            );
            continue;
        }
        read_projects(host, value, &at, findings, written, DEEPEST);
    }
}

/// Names, maps from one name to its options, and groups (`projects` beside their options), alone or in
/// a list. The options are not looked at.
fn read_projects(
    host: &str,
    value: &Value,
    at: &At,
    findings: &mut Findings,
    written: &mut Written,
    deeper: usize,
) {
    let Some(deeper) = deeper.checked_sub(1) else {
        findings.fault(at, "the projects are nested too deep");
        return;
    };
    let hosted = |name: &str| (host.to_owned(), name.to_owned());
    match value {
        Value::String(name) => add_name(name, at, findings, &mut written.hosted, hosted),
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                read_projects(host, item, &at.item(index), findings, written, deeper);
            }
        }
        Value::Object(map) => match (map.get("projects"), map.iter().next()) {
            (Some(group), _) => {
                read_projects(host, group, &at.key("projects"), findings, written, deeper);
            }
            (None, Some((name, options))) if map.len() == 1 => {
                let at = at.key(name);
                if !(options.is_object() || options.is_null()) {
                    let wrong = format!("the options of the project `{name}` must be a map, not {}", kind(options));
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
    at: &At,
    findings: &mut Findings,
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
