//! The plug-in's own configuration: `PodSecurityConfiguration`.
//!
//! Versions `v1`, `v1beta1` and `v1alpha1` of
//! `pod-security.admission.config.k8s.io` are alike. Unknown keys are errors;
//! all faults are reported at once, in Kubernetes' words.

use std::collections::BTreeSet;

use portcullis_document::{Fault, read};
use serde::Deserialize;
use serde_json::Value;

use crate::object::Object;

use super::{
    field_error::FieldError,
    level::{LevelVersion, Policy},
};

mod names;

#[cfg(test)]
mod tests;

/// Defaults for namespaces without labels, and who is let through unseen.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct PodSecurityConfiguration {
    /// The policy where labels say nothing.
    pub defaults: Policy,
    /// Requests that are not looked at.
    pub exemptions: Exemptions,
}

/// Requests that are not looked at.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Exemptions {
    /// Users by name.
    pub usernames: BTreeSet<String>,
    /// Namespaces by name.
    pub namespaces: BTreeSet<String>,
    /// Runtime classes by name.
    pub runtime_classes: BTreeSet<String>,
}

impl Exemptions {
    /// Whether what this user asks for is exempt.
    #[must_use]
    pub(crate) fn has_user(&self, name: &str) -> bool {
        self.usernames.contains(name)
    }

    /// Whether what is in this namespace is exempt.
    #[must_use]
    pub(crate) fn has_namespace(&self, name: &str) -> bool {
        self.namespaces.contains(name)
    }

    /// Whether pods of this runtime class are exempt.
    #[must_use]
    pub(crate) fn has_runtime_class(&self, name: &str) -> bool {
        self.runtime_classes.contains(name)
    }
}

const GROUP: &str = "pod-security.admission.config.k8s.io";

impl PodSecurityConfiguration {
    /// Reads and checks a configuration.
    ///
    /// # Errors
    ///
    /// When it is of another kind, has unknown keys or values of a wrong type,
    /// or names unknown levels and versions, bad names, or one name twice.
    pub(crate) fn from_value(value: &Value) -> Result<Self, Vec<Fault>> {
        let raw: Raw = read::json(value)?;
        raw.check_kind()?;

        let mut errors = Vec::new();
        let defaults = raw.defaults.unwrap_or_default().0.policy(&mut errors);
        let exemptions = raw.exemptions.unwrap_or_default().0.check(&mut errors);
        if errors.is_empty() {
            Ok(Self {
                defaults,
                exemptions,
            })
        } else {
            let fault = |e: &FieldError| Fault::at(e.field.clone(), e.body());
            Err(errors.iter().map(fault).collect())
        }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase", expecting = "an object")]
struct Raw {
    api_version: Option<String>,
    kind: Option<String>,
    defaults: Option<Object<RawDefaults>>,
    exemptions: Option<Object<RawExemptions>>,
}

impl Raw {
    fn check_kind(&self) -> Result<(), Vec<Fault>> {
        let kind = self.kind.as_deref().unwrap_or_default();
        let api_version = self.api_version.as_deref().unwrap_or_default();
        let is_known = matches!(
            api_version.split_once('/'),
            Some((GROUP, "v1" | "v1beta1" | "v1alpha1"))
        );
        if kind == "PodSecurityConfiguration" && is_known {
            return Ok(());
        }
        let message = format!(
            "expected `PodSecurityConfiguration` of `{GROUP}/v1`, found `{kind}` of `{api_version}`"
        );
        Err(vec![Fault::at("kind", message)])
    }
}

#[derive(Default, Deserialize)]
#[serde(
    deny_unknown_fields,
    rename_all = "kebab-case",
    expecting = "an object"
)]
struct RawDefaults {
    enforce: Option<String>,
    enforce_version: Option<String>,
    audit: Option<String>,
    audit_version: Option<String>,
    warn: Option<String>,
    warn_version: Option<String>,
}

impl RawDefaults {
    fn policy(&self, errors: &mut Vec<FieldError>) -> Policy {
        let mut mode = |name: &str, level: Option<&String>, version: Option<&String>| {
            let LevelVersion {
                level: privileged,
                version: latest,
            } = LevelVersion::PRIVILEGED;
            LevelVersion {
                level: parsed(name, level, privileged, errors),
                version: parsed(&format!("{name}-version"), version, latest, errors),
            }
        };
        // In the order in which upstream reports faults.
        let enforce = mode(
            "enforce",
            self.enforce.as_ref(),
            self.enforce_version.as_ref(),
        );
        let warn = mode("warn", self.warn.as_ref(), self.warn_version.as_ref());
        let audit = mode("audit", self.audit.as_ref(), self.audit_version.as_ref());
        Policy {
            enforce,
            audit,
            warn,
        }
    }
}

/// A value, or the default when absent or empty.
fn parsed<T>(key: &str, word: Option<&String>, default: T, errors: &mut Vec<FieldError>) -> T
where
    T: std::str::FromStr<Err: std::fmt::Display>,
{
    let Some(word) = word.filter(|word| !word.is_empty()) else {
        return default;
    };
    word.parse().unwrap_or_else(|error| {
        errors.push(FieldError::invalid(format!("defaults.{key}"), word, error));
        default
    })
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase", expecting = "an object")]
struct RawExemptions {
    usernames: Option<Vec<String>>,
    namespaces: Option<Vec<String>>,
    runtime_classes: Option<Vec<String>>,
}

impl RawExemptions {
    fn check(self, errors: &mut Vec<FieldError>) -> Exemptions {
        let namespaces = distinct("namespaces", self.namespaces, names::label_fault, errors);
        let runtime_classes = distinct(
            "runtimeClasses",
            self.runtime_classes,
            names::subdomain_fault,
            errors,
        );
        let usernames = distinct("usernames", self.usernames, names::username_fault, errors);
        Exemptions {
            usernames,
            namespaces,
            runtime_classes,
        }
    }
}

fn distinct(
    key: &str,
    items: Option<Vec<String>>,
    fault: fn(&str) -> Option<String>,
    errors: &mut Vec<FieldError>,
) -> BTreeSet<String> {
    let mut known = BTreeSet::new();
    for (index, item) in items.into_iter().flatten().enumerate() {
        let field = || format!("exemptions.{key}[{index}]");
        if let Some(detail) = fault(&item) {
            errors.push(FieldError::invalid(field(), &item, detail));
        } else if known.contains(&item) {
            errors.push(FieldError::duplicate(field(), &item));
        } else {
            known.insert(item);
        }
    }
    known
}
