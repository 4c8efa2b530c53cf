//! What all checks of a cluster share: how long they wait, and what a refusal says.

use std::time::Duration;

use portcullis_watch::ServerAnswer;

/// How long one answer may take.
pub(super) const TIME: Duration = Duration::from_secs(10);
/// What a cluster can't start without.
pub(super) const SYSTEM: &str = "kube-system";

/// What the API server says when it refuses.
pub(super) fn refusal(answer: &ServerAnswer) -> String {
    match answer.message() {
        "" => format!("the API server answers {}", answer.status),
        message => message.to_owned(),
    }
}
