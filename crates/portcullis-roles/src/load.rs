//! From the tenants document to roles.
//!
//! Rules and roles are read first, wherever they are, then the root of the API and the tenants, which
//! use them. Nothing is made before everything was read, and all faults are reported at once.

mod access;
mod definitions;
mod findings;
mod items;
mod mapping;
mod projects;
mod reach;
mod roles;
mod rules;
mod spec;
mod tenants;

use std::collections::BTreeMap;
use std::sync::Arc;

use portcullis_document::{Document, Fault, Faults, path};

use self::access::Access;
use self::definitions::{Definitions, Used};
use self::findings::Findings;
use self::items::Items;
use super::tenant::{Roles, Tenant};

/// What a document became.
#[derive(Debug)]
pub struct Load {
    /// The roles.
    pub roles: Roles,
    /// Tenants that are faulty: left out, or with their previous configuration.
    pub left_out: Vec<LeftOut>,
    /// What is odd but not wrong.
    pub warnings: Vec<Fault>,
}

/// A faulty tenant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeftOut {
    /// Its name, if it has one.
    pub tenant: String,
    /// Whether its previous configuration stays in force.
    pub keeps_previous: bool,
    /// What is wrong with it.
    pub faults: Faults,
}

impl LeftOut {
    /// What happens to it, and why, on one line.
    pub fn text(&self) -> String {
        let fate = match self.keeps_previous {
            true => "keeps its previous configuration",
            false => "is left out",
        };
        let faults = self.faults.on_one_line();
        format!("the tenant `{}` {fate}: {faults}", self.tenant)
    }
}

impl Roles {
    /// Makes roles of a document. A tenant that is faulty keeps what it had in `previous`, or is left
    /// out.
    ///
    /// # Errors
    ///
    /// When anything but a tenant is faulty: then nothing is made. Faults of tenants are listed too.
    pub fn load(document: &Document, previous: Option<&Self>) -> Result<Load, Faults> {
        let mut findings = Findings::new(document);
        let mut items = Items::default();
        items.read(&document.root, &mut findings);
        let mut definitions = Definitions::new();
        for (at, value) in items.rules {
            definitions.add_rule(value, at, &mut findings);
        }
        for (at, value) in items.roles {
            definitions.add_role(value, at, &mut findings);
        }
        let mut used = Used::default();
        let root = match items.root {
            Some((at, value)) => {
                tenants::read_root(value, at, &definitions, &mut used, &mut findings)
            }
            None => Access::open(),
        };
        let mut written = Vec::new();
        for (at, value) in items.tenants {
            let mut own = findings.apart();
            let tenant = tenants::read(value, at, &definitions, &mut used, &mut own);
            findings.warnings.append(&mut own.warnings);
            written.push((tenant, own.faults));
        }
        refuse_doubles(&written, &mut findings);
        if !findings.faults.is_empty() {
            let of_tenants = written.into_iter().flat_map(|(_, faults)| faults);
            findings.faults.extend(of_tenants);
            return Err(Faults(findings.faults));
        }
        definitions.warn_unused(&used, &mut findings);
        let mut left_out = Vec::new();
        let mut made = BTreeMap::new();
        for (tenant, faults) in written {
            let name = tenant.name.clone().unwrap_or_default();
            if faults.is_empty() {
                let scope = tenant.access.scope(Some(&name), &definitions);
                let tenant = Tenant::new(&name, scope, tenant.projects);
                made.insert(name, Arc::new(tenant));
                continue;
            }
            let kept = previous.and_then(|roles| roles.tenants.get(&name));
            left_out.push(LeftOut {
                tenant: name.clone(),
                keeps_previous: kept.is_some(),
                faults: Faults(faults),
            });
            if let Some(kept) = kept {
                made.insert(name, Arc::clone(kept));
            }
        }
        Ok(Load {
            roles: Self {
                tenants: made,
                root: Arc::new(root.scope(None, &definitions)),
            },
            left_out,
            warnings: findings.warnings,
        })
    }
}

/// A tenant that is there twice is a fault of the file: neither can be trusted to be meant.
fn refuse_doubles(written: &[(tenants::Written, Vec<Fault>)], findings: &mut Findings<'_>) {
    let mut places: BTreeMap<&str, &String> = BTreeMap::new();
    for (tenant, _) in written {
        let Some(name) = &tenant.name else {
            continue;
        };
        match places.get(name.as_str()) {
            None => {
                places.insert(name, &tenant.at);
            }
            Some(first) => {
                let message = format!("the tenant `{name}` is defined twice, first at `{first}`");
                findings.fault(&path::key(&tenant.at, "name"), message);
            }
        }
    }
}
