//! The place that is asked about: a tenant of a configuration, or the root of the API.

use std::path::Path;

use portcullis_config::{ConfigSource, Source};
use portcullis_gate::access::AccessConfiguration;
use portcullis_roles::{Condition, Parameters, Permission, Project, Scope, Tenant};

use super::{Failure, remark};
use crate::cli::{Admission, Place};
use crate::commands::load_options;
use crate::commands::text::error;
use crate::exit::Exit;

/// A configuration and a place in it that is there.
pub(super) struct Read {
    pub(super) configuration: AccessConfiguration,
    tenant: Option<String>,
}

/// A place.
pub(super) struct Spot<'a> {
    /// Who may do what there.
    pub(super) scope: &'a Scope,
    tenant: Option<&'a Tenant>,
}

/// What a request is about, with the project under both of its names.
pub(super) struct About<'a> {
    given: &'a [(Condition, String)],
    project: Option<Project>,
}

/// Reads a configuration in which the place is; what is odd in it is told.
pub(super) fn read(config: &Path, place: &Place) -> Result<Read, Failure> {
    let configuration = configuration(config)?;
    for warning in &configuration.warnings {
        error::warn(warning);
    }
    let tenant = place.tenant.clone();
    if let Some(name) = &tenant {
        is_there(&configuration, name)?;
    }
    Ok(Read {
        configuration,
        tenant,
    })
}

/// Reads what a configuration says about access.
pub(in crate::commands) fn configuration(config: &Path) -> Result<AccessConfiguration, Failure> {
    let registry = portcullis_gate::registry();
    let known = registry.names();
    let admission = Admission::default();
    let options = load_options(ConfigSource::File(config), &admission, &known);
    portcullis_gate::access::load(&options).map_err(|faults| Failure::faults(&faults))
}

fn is_there(configuration: &AccessConfiguration, name: &str) -> Result<(), Failure> {
    let mut left_out = configuration.left_out.iter();
    if let Some(faulty) = left_out.find(|one| one.tenant == name) {
        let message = format!(
            "the tenant {name} is left out because it is invalid:\n{:#}",
            faulty.faults
        );
        return Err(Failure::new(Exit::Invalid, message));
    }
    if configuration.roles.tenant(name).is_some() {
        return Ok(());
    }
    let fault = Source::named("--tenant").fault(None, "", format!("there is no tenant `{name}`"));
    let known: Vec<&str> = configuration.roles.tenants().map(Tenant::name).collect();
    let fault = fault.with_known("known tenants", name, known);
    Err(Failure::new(Exit::Nothing, format!("{fault:#}")))
}

impl Read {
    /// The place.
    pub(super) fn spot(&self) -> Spot<'_> {
        let roles = &self.configuration.roles;
        let tenant = self.tenant.as_deref().and_then(|name| roles.tenant(name));
        Spot {
            scope: tenant.map_or_else(|| roles.root(), Tenant::scope),
            tenant,
        }
    }
}

impl Spot<'_> {
    /// The tenant's name.
    pub(super) fn tenant(&self) -> Option<&str> {
        self.tenant.map(Tenant::name)
    }

    /// Whether anybody may do it without signing in.
    pub(super) fn is_read_by_anybody(&self, action: Permission) -> bool {
        action == Permission::Read && self.scope.anonymous_read()
    }

    /// What a request here is about.
    pub(super) fn parameters<'a>(
        &self,
        given: &'a [(Condition, String)],
    ) -> Result<About<'a>, Failure> {
        for (number, (condition, _)) in given.iter().enumerate() {
            if given.iter().skip(number + 1).any(|(c, _)| c == condition) {
                let message = format!("--param {condition} is given twice");
                return Err(Failure::new(Exit::Usage, message));
            }
        }
        let named = given.iter().find(|(c, _)| *c == Condition::Project);
        let mut project = None;
        if let (Some(tenant), Some((_, name))) = (self.tenant, named) {
            project = tenant.project(name);
            if project.is_none() && !name.is_empty() {
                remark(&format!(
                    "the tenant {} doesn't hold the project {name}: a request about it finds nothing",
                    tenant.name()
                ));
            }
        }
        Ok(About { given, project })
    }
}

impl About<'_> {
    /// For the engine. Empty is the same as not given, as in requests.
    pub(super) fn get(&self) -> Parameters<'_> {
        let given = self.given.iter().filter(|(_, value)| !value.is_empty());
        let all = given.fold(Parameters::new(), |all, (condition, value)| {
            all.with(*condition, Some(value.as_str()))
        });
        match &self.project {
            Some(project) => all.with_project(project),
            None => all,
        }
    }
}

/// Tells of parameters that an action never depends on.
pub(super) fn tell_unused(action: Permission, given: &[(Condition, String)]) {
    for (condition, _) in given {
        if !action.conditions().contains(condition) {
            remark(&format!("{action} never depends on {condition}"));
        }
    }
}
