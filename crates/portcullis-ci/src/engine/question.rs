//! What this process evaluates after a turn.

use portcullis_jobs::Judge;

use crate::judge::PolicyQuestion;

/// A policy to evaluate, and whose verdict that is.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Question {
    pub(crate) judge: Judge,
    pub(crate) asked: PolicyQuestion,
}
