//! What comes of a policy: what it returned or threw, as a conclusion.

use portcullis_core::text::start;
use rquickjs::{Array, Object, Value as Js};

use super::record::{Conclusion, Failure, Refusal};
use super::{Run, VIOLATES_POLICY, never_empty};
use crate::realm::Tool;
use crate::source::Place;

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
                place: None,
                limit: None,
                failure: false,
            })
        };
        if value.is_string() || value.is_symbol() {
            return refuse(never_empty(self.describe(value)));
        }
        let yes = value.as_bool().or_else(|| self.boxed_bool(value));
        match yes {
            Some(true) => Conclusion::Allow,
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

    pub(super) fn thrown(&self, text: &str, place: Option<Place>) -> Refusal {
        let at = place.map(|place| {
            let name = self.set.source_of(place);
            format!(" at {name}:{}:{}", place.line, place.column)
        });
        Failure {
            message: format!("unable to evaluate policy:{text}{}", at.unwrap_or_default()),
            place,
            limit: None,
        }
        .into()
    }
}
