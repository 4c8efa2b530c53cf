//! The rules and roles of a document, by name.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use portcullis_document::{Node, path};

use super::super::role::{ADMIN, READ, Role};
use super::super::rule::Rule;
use super::findings::Findings;
use super::spec::{RoleSpec, RuleSpec};
use super::{roles, rules};

/// Everything that is defined.
#[derive(Debug)]
pub(super) struct Definitions {
    pub(super) rules: Names<Rule>,
    pub(super) roles: Names<Arc<Role>>,
}

/// Definitions of one kind.
#[derive(Debug)]
pub(super) struct Names<T> {
    what: &'static str,
    defined: BTreeMap<String, Defined<T>>,
}

#[derive(Debug)]
struct Defined<T> {
    /// Nothing for what is built in.
    at: Option<String>,
    /// Nothing for what is faulty.
    made: Option<T>,
}

/// The names that tenants and the root of the API use.
#[derive(Debug, Default)]
pub(super) struct Used {
    pub(super) rules: BTreeSet<String>,
    pub(super) roles: BTreeSet<String>,
}

impl Definitions {
    /// What is built in.
    pub(super) fn new() -> Self {
        let mut roles = Names::new("role");
        for (name, role) in [(ADMIN, Role::admin()), (READ, Role::read())] {
            roles.define(name, None, Some(Arc::new(role)));
        }
        Self {
            rules: Names::new("rule"),
            roles,
        }
    }

    /// Adds a rule.
    pub(super) fn add_rule(&mut self, node: &Node, at: String, findings: &mut Findings<'_>) {
        let faults = findings.faults.len();
        let name = findings.name(node, &at, "rule");
        let spec = findings.typed::<RuleSpec>(node, &at, &whose("rule", name));
        let rule = spec.and_then(|spec| rules::read(&spec, &at, findings));
        let rule = rule.filter(|_| findings.faults.len() == faults);
        self.rules.add(name, at, rule, findings);
    }

    /// Adds a role.
    pub(super) fn add_role(&mut self, node: &Node, at: String, findings: &mut Findings<'_>) {
        let faults = findings.faults.len();
        let name = findings.name(node, &at, "role");
        let spec = findings.typed::<RoleSpec>(node, &at, &whose("role", name));
        let role = spec.and_then(|spec| roles::read(&spec, &at, findings));
        let role = role.filter(|_| findings.faults.len() == faults);
        self.roles.add(name, at, role.map(Arc::new), findings);
    }

    /// Warns of unused rules and roles.
    pub(super) fn warn_unused(&self, used: &Used, findings: &mut Findings<'_>) {
        self.rules.warn_unused(&used.rules, findings);
        self.roles.warn_unused(&used.roles, findings);
    }
}

/// How messages call a rule or a role.
fn whose(what: &str, name: Option<&str>) -> String {
    match name {
        Some(name) => format!("{what} `{name}`"),
        None => format!("{what} without a name"),
    }
}

impl<T> Names<T> {
    fn new(what: &'static str) -> Self {
        Self {
            what,
            defined: BTreeMap::new(),
        }
    }

    fn define(&mut self, name: &str, at: Option<String>, made: Option<T>) {
        self.defined.insert(name.to_owned(), Defined { at, made });
    }

    fn add(
        &mut self,
        name: Option<&str>,
        at: String,
        made: Option<T>,
        findings: &mut Findings<'_>,
    ) {
        let Some(name) = name else {
            return;
        };
        match self.defined.get(name) {
            // The name of a built-in is a fault that was found already.
            Some(Defined { at: None, .. }) => {}
            Some(Defined {
                at: Some(first), ..
            }) => {
                let message = format!(
                    "the {} `{name}` is defined twice, first at `{first}`",
                    self.what
                );
                findings.fault(&path::key(&at, "name"), message);
            }
            None => self.define(name, Some(at), made),
        }
    }

    /// Whether something is defined, be it faulty.
    pub(super) fn has(&self, name: &str) -> bool {
        self.defined.contains_key(name)
    }

    /// What was made of a definition.
    pub(super) fn get(&self, name: &str) -> Option<&T> {
        self.defined.get(name)?.made.as_ref()
    }

    /// The names.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.defined.keys().map(String::as_str)
    }

    fn warn_unused(&self, used: &BTreeSet<String>, findings: &mut Findings<'_>) {
        for (name, defined) in &self.defined {
            if let Some(at) = &defined.at
                && !used.contains(name)
            {
                findings.warn(at, format!("the {} `{name}` is never mapped", self.what));
            }
        }
    }
}
