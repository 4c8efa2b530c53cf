//! `SubjectAccessReview`s: the answers of authorizers, as judgements among those of objects.

use portcullis_core::{
    Access, AccessVerdict, AuthorizerChain, Opinion, PolicyMode, PolicyOutcome, Target,
};

use super::outcome::{DocumentPosition, JudgeResult, Judgement, Ruling};
use crate::commands::text::plain::printable;

/// What is shown where no authorizer has an opinion, which is not allowed.
pub(super) const NO_OPINION: &str = "no opinion";

/// What came out, in the form that everything has.
pub(super) fn judgement(
    spot: &DocumentPosition,
    chain: &AuthorizerChain,
    access: &Access,
    verdict: &AccessVerdict,
) -> Judgement {
    let (what, namespace, name) = match &access.target {
        Target::Path(path) => (path.clone(), String::new(), String::new()),
        Target::Resource(resource) => {
            let part = match resource.subresource.as_str() {
                "" => String::new(),
                part => format!("/{part}"),
            };
            let group = match resource.group.as_str() {
                "" => String::new(),
                group => format!(".{group}"),
            };
            let slash = if resource.namespace.is_empty() {
                ""
            } else {
                "/"
            };
            let place = format!("{}{slash}{}", resource.namespace, resource.name);
            let what = format!("{}{group}{part} {place}", resource.resource);
            let what = what.trim_end().to_owned();
            (what, resource.namespace.clone(), resource.name.clone())
        }
    };
    let is_allowed = matches!(verdict.opinion, Opinion::Allow(_));
    let message = match (&verdict.error, &verdict.opinion) {
        (Some(error), _) => error.clone(),
        (None, Opinion::NoOpinion(reason)) => format!("no authorizer allowed it: {reason}"),
        (None, opinion) => opinion.reason().to_owned(),
    };
    let title = format!("SubjectAccessReview {} {what}", access.verb);
    let mut parts: Vec<JudgeResult> = chain.names().map(|name| part(name, verdict)).collect();
    if verdict.error.is_none() && matches!(verdict.opinion, Opinion::NoOpinion(_)) {
        parts.push(JudgeResult {
            is_listed: false,
            said: PolicyOutcome::Deny,
            message: "no authorizer allowed it".to_owned(),
            ..JudgeResult::new(NO_OPINION)
        });
    }
    Judgement {
        spot: spot.clone(),
        title: printable(&title).into_owned(),
        action: format!("by {}", access.user.username),
        kind: "SubjectAccessReview".to_owned(),
        namespace,
        name,
        object: None,
        original: None,
        written: Vec::new(),
        asked: None,
        ruling: Ruling {
            is_allowed,
            is_undecided: verdict.error.is_some(),
            is_judged: true,
            message: if is_allowed { String::new() } else { message },
            by: verdict
                .authorizer
                .as_deref()
                .filter(|_| !is_allowed)
                .map(str::to_owned),
            duration: verdict.duration,
            ..Ruling::default()
        },
        parts,
    }
}

/// What one authorizer said.
fn part(name: &str, verdict: &AccessVerdict) -> JudgeResult {
    let mut steps = verdict.trace.iter();
    let step = steps.find(|step| *step.authorizer == *name);
    let (said, message) = match step.map(|step| &step.said) {
        Some(Ok(Opinion::Allow(reason))) => (PolicyOutcome::Allow, reason.clone()),
        Some(Ok(Opinion::Deny(reason))) => (PolicyOutcome::Deny, reason.clone()),
        Some(Ok(Opinion::NoOpinion(reason))) => (PolicyOutcome::Pass, reason.clone()),
        Some(Err(error)) => (PolicyOutcome::Error, error.clone()),
        None => (
            PolicyOutcome::Skip,
            "not asked: an authorizer before it decided".to_owned(),
        ),
    };
    JudgeResult {
        mode: PolicyMode::Enforce,
        said,
        message,
        duration: step.map(|step| step.duration).unwrap_or_default(),
        ..JudgeResult::new(name)
    }
}
