//! Reading `tenant` and `api-root`.

use portcullis_document::{Node, Value, path};

use super::super::projects::Projects;
use super::access::{self, Access, AccessSpec, Place};
use super::definitions::{Definitions, Used};
use super::findings::Findings;
use super::projects;
use super::spec::{IGNORED, ROOT_IGNORED, RootSpec, TenantSpec};

/// A tenant as it is written.
#[derive(Debug)]
pub(super) struct Written {
    /// Its name, if it has a good one.
    pub(super) name: Option<String>,
    pub(super) at: String,
    pub(super) access: Access,
    pub(super) projects: Projects,
}

/// Reads a tenant. It is good if nothing was found.
pub(super) fn read(
    node: &Node,
    at: String,
    definitions: &Definitions,
    used: &mut Used,
    findings: &mut Findings<'_>,
) -> Written {
    let name = findings.name(node, &at, "tenant").filter(|name| {
        let good = !name.contains('/');
        if !good {
            let message = format!("the name of the tenant `{name}` must not contain `/`");
            findings.fault(&path::key(&at, "name"), message);
        }
        good
    });
    let place = Place {
        whose: match name {
            Some(name) => format!("tenant `{name}`"),
            None => "tenant without a name".to_owned(),
        },
        is_root: false,
        at: at.clone(),
    };
    let mut written = Written {
        name: name.map(str::to_owned),
        at,
        access: Access::open(),
        projects: Projects::default(),
    };
    let node = findings.without(node, IGNORED, &place.at, &place.whose);
    if let Some(spec) = findings.typed::<TenantSpec>(&node, &place.at, &place.whose) {
        let access = AccessSpec {
            role_mappings: spec.role_mappings,
            anonymous_read_access: spec.anonymous_read_access,
            admin_rules: spec.admin_rules,
            access_rules: spec.access_rules,
        };
        written.access = access::read(&access, &place, definitions, used, findings);
        written.projects = projects::read(
            spec.projects.as_ref(),
            spec.source.as_ref(),
            &place.at,
            findings,
        );
    }
    name_tenant(&node, &mut findings.faults);
    written
}

/// Every fault of a tenant names it.
fn name_tenant(node: &Node, faults: &mut [portcullis_document::Fault]) {
    let Some(Value::Str(name)) = node.get("name").map(|name| &name.value) else {
        return;
    };
    let tenant = format!("tenant `{name}`");
    for fault in faults.iter_mut().filter(|_| !name.is_empty()) {
        if !fault.message.contains(&tenant) {
            fault.message = format!("{tenant}: {}", fault.message);
        }
    }
}

/// Reads `api-root`.
pub(super) fn read_root(
    node: &Node,
    at: String,
    definitions: &Definitions,
    used: &mut Used,
    findings: &mut Findings<'_>,
) -> Access {
    let place = Place {
        whose: "`api-root`".to_owned(),
        is_root: true,
        at,
    };
    let node = findings.without(node, ROOT_IGNORED, &place.at, &place.whose);
    let Some(spec) = findings.typed::<RootSpec>(&node, &place.at, &place.whose) else {
        return Access::open();
    };
    let access = AccessSpec {
        role_mappings: spec.role_mappings,
        anonymous_read_access: spec.anonymous_read_access,
        admin_rules: None,
        access_rules: spec.access_rules,
    };
    access::read(&access, &place, definitions, used, findings)
}
