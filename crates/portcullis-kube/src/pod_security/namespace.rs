//! The policy that a namespace's labels ask for, and what a change of them
//! means.
//!
//! A policy is always found. Where a label is wrong, enforcing fails closed
//! (`restricted`, `latest`) while audit and warn fail open (`privileged`), and
//! the faults are returned beside it. A write of a namespace is judged by
//! [`review_create`] and [`review_update`]; its existing pods are not looked at.

use std::{borrow::Borrow, collections::BTreeMap};

use super::{
    config::Exemptions,
    field_error::{FieldError, join_field_errors},
    level::{Level, LevelVersion, Policy, Version},
    text::go_quoted,
};

/// Label with the level to enforce.
pub(crate) const ENFORCE: &str = "pod-security.kubernetes.io/enforce";
/// Label with the version of that level.
pub(crate) const ENFORCE_VERSION: &str = "pod-security.kubernetes.io/enforce-version";
/// Label with the level to audit.
pub(crate) const AUDIT: &str = "pod-security.kubernetes.io/audit";
/// Label with the version of that level.
pub(crate) const AUDIT_VERSION: &str = "pod-security.kubernetes.io/audit-version";
/// Label with the level to warn about.
pub(crate) const WARN: &str = "pod-security.kubernetes.io/warn";
/// Label with the version of that level.
pub(crate) const WARN_VERSION: &str = "pod-security.kubernetes.io/warn-version";

/// The policy that `labels` ask for over `defaults`, and the labels that
/// cannot be understood.
#[must_use]
pub(crate) fn policy_of<K, V>(
    labels: &BTreeMap<K, V>,
    defaults: &Policy,
) -> (Policy, Vec<FieldError>)
where
    K: Borrow<str> + Ord,
    V: AsRef<str>,
{
    let get = |label| labels.get(label).map(AsRef::as_ref);
    let mut reader = Reader::default();

    let mut mode = |level, version, default: LevelVersion, on_error| LevelVersion {
        level: reader.parsed(level, get(level), default.level, on_error),
        version: reader.parsed(version, get(version), default.version, Version::Latest),
    };
    let enforce = mode(
        ENFORCE,
        ENFORCE_VERSION,
        defaults.enforce,
        Level::Restricted,
    );
    let audit = mode(AUDIT, AUDIT_VERSION, defaults.audit, Level::Privileged);
    let mut warn = mode(WARN, WARN_VERSION, defaults.warn, Level::Privileged);

    // Where a level is enforced and no warning level is set, warnings use the
    // same: users learn at once of workloads whose pods would be denied.
    let enforces = get(ENFORCE).is_some_and(|word| word.parse::<Level>().is_ok());
    if enforces && get(WARN).is_none() && enforce.level > warn.level {
        warn.level = enforce.level;
        if get(WARN_VERSION).is_none() {
            warn.version = enforce.version;
        }
    }

    let policy = Policy {
        enforce,
        audit,
        warn,
    };
    (policy, reader.errors)
}

#[derive(Default)]
struct Reader {
    errors: Vec<FieldError>,
}

impl Reader {
    /// A value, `default` when absent, or `on_error` and a note of the fault.
    fn parsed<T>(&mut self, label: &str, word: Option<&str>, default: T, on_error: T) -> T
    where
        T: std::str::FromStr<Err: std::fmt::Display>,
    {
        let Some(word) = word else {
            return default;
        };
        word.parse().unwrap_or_else(|error| {
            let field = format!("metadata.labels[{label}]");
            self.errors.push(FieldError::invalid(field, word, error));
            on_error
        })
    }
}

/// What follows from a write of a namespace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum NamespaceReview {
    /// Nothing to say.
    Allowed,
    /// Allowed, with a word to the user.
    AllowedWithWarning(String),
    /// The labels are not acceptable; see [`invalid_message`].
    Invalid(Vec<FieldError>),
    /// Allowed; the namespace now enforces this, which pods that exist may violate.
    EnforcesMore(LevelVersion),
}

/// Judges a new namespace.
#[must_use]
pub(crate) fn review_create<K, V>(
    name: &str,
    labels: &BTreeMap<K, V>,
    defaults: &Policy,
    exemptions: &Exemptions,
) -> NamespaceReview
where
    K: Borrow<str> + Ord,
    V: AsRef<str>,
{
    let (policy, errors) = policy_of(labels, defaults);
    if !errors.is_empty() {
        NamespaceReview::Invalid(errors)
    } else if exemptions.has_namespace(name) {
        review_exempt(name, labels, &policy, defaults)
    } else {
        NamespaceReview::Allowed
    }
}

/// Judges a change of a namespace.
///
/// Faults that were there before are not a reason to deny some other change.
#[must_use]
pub(crate) fn review_update<K, V>(
    name: &str,
    old_labels: &BTreeMap<K, V>,
    labels: &BTreeMap<K, V>,
    defaults: &Policy,
    exemptions: &Exemptions,
) -> NamespaceReview
where
    K: Borrow<str> + Ord,
    V: AsRef<str>,
{
    let (old, old_errors) = policy_of(old_labels, defaults);
    let (new, errors) = policy_of(labels, defaults);
    if !errors.is_empty() && errors != old_errors {
        return NamespaceReview::Invalid(errors);
    }
    let (old, enforce) = (old.enforce, new.enforce);
    let is_no_stricter = enforce == old
        || enforce.level == Level::Privileged
        || (enforce.version == old.version && enforce.level <= old.level);
    if is_no_stricter {
        NamespaceReview::Allowed
    } else if exemptions.has_namespace(name) {
        review_exempt(name, labels, &new, defaults)
    } else {
        NamespaceReview::EnforcesMore(enforce)
    }
}

/// The message for denying a namespace with bad labels (status 422, reason
/// `Invalid`).
#[must_use]
pub(crate) fn invalid_message(name: &str, errors: &[FieldError]) -> String {
    let name = go_quoted(name);
    format!("Namespace {name} is invalid: {}", join_field_errors(errors))
}

/// Labels on an exempt namespace do nothing, which is worth a word.
fn review_exempt<K, V>(
    name: &str,
    labels: &BTreeMap<K, V>,
    policy: &Policy,
    defaults: &Policy,
) -> NamespaceReview
where
    K: Borrow<str> + Ord,
{
    if policy.is_fully_privileged() || policy.is_equivalent(defaults) {
        return NamespaceReview::Allowed;
    }
    let modes: Vec<String> = [
        ("enforce", policy.enforce, [ENFORCE, ENFORCE_VERSION]),
        ("audit", policy.audit, [AUDIT, AUDIT_VERSION]),
        ("warn", policy.warn, [WARN, WARN_VERSION]),
    ]
    .into_iter()
    .filter(|(_, mode, keys)| {
        mode.level != Level::Privileged && keys.iter().any(|key| labels.contains_key(*key))
    })
    .map(|(name, mode, _)| format!("{name}={mode}"))
    .collect();
    NamespaceReview::AllowedWithWarning(format!(
        "namespace {} is exempt from Pod Security, and the policy ({}) will be ignored",
        go_quoted(name),
        modes.join(", ")
    ))
}

#[cfg(test)]
mod tests;
