//! Tenants.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::projects::{Project, Projects};
use super::scope::Scope;

/// Everything about roles, made from one document.
#[derive(Debug, Clone)]
pub struct Roles {
    pub(super) tenants: BTreeMap<String, Arc<Tenant>>,
    pub(super) root: Arc<Scope>,
}

/// A tenant.
#[derive(Debug)]
pub struct Tenant {
    name: String,
    scope: Scope,
    projects: Projects,
}

impl Roles {
    /// One tenant `default` that holds every project; anyone may read, no one has a role.
    pub fn without_document() -> Self {
        let name = "default";
        let scope = Scope::new(Some(name), true, Vec::new());
        let tenant = Tenant::new(name, scope, Projects::all());
        Self {
            tenants: BTreeMap::from([(name.to_owned(), Arc::new(tenant))]),
            root: Arc::new(Scope::new(None, true, Vec::new())),
        }
    }

    /// The tenants, sorted by name.
    pub fn tenants(&self) -> impl Iterator<Item = &Tenant> {
        self.tenants.values().map(AsRef::as_ref)
    }

    /// The tenant of this name.
    pub fn tenant(&self, name: &str) -> Option<&Tenant> {
        self.tenants.get(name).map(AsRef::as_ref)
    }

    /// The root of the API.
    pub fn root(&self) -> &Scope {
        &self.root
    }
}

impl Tenant {
    pub(super) fn new(name: &str, scope: Scope, projects: Projects) -> Self {
        Self {
            name: name.to_owned(),
            scope,
            projects,
        }
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Who may do what in it.
    pub fn scope(&self) -> &Scope {
        &self.scope
    }

    /// The project of this name or canonical name, if the tenant holds it.
    pub fn project(&self, named: &str) -> Option<Project> {
        self.projects.find(named)
    }

    /// Whether it holds every project of a group, whatever they are called.
    pub fn holds_group(&self, group: &str) -> bool {
        self.projects.has_group(group)
    }

    /// Whether it holds projects by pattern, or all.
    pub fn holds_by_pattern(&self) -> bool {
        self.projects.has_patterns()
    }

    /// The projects it holds by name, those of `source` first, otherwise in the order of the document;
    /// those held by pattern are not known.
    pub fn projects(&self) -> Vec<Project> {
        self.projects.named().to_vec()
    }
}
