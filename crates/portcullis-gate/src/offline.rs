//! Judging without a server: the same configuration, the same chain, the same reading of reviews.
//!
//! There is no second evaluator. A manifest becomes the text of a review, and from there on
//! everything is what the server does: `portcullis_kube::review` reads it, and
//! [`Chain::decide`](portcullis_core::Chain::decide) judges.
//!
//! ```text
//! LoadOptions -> Blueprint -> Offline (a chain) -> Judged
//!                    |
//!                    +-> answer (one request of a test) <- cases (*.test.yaml), scripts (*.test.ts)
//! ```

mod answer;
mod asker;
mod blueprint;
mod case_text;
mod cases;
mod cluster;
mod coverage;
mod documents;
mod expect;
mod expected;
mod files;
mod harness;
mod job;
mod judge;
mod observed;
mod pieces;
mod script;

use std::sync::Arc;
use std::time::Duration;

use portcullis_core::{
    Access, AccessVerdict, Attributes, AuthorizerChain, Beyond, Chain, Door, DoorContext, Peer,
    UnixPeer, Verdict, clock,
};
use portcullis_kube::review;

pub use answer::{Answer, Request};
pub use asker::asker;
pub use blueprint::{Blueprint, Memory};
pub use case_text::{NotACase, case_entry, case_text};
pub use cases::{Case, read_cases, tests_schema};
pub use cluster::read_cluster;
pub use coverage::{Coverage, FileCoverage};
pub use documents::{
    Content, Item, Review, TakeItem, each_document, read_documents, read_written_documents,
};
pub use expect::{Expectation, Mismatch};
pub use files::{Manifests, find, find_sources, find_tests, is_test, open, read_file};
pub use job::{is_job, user_of_job};
pub use judge::{Judge, JudgeKind};
pub use observed::ConsoleLine;
pub use portcullis_core::json::JsonFault;
pub use portcullis_kube::Namespace;
pub use portcullis_kube::manifest::{Manifest, ReviewRequest, review as review_text};
pub use script::{Compared, ScriptFailure, ScriptRun, ScriptTest, TestScript};

use observed::Observed;
use portcullis_config::LoadOptions;
use portcullis_document::Faults;

/// A chain that judges without a server.
#[derive(Debug)]
pub struct Offline {
    chain: Chain,
    /// What judges CI jobs: the policies alone.
    jobs: Chain,
    limit: Duration,
    observed: Arc<Observed>,
    asks_on: bool,
}

/// A request after it was judged.
#[derive(Debug)]
pub struct Judged {
    /// The request; its object is as the plug-ins left it.
    pub request: Attributes,
    /// The verdict.
    pub verdict: Verdict,
    /// The answers of plug-ins that ran after a denial.
    pub beyond: Beyond,
    /// What policies wrote.
    pub written: Vec<ConsoleLine>,
    /// The marks of coverage that were passed, if they are counted.
    pub covered: Vec<u32>,
}

impl Offline {
    /// Loads the configuration and builds its chain. What is said of `namespace` goes over what the
    /// configuration says of it.
    ///
    /// # Errors
    ///
    /// When anything in the configuration is wrong, its listeners aside.
    pub fn load(options: &LoadOptions<'_>, namespace: Option<Namespace>) -> Result<Self, Faults> {
        let blueprint = Blueprint::load(options)?;
        blueprint.build(namespace, &blueprint.memory())
    }

    /// Judges the text of an `AdmissionReview`, as the server does at `/mutate`. A CI job is judged
    /// as at the door of CI.
    ///
    /// # Errors
    ///
    /// When the text is not a review.
    pub fn judge(&self, review: &str) -> Result<Judged, JsonFault> {
        self.judge_sent(review, &Sent::default())
    }

    /// The same for a review that was sent otherwise.
    ///
    /// # Errors
    ///
    /// When the text is not a review.
    pub fn judge_sent(&self, review: &str, sent: &Sent) -> Result<Judged, JsonFault> {
        let received = clock::monotonic();
        let context = sent.context();
        let deadline = Some(received + self.limit);
        let review = review::decode_admission(review.as_bytes(), context, received, deadline)?;
        let mut request = review.attributes;
        let chain = if is_job(&request.kind) {
            request.door = Door::Ci;
            &self.jobs
        } else {
            &self.chain
        };
        let (verdict, beyond) = match self.asks_on {
            true => chain.decide_and_ask_on(&mut request),
            false => (chain.decide(&mut request), Beyond::default()),
        };
        let (written, covered) = self.observed.take();
        Ok(Judged {
            request,
            verdict,
            beyond,
            written,
            covered,
        })
    }
}

/// How a review is sent, as policies see it.
#[derive(Debug, Clone)]
pub struct Sent {
    /// The path of the request.
    pub path: String,
    /// Its headers, names in lower case.
    pub headers: Vec<(String, String)>,
    /// The process at a unix socket.
    pub caller: Option<UnixPeer>,
}

impl Default for Sent {
    fn default() -> Self {
        Self {
            path: "/mutate".to_owned(),
            headers: Vec::new(),
            caller: None,
        }
    }
}

impl Sent {
    fn context(&self) -> DoorContext {
        DoorContext {
            method: "POST".to_owned(),
            uri: self.path.clone(),
            headers: self.headers.clone(),
            peer: Peer {
                unix: self.caller,
                ..Peer::default()
            },
            ..DoorContext::default()
        }
    }
}

/// Judges the text of a `SubjectAccessReview`, as the server does at `/authorize`.
///
/// # Errors
///
/// When the text is not a review.
pub fn judge_access(
    chain: &AuthorizerChain,
    review: &str,
) -> Result<(Access, AccessVerdict), JsonFault> {
    let access = review::decode_access(review.as_bytes(), Sent::default().context())?.access;
    let verdict = chain.decide(&access);
    Ok((access, verdict))
}

#[cfg(test)]
mod tests;
