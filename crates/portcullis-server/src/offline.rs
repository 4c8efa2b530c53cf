//! Judging without a server: the same configuration, the same chain, the same reading of reviews.
//!
//! There is no second evaluator. A manifest becomes the text of a review, and from there on
//! everything is what the server does: `portcullis_kube::review` reads it, and
//! [`Chain::decide`](portcullis_core::Chain::decide) judges.

mod documents;
mod files;

use std::time::Duration;

use portcullis_core::{Attributes, Chain, DoorContext, Verdict, clock};
use portcullis_kube::review;

pub use documents::{Item, read_documents};
pub use files::{find, read_file, read_text};
pub use portcullis_core::json::JsonFault;
pub use portcullis_kube::manifest::{Manifest, Question, review as review_text};

use crate::assembly;
use crate::config::{self, Faults, LoadOptions, Namespace};

/// A chain that judges without a server.
#[derive(Debug)]
pub struct Offline {
    chain: Chain,
    limit: Duration,
    /// What is odd in the configuration, but not wrong.
    pub warnings: Vec<String>,
}

/// A request after it was judged.
#[derive(Debug)]
pub struct Judged {
    /// The request; its object is as the plug-ins left it.
    pub request: Attributes,
    /// The verdict.
    pub verdict: Verdict,
}

impl Offline {
    /// Loads the configuration and builds its chain. What is said of `namespace` goes over what the
    /// configuration says of it.
    ///
    /// # Errors
    ///
    /// When anything in the configuration is wrong, its listeners aside.
    pub fn load(options: &LoadOptions<'_>, namespace: Option<Namespace>) -> Result<Self, Faults> {
        let mut loaded = config::load(&LoadOptions {
            offline: true,
            ..options.clone()
        })?;
        if let Some(given) = namespace {
            let known = loaded.namespaces.iter_mut().find(|n| n.name == given.name);
            match known {
                Some(known) => {
                    known.labels.extend(given.labels);
                    known.annotations.extend(given.annotations);
                }
                None => loaded.namespaces.push(given),
            }
        }
        let mut faults = Vec::new();
        let chain = assembly::chain(&loaded, &mut faults);
        match Faults::from_list(faults) {
            Some(faults) => Err(faults),
            None => Ok(Self {
                chain,
                limit: loaded.limits.request_deadline.into(),
                warnings: loaded.warnings,
            }),
        }
    }

    /// Names of the plug-ins, in order.
    pub fn plugins(&self) -> impl Iterator<Item = &str> {
        self.chain.names()
    }

    /// Judges the text of an `AdmissionReview`, as the server does at `/mutate`.
    ///
    /// # Errors
    ///
    /// When the text is no review.
    pub fn judge(&self, review: &str) -> Result<Judged, JsonFault> {
        let received = clock::monotonic();
        let context = DoorContext {
            method: "POST".to_owned(),
            uri: "/mutate".to_owned(),
            ..DoorContext::default()
        };
        let deadline = Some(received + self.limit);
        let review = review::decode_admission(review.as_bytes(), context, received, deadline)?;
        let mut request = review.attributes;
        let verdict = self.chain.decide(&mut request);
        Ok(Judged { request, verdict })
    }
}

#[cfg(test)]
mod tests;
