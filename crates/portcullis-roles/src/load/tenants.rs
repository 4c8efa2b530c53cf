//! Reading `tenant` and `api-root`.

use serde_json::{Map, Value};

use super::super::projects::Projects;
use super::access::{self, Access};
use super::definitions::{Definitions, Used};
use super::findings::{At, Findings};
use super::mapping::Place;
use super::projects;

/// What a tenant may have.
const KEYS: &[&str] = &[
    "name",
    "role-mappings",
    "anonymous-read-access",
    "admin-rules",
    "access-rules",
    "projects",
    "source",
];

/// What Zuul knows of a tenant and is not used here.
const IGNORED: &[&str] = &[
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

/// What `api-root` may have.
const ROOT_KEYS: &[&str] = &["role-mappings", "anonymous-read-access", "access-rules"];

/// What Zuul knows of `api-root` and is not used here.
const ROOT_IGNORED: &[&str] = &["authentication-realm"];

/// A tenant as it is written.
#[derive(Debug)]
pub(super) struct Written {
    /// Its name, if it has a good one.
    pub(super) name: Option<String>,
    pub(super) at: At,
    pub(super) access: Access,
    pub(super) projects: Projects,
}

/// Reads a tenant. It is good if nothing was found.
pub(super) fn read(
    value: &Value,
    at: At,
    definitions: &Definitions,
    used: &mut Used,
    findings: &mut Findings,
) -> Written {
    let mut written = Written {
        name: None,
        at: at.clone(),
        access: Access::open(),
        projects: Projects::default(),
    };
    let Some(map) = findings.map(value, &at, "a tenant") else {
        return written;
    };
    let name = findings.name(map, &at, "tenant").filter(|name| {
        let good = !name.contains('/');
        if !good {
            let message = format!("the name of the tenant `{name}` must not contain `/`");
            findings.fault(&at.key("name"), message);
        }
        good
    });
    let place = Place {
        whose: match name {
            Some(name) => format!("tenant `{name}`"),
            None => "tenant without a name".to_owned(),
        },
        is_root: false,
        at,
    };
    check_keys(map, &place, KEYS, IGNORED, findings);
    written.name = name.map(str::to_owned);
    written.access = access::read(map, &place, definitions, used, findings);
    written.projects = projects::read(map.get("projects"), map.get("source"), &place.at, findings);
    written
}

/// Reads `api-root`.
pub(super) fn read_root(
    value: &Value,
    at: At,
    definitions: &Definitions,
    used: &mut Used,
    findings: &mut Findings,
) -> Access {
    let Some(map) = findings.map(value, &at, "`api-root`") else {
        return Access::open();
    };
    let place = Place {
        whose: "`api-root`".to_owned(),
        is_root: true,
        at,
    };
    check_keys(map, &place, ROOT_KEYS, ROOT_IGNORED, findings);
    access::read(map, &place, definitions, used, findings)
}

fn check_keys(
    map: &Map<String, Value>,
    place: &Place,
    known: &[&str],
    ignored: &[&str],
    findings: &mut Findings,
) {
    for key in map.keys() {
        let at = place.at.key(key);
        if ignored.contains(&key.as_str()) {
            findings.warn(&at, format!("{}: `{key}` is ignored", place.whose));
        } else if !known.contains(&key.as_str()) {
            let message = format!("{}: unknown key `{key}`", place.whose);
            findings.unknown(&at, message, "known keys", key, known.iter().copied());
        }
    }
}
