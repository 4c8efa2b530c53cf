//! What policies wrote, and which of their lines ran.

use std::sync::Arc;

use portcullis_core::sync::Mutex;
use portcullis_js::{Evaluation, Host};

use crate::observer::Observer;

/// A line that a policy wrote to its console.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConsoleLine {
    /// The policy.
    pub policy: String,
    /// Where in its own text, where known.
    pub line: Option<u32>,
    /// `log`, `info`, `warn`, `error` or `debug`.
    pub level: &'static str,
    /// What it wrote.
    pub text: String,
}

/// What was seen since it was last taken.
#[derive(Debug, Default)]
pub(super) struct Observed {
    seen: Mutex<(Vec<ConsoleLine>, Vec<u32>)>,
    /// Policies are asked after a denial too.
    asks_on: bool,
    /// What answers host calls, where that is not the world outside.
    host: Option<Arc<dyn Host>>,
}

impl Observed {
    /// Nothing seen yet.
    pub(super) fn new(asks_on: bool, host: Option<Arc<dyn Host>>) -> Self {
        Self {
            asks_on,
            host,
            ..Self::default()
        }
    }

    /// What was seen, and forgets it.
    pub(super) fn take(&self) -> (Vec<ConsoleLine>, Vec<u32>) {
        std::mem::take(&mut *self.seen.lock())
    }
}

impl Observer for Observed {
    fn asks_on(&self) -> bool {
        self.asks_on
    }

    fn host(&self) -> Option<Arc<dyn Host>> {
        self.host.clone()
    }

    fn evaluated(&self, evaluation: &Evaluation) {
        let mut seen = self.seen.lock();
        seen.0.extend(written(evaluation));
        seen.1.extend(&evaluation.covered);
    }
}

/// What the policies of an evaluation wrote.
pub(super) fn written(evaluation: &Evaluation) -> impl Iterator<Item = ConsoleLine> {
    evaluation.console.iter().map(|line| ConsoleLine {
        policy: line.policy.clone(),
        line: line.line,
        level: line.level,
        text: line.text.clone(),
    })
}
