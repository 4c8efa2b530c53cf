//! What an evaluation is asked.

use std::sync::Arc;

use serde_json::Value;

use crate::outcome::Mode;

/// What to do with one policy.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Plan {
    /// It does not apply.
    Skip,
    /// It applies, and its refusal means this.
    Run(Mode),
}

/// What an evaluation is about.
#[derive(Debug, Clone)]
pub struct Input {
    /// `object`; null where there is none.
    pub object: Arc<Value>,
    /// `oldObject`; null where there is none.
    pub old_object: Arc<Value>,
    /// `req`, as policies see it.
    pub req: Value,
    /// `ac`, as policies see it. `HTTPRequest.Header`, an object of lists, gets `Get` and `Values`;
    /// `HTTPRequest.URL` with a `RawQuery` gets `Query`; `GlobalContext` is added.
    pub ac: Value,
    /// One for each policy of the set, in order. What is missing is enforced.
    pub plan: Vec<Plan>,
}

impl Input {
    /// An evaluation of all policies over this object.
    pub fn new(object: Value) -> Self {
        Self {
            object: Arc::new(object),
            old_object: Arc::new(Value::Null),
            req: Value::Object(serde_json::Map::new()),
            ac: Value::Object(serde_json::Map::new()),
            plan: Vec::new(),
        }
    }

    pub(crate) fn plan(&self, index: usize) -> Plan {
        let plan = self.plan.get(index).copied();
        plan.unwrap_or(Plan::Run(Mode::Enforce))
    }
}
