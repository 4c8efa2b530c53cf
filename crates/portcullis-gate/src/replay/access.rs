//! A recorded request for authorization, decided again.

use std::collections::BTreeMap;

use portcullis_core::{AuthorizerChain, Opinion};
use portcullis_kube::review;
use portcullis_record::Decision;

use super::compare::compare;
use super::context;
use super::outcome::{Answered, Outcome};

/// Asks the chain of the same name.
pub(super) fn decide(
    decision: &Decision,
    authorizers: &BTreeMap<String, AuthorizerChain>,
) -> Outcome {
    let name = decision.input.chain.as_deref().unwrap_or("default");
    let Some(chain) = authorizers.get(name) else {
        return Outcome::Unknown(format!("the authorizer chain `{name}` no longer exists"));
    };
    let body = decision.input.review_text().as_bytes();
    let review = match review::decode_access(body, context::context(&decision.input.http)) {
        Ok(review) => review,
        Err(fault) => return Outcome::Failed(format!("the recorded review: {}", fault.message)),
    };
    // Authorizers read all of a request but what else is known of its user.
    let mut masked = decision.input.masked.iter();
    if let Some(place) = masked.find(|place| {
        !["/http/", "/review/spec/extra/"]
            .iter()
            .any(|unread| place.starts_with(unread))
    }) {
        return Outcome::Unknown(format!("an authorizer may read {place}, which is masked"));
    }
    let verdict = chain.decide(&review.access);
    if let Some(error) = &verdict.error {
        return Outcome::Unknown(format!("an authorizer could not decide: {error}"));
    }
    let now = Answered {
        allowed: matches!(verdict.opinion, Opinion::Allow(_)),
        by: verdict.authorizer.as_deref().map(str::to_owned),
        message: verdict.opinion.reason().to_owned(),
        patch: Vec::new(),
    };
    match compare(decision, now, false, None) {
        // No authorizer had an opinion originally, or none has one now.
        Outcome::Changed(mut change) if change.by == "the chain" => {
            "no authorizer".clone_into(&mut change.by);
            Outcome::Changed(change)
        }
        outcome => outcome,
    }
}
