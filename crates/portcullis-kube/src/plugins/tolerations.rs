//! Tolerations as sets: which one covers which, and how two lists become one.
//!
//! The rules are Kubernetes', corners included: an operator left out covers
//! only what says `Equal`, and seconds count only where the wider one is for
//! `NoExecute`. Configured tolerations are checked here, tolerations in pods
//! by the API server.

use std::borrow::Cow;

use portcullis_document::Fault;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::pod::Toleration;

use crate::labels;

/// Whether everything the narrower one tolerates, the wider one does too.
pub(crate) fn covers(wider: &Toleration<'_>, narrower: &Toleration<'_>) -> bool {
    if wider == narrower {
        return true;
    }
    let takes_every_key = wider.key.is_empty() && wider.operator == "Exists";
    if wider.key != narrower.key && !takes_every_key {
        return false;
    }
    if wider.effect != narrower.effect && !wider.effect.is_empty() {
        return false;
    }
    if wider.effect == "NoExecute"
        && let Some(limit) = wider.toleration_seconds
        && narrower.toleration_seconds.is_none_or(|s| s > limit)
    {
        return false;
    }
    match wider.operator.as_ref() {
        "" | "Equal" => narrower.operator == "Equal" && narrower.value == wider.value,
        "Exists" => true,
        _ => false,
    }
}

/// Whether each toleration is covered by one of the allowed ones. An empty
/// list of allowed ones allows all.
pub(crate) fn are_allowed(tolerations: &[Toleration<'_>], allowed: &[Toleration<'_>]) -> bool {
    allowed.is_empty()
        || tolerations
            .iter()
            .all(|one| allowed.iter().any(|wider| covers(wider, one)))
}

/// Which of these stay when those covered by others go. Of equal ones the
/// first stays.
pub(crate) fn without_covered(all: &[Toleration<'_>]) -> Vec<bool> {
    let mut kept: Vec<&Toleration<'_>> = Vec::new();
    let stays = all.iter().enumerate().map(|(index, one)| {
        let mut later = all.iter().skip(index + 1);
        let goes = kept.iter().any(|wider| covers(wider, one))
            || later.any(|wider| wider != one && covers(wider, one));
        if !goes {
            kept.push(one);
        }
        !goes
    });
    stays.collect()
}

/// A toleration as it is written in a pod.
pub(crate) fn to_json(toleration: &Toleration<'_>) -> Value {
    let texts = [
        ("key", &toleration.key),
        ("operator", &toleration.operator),
        ("value", &toleration.value),
        ("effect", &toleration.effect),
    ];
    let mut object: Map<String, Value> = texts
        .into_iter()
        .filter(|(_, text)| !text.is_empty())
        .map(|(key, text)| (key.to_owned(), Value::from(text.as_ref())))
        .collect();
    if let Some(seconds) = toleration.toleration_seconds {
        object.insert("tolerationSeconds".to_owned(), Value::from(seconds));
    }
    Value::Object(object)
}

/// A toleration in a configuration.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct ConfiguredToleration {
    /// Key of the taint; leave it out, with `Exists`, for all taints.
    key: Option<String>,
    /// `Equal` (also when left out) or `Exists`.
    operator: Option<String>,
    /// Value of the taint, with `Equal`.
    value: Option<String>,
    /// `NoSchedule`, `PreferNoSchedule` or `NoExecute`; leave it out for all.
    effect: Option<String>,
    /// For how long, with `NoExecute`; for ever when left out.
    toleration_seconds: Option<i64>,
}

impl From<ConfiguredToleration> for Toleration<'static> {
    fn from(configured: ConfiguredToleration) -> Self {
        let text = |text: Option<String>| Cow::Owned(text.unwrap_or_default());
        Self {
            key: text(configured.key),
            operator: text(configured.operator),
            value: text(configured.value),
            effect: text(configured.effect),
            toleration_seconds: configured.toleration_seconds,
        }
    }
}

/// What is wrong with configured tolerations.
pub(crate) fn faults(path: &str, tolerations: &[Toleration<'_>]) -> Vec<Fault> {
    let faults = tolerations.iter().enumerate().flat_map(|(index, one)| {
        let faults = faults_of(one).into_iter();
        faults.map(move |(key, message)| Fault::at(format!("{path}[{index}].{key}"), message))
    });
    faults.collect()
}

fn faults_of(toleration: &Toleration<'_>) -> Vec<(&'static str, String)> {
    let Toleration {
        key,
        operator,
        value,
        effect,
        ..
    } = toleration;
    let invalid = |text: &str, why: &str| format!("Invalid value: {text:?}: {why}");
    let mut faults = Vec::new();
    if key.is_empty() {
        if operator != "Exists" {
            let why = "operator must be Exists when `key` is empty, which means \"match all \
                       values and all keys\"";
            faults.push(("operator", invalid(operator, why)));
        }
    } else {
        let bad = labels::key_faults(key);
        faults.extend(bad.iter().map(|why| ("key", invalid(key, why))));
    }
    if toleration.toleration_seconds.is_some() && effect != "NoExecute" {
        let why = "effect must be 'NoExecute' when `tolerationSeconds` is set";
        faults.push(("effect", invalid(effect, why)));
    }
    match operator.as_ref() {
        "" | "Equal" => {
            let bad = labels::value_faults(value);
            if !bad.is_empty() {
                faults.push(("value", invalid(value, &bad.join(";"))));
            }
        }
        "Exists" if value.is_empty() => {}
        "Exists" => {
            let why = "value must be empty when `operator` is 'Exists'";
            faults.push(("value", invalid(value, why)));
        }
        other => faults.push(("operator", unsupported(other, &["Equal", "Exists"]))),
    }
    let effects = ["NoSchedule", "PreferNoSchedule", "NoExecute"];
    if !effect.is_empty() && !effects.contains(&effect.as_ref()) {
        faults.push(("effect", unsupported(effect, &effects)));
    }
    faults
}

/// The message for an unsupported value, in Kubernetes' words.
pub(crate) fn unsupported(value: &str, supported: &[&str]) -> String {
    let supported: Vec<String> = supported.iter().map(|s| format!("{s:?}")).collect();
    let supported = supported.join(", ");
    format!("Unsupported value: {value:?}: supported values: {supported}")
}

#[cfg(test)]
mod tests;
