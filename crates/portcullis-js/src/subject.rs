//! What an evaluation is about besides the object, built only when a policy reads it.

use std::fmt;

use serde_json::{Map, Value};

/// The request behind an evaluation, in the forms that policies and hosts want.
pub trait Subject: Send + Sync + fmt::Debug {
    /// `req`, as policies see it.
    fn req(&self) -> Value;

    /// `ac`, as policies see it. `HTTPRequest.Header`, an object of lists, gets `Get` and `Values`;
    /// `HTTPRequest.URL` with a `RawQuery` gets `Query`; `GlobalContext` is added.
    fn ac(&self) -> Value;

    /// The whole request with this object in it, in the form in which others take it; none where
    /// there is no such form.
    fn review(&self, object: &Value) -> Option<Value>;

    /// The asker; empty where that is not known. When several evaluations of one asker compute for
    /// long, its others wait for them; those of other askers don't.
    fn asker(&self) -> &str {
        ""
    }

    /// Headers that requests made for this one take along, such as the trace it is a part of.
    fn headers(&self) -> Vec<(&'static str, String)> {
        Vec::new()
    }
}

/// A subject of plain values.
#[derive(Debug, Clone, PartialEq)]
pub struct PlainSubject {
    /// `req`.
    pub req: Value,
    /// `ac`.
    pub ac: Value,
}

impl Default for PlainSubject {
    fn default() -> Self {
        Self {
            req: Value::Object(Map::new()),
            ac: Value::Object(Map::new()),
        }
    }
}

impl Subject for PlainSubject {
    fn req(&self) -> Value {
        self.req.clone()
    }

    fn ac(&self) -> Value {
        self.ac.clone()
    }

    fn review(&self, _: &Value) -> Option<Value> {
        None
    }
}
