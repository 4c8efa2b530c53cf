//! The conclusion of a policy, from what it returned or threw.

use std::borrow::Cow;

use portcullis_core::PolicyLimit;
use portcullis_core::text::start;
use rquickjs::{Array, Object, Value as Js};

use super::{Run, VIOLATES_POLICY, never_empty};
use crate::limits::Limits;
use crate::program::SourcePosition;
use crate::realm::Tool;
use crate::state::State;

/// A policy that failed to decide.
pub(super) const INTERNAL_ERROR: &str = "INTERNAL_ERROR";

/// What a policy concluded.
#[derive(Debug)]
pub(super) enum Conclusion {
    Pass,
    /// A yes; the reason may be empty.
    Allow(String),
    Deny(Refusal),
}

/// A no, and why.
#[derive(Debug)]
pub(super) struct Refusal {
    pub(super) message: String,
    pub(super) reason: Cow<'static, str>,
    pub(super) code: Option<u16>,
    pub(super) position: Option<SourcePosition>,
    pub(super) limit: Option<PolicyLimit>,
    pub(super) failure: bool,
}

/// A policy that failed to decide.
#[derive(Debug)]
pub(super) struct Failure {
    pub(super) message: String,
    pub(super) position: Option<SourcePosition>,
    pub(super) limit: Option<PolicyLimit>,
}

impl Failure {
    pub(super) fn new(message: String) -> Self {
        Self {
            message,
            position: None,
            limit: None,
        }
    }

    /// The engine failed outside of a policy, most likely for lack of time or memory.
    pub(super) fn of_engine(state: &State, limits: &Limits) -> Self {
        state.is_late();
        match state.hit() {
            Some(limit) => Self {
                limit: Some(limit),
                ..Self::new(limit_message(limit, limits))
            },
            None => Self::new("unable to evaluate policy:the engine failed".to_owned()),
        }
    }
}

impl From<Failure> for Refusal {
    fn from(failure: Failure) -> Self {
        Self {
            message: failure.message,
            reason: INTERNAL_ERROR.into(),
            code: None,
            position: failure.position,
            limit: failure.limit,
            failure: true,
        }
    }
}

/// The message of a limit that was hit.
pub(crate) fn limit_message(limit: PolicyLimit, limits: &Limits) -> String {
    let bound = match limit {
        PolicyLimit::Deadline => format!("{:?}", limits.deadline),
        PolicyLimit::Memory => format!("{} bytes", limits.memory),
        PolicyLimit::Stack => format!("{} bytes", limits.stack),
    };
    format!("unable to evaluate policy:limit exceeded: {limit} ({bound})")
}

impl<'js> Run<'_, 'js> {
    /// What a returned value means.
    pub(super) fn returned(&self, value: &Js<'js>) -> Conclusion {
        if value.is_undefined() {
            return Conclusion::Pass;
        }
        let refuse = |message: String| {
            Conclusion::Deny(Refusal {
                message,
                reason: VIOLATES_POLICY.into(),
                code: None,
                position: None,
                limit: None,
                failure: false,
            })
        };
        if value.is_string() || value.is_symbol() {
            return refuse(never_empty(self.describe(value)));
        }
        let yes = value.as_bool().or_else(|| self.boxed_bool(value));
        match yes {
            Some(true) => Conclusion::Allow(String::new()),
            Some(false) => refuse("request denied by policy".to_owned()),
            None => {
                let kind: rquickjs::Result<String> = self
                    .tools
                    .get(Tool::Kind)
                    .and_then(|kind| kind.call((value.clone(),)));
                let kind = kind.unwrap_or_default();
                let text = self.describe(value);
                let text = start(&text, 200);
                Conclusion::Deny(
                    Failure::new(format!("unknown return value from policy ({kind}: {text})"))
                        .into(),
                )
            }
        }
    }

    fn boxed_bool(&self, value: &Js<'js>) -> Option<bool> {
        let constructor: Object<'js> = self.ctx.globals().get("Boolean").ok()?;
        let object = value.as_object()?;
        if !object.is_instance_of(constructor) {
            return None;
        }
        let plain: Array<'js> = self
            .tools
            .get(Tool::Plain)
            .ok()?
            .call((value.clone(),))
            .ok()?;
        plain.get(0).ok()
    }

    pub(super) fn thrown(&self, text: &str, position: Option<SourcePosition>) -> Refusal {
        let at = position.map(|position| {
            let name = self.set.source_of(position);
            format!(" at {name}:{}:{}", position.line, position.column)
        });
        Failure {
            message: format!("unable to evaluate policy:{text}{}", at.unwrap_or_default()),
            position,
            limit: None,
        }
        .into()
    }
}
