//! The input of an evaluation.

use std::sync::Arc;

use portcullis_core::{PolicyMode, Tree};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::replay::Replay;
use crate::subject::{PlainSubject, Subject};

/// What to do with one policy.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Plan {
    /// It does not apply.
    Skip,
    /// It applies, and its denial means this.
    Run(PolicyMode),
}

/// What an evaluation is about.
#[derive(Debug, Clone)]
pub struct Input {
    /// `object`; null where there is none.
    pub object: Arc<Tree>,
    /// `oldObject`; null where there is none.
    pub old_object: Arc<Tree>,
    /// The request: `req` and `ac`.
    pub subject: Arc<dyn Subject>,
    /// One for each policy of the set, in order. What is missing is enforced.
    pub plan: Vec<Plan>,
    /// An error or limit in an enforced policy counts as no opinion of that policy.
    pub failures_pass: bool,
    /// Policies are asked after a denial too; the first denial counts.
    pub asks_on: bool,
    /// What is known of the time it was first made, if it is made again from a record.
    pub replay: Option<Arc<Replay>>,
}

impl Input {
    /// An evaluation of all policies over this object.
    pub fn new(object: &Value) -> Self {
        Self {
            object: Arc::new(Tree::from(object)),
            old_object: Arc::new(Tree::from(&Value::Null)),
            subject: Arc::new(PlainSubject::default()),
            plan: Vec::new(),
            failures_pass: false,
            asks_on: false,
            replay: None,
        }
    }

    pub(crate) fn plan(&self, index: usize) -> Plan {
        let plan = self.plan.get(index).copied();
        plan.unwrap_or(Plan::Run(PolicyMode::Enforce))
    }
}
