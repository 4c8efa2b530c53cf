//! The scope of a question: a tenant of a configuration, or the root of the API.

use std::path::Path;

use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use portcullis_config::ConfigSource;
use portcullis_document::Source;
use portcullis_gate::access::AccessConfiguration;
use portcullis_roles::{Condition, Parameters, Permission, Project, Scope, Tenant};

use crate::arguments::{Admission, load_options};
use crate::commands::failure::{Failure, remark};
use crate::commands::text::error;
use crate::exit::Exit;

/// Where.
#[derive(Debug, Args)]
#[group(required = true, multiple = false)]
pub(in crate::commands) struct ScopeFlags {
    /// In this tenant.
    #[arg(long, value_name = "TENANT")]
    pub(in crate::commands) tenant: Option<String>,
    /// At the root of the API.
    #[arg(long)]
    pub(in crate::commands) root: bool,
}

pub(in crate::commands) fn actions() -> impl TypedValueParser<Value = Permission> {
    let known = Permission::ALL.iter().map(|permission| {
        let value = PossibleValue::new(permission.name());
        match permission {
            Permission::TenantState => value.alias("set-tenant-state"),
            _ => value,
        }
    });
    PossibleValuesParser::new(known)
        .try_map(|given| Permission::parse(&given).ok_or("no such action"))
}

pub(in crate::commands) fn parameter(text: &str) -> Result<(Condition, String), String> {
    let known = || {
        let names: Vec<&str> = Condition::ALL.iter().map(|c| c.name()).collect();
        names.join(", ")
    };
    let Some((name, value)) = text.split_once('=') else {
        return Err(format!(
            "expected NAME=VALUE, where NAME is one of {}",
            known()
        ));
    };
    match Condition::parse(name.trim()) {
        Some(condition) => Ok((condition, value.to_owned())),
        None => Err(format!(
            "unknown parameter `{}`: expected {}",
            name.trim(),
            known()
        )),
    }
}

/// A configuration and a place in it that is there.
pub(in crate::commands) struct LoadedScope {
    pub(in crate::commands) configuration: AccessConfiguration,
    tenant: Option<String>,
}

/// A place.
pub(in crate::commands) struct ResolvedScope<'a> {
    /// Who may do what there.
    pub(in crate::commands) scope: &'a Scope,
    tenant: Option<&'a Tenant>,
}

/// What a request is about, with the project under both of its names.
pub(in crate::commands) struct GivenParameters<'a> {
    given: &'a [(Condition, String)],
    project: Option<Project>,
}

/// Reads a configuration that contains the scope; prints its warnings.
pub(in crate::commands) fn read(config: &Path, place: &ScopeFlags) -> Result<LoadedScope, Failure> {
    let configuration = configuration(config)?;
    for warning in &configuration.warnings {
        error::warn(warning);
    }
    let tenant = place.tenant.clone();
    if let Some(name) = &tenant {
        is_there(&configuration, name)?;
    }
    Ok(LoadedScope {
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

impl LoadedScope {
    /// The place.
    pub(in crate::commands) fn resolved(&self) -> ResolvedScope<'_> {
        let roles = &self.configuration.roles;
        let tenant = self.tenant.as_deref().and_then(|name| roles.tenant(name));
        ResolvedScope {
            scope: tenant.map_or_else(|| roles.root(), Tenant::scope),
            tenant,
        }
    }
}

impl ResolvedScope<'_> {
    /// The tenant's name.
    pub(in crate::commands) fn tenant(&self) -> Option<&str> {
        self.tenant.map(Tenant::name)
    }

    /// Whether it is allowed without signing in.
    pub(in crate::commands) fn is_read_by_anybody(&self, action: Permission) -> bool {
        action == Permission::Read && self.scope.anonymous_read()
    }

    /// What a request here is about.
    pub(in crate::commands) fn parameters<'a>(
        &self,
        given: &'a [(Condition, String)],
    ) -> Result<GivenParameters<'a>, Failure> {
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
                    "the tenant {} does not have the project {name}: a request about it gets a 404",
                    tenant.name()
                ));
            }
        }
        Ok(GivenParameters { given, project })
    }
}

impl GivenParameters<'_> {
    /// For the engine. Empty is the same as not given, as in requests.
    pub(in crate::commands) fn get(&self) -> Parameters<'_> {
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
pub(in crate::commands) fn tell_unused(action: Permission, given: &[(Condition, String)]) {
    for (condition, _) in given {
        if !action.conditions().contains(condition) {
            remark(&format!("{action} does not depend on {condition}"));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_are_conditions() {
        assert_eq!(
            parameter("project=a=b"),
            Ok((Condition::Project, "a=b".into()))
        );
        assert_eq!(parameter("ref="), Ok((Condition::Ref, String::new())));
        for text in ["project", "projekt=a", "=a", ""] {
            let wrong = parameter(text).unwrap_err();
            assert!(wrong.contains("project, pipeline, ref, change"), "{wrong}");
        }
    }
}
