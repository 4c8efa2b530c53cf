//! Policies to look at.
#![allow(dead_code, reason = "not every test uses all of it")]
#![allow(clippy::panic, clippy::string_slice, reason = "it helps tests")]

use portcullis_core::Door;
use portcullis_lint::{Finding, Place, Role, Scope, Subject, lint};
use portcullis_script::Language;

/// What is found in a policy of this `match`, one line for each: `rule 1:2 message, fix`.
pub(crate) fn findings(scope: Scope, language: Language, text: &str) -> Vec<String> {
    let subject = Subject {
        text,
        language,
        role: Role::Policy(scope),
        others: Vec::new(),
        watched: Some(vec!["v1/ConfigMap".to_owned()]),
    };
    let found = lint(&subject).unwrap_or_else(|faults| panic!("{text}\n{faults:?}"));
    found.iter().map(written).collect()
}

/// The rule and the place, like `unknown-field 1:13`.
pub(crate) fn place(finding: &str) -> &str {
    let mut words = finding.match_indices(' ');
    let end = words.nth(1).map_or(finding.len(), |(at, _)| at);
    &finding[..end]
}

fn written(finding: &Finding) -> String {
    let place = match &finding.place {
        Place::Text { line, column } => format!("{line}:{column}"),
        Place::Match(key) => key.clone(),
    };
    let (rule, message, fix) = (finding.rule, &finding.message, &finding.fix);
    format!("{rule} {place} {message}, {fix}")
}

/// A policy for these kinds.
pub(crate) fn of(kinds: &[&str]) -> Scope {
    Scope {
        doors: vec![Door::Kubernetes],
        kinds: (!kinds.is_empty()).then(|| kinds.iter().map(|&kind| kind.to_owned()).collect()),
        ..Scope::default()
    }
}
