//! What policies changed: the object and the `GlobalContext`, read back and kept or undone.

use std::sync::Arc;

use portcullis_core::{PolicyLimit, PolicyOutcome, Tree};
use rquickjs::Value as Js;
use serde_json::Value;

use super::conclusion::{Conclusion, Failure};
use super::record::Record;
use super::{Run, writers};
use crate::convert::to_js;
use crate::outcome::PolicyVerdict;
use crate::read_back::{ObjectReader, Strictness, Unreadable};
use crate::realm::Tool;

impl<'js> Run<'_, 'js> {
    /// Where failures pass, each policy's changes are kept when it ends well. Those of one that
    /// failed go with everything the policies share in memory: the next one starts afresh from
    /// what was kept.
    pub(super) fn keep_or_undo(&mut self, conclusion: Conclusion) -> Conclusion {
        let failure = match conclusion {
            Conclusion::Deny(refusal) if refusal.failure => refusal,
            Conclusion::Deny(_) => return conclusion,
            Conclusion::Pass | Conclusion::Allow(_) => match self.object_now() {
                Ok(changed) => {
                    self.kept = changed.map(|changed| Arc::new(Tree::from(&changed)));
                    return conclusion;
                }
                Err(failure) => failure.into(),
            },
        };
        self.scope = None;
        let nothing = Js::new_undefined(self.ctx.clone());
        let enter = self.tools.get(Tool::Enter);
        if enter
            .and_then(|enter| enter.call::<_, ()>((nothing,)))
            .is_err()
        {
            let _ = self.ctx.catch();
        }
        if let Some(limit) = failure.limit {
            self.recover(limit);
        }
        Conclusion::Deny(failure)
    }

    /// Whether the policy that ran changed the object.
    pub(super) fn is_changed_by(&mut self, index: usize, conclusion: &Conclusion) -> bool {
        if self.set.reads_only(index) || matches!(conclusion, Conclusion::Deny(_)) {
            return false;
        }
        // An object that can't be read is denied at the end.
        let Ok(now) = self.object_now() else {
            return false;
        };
        let is_changed = now != self.seen;
        self.seen = now;
        is_changed
    }

    /// Reads back what the policies changed, and says which did.
    pub(super) fn finish(&mut self, last: Option<&str>, record: &mut Record) {
        self.read_back(last, record);
        if record.object.is_none() {
            // Whatever they changed was discarded, or undone by another.
            for step in &mut record.steps {
                step.changed = false;
            }
        } else if !self.compares {
            let only = writers(self.set, self.input).next();
            if let Some(step) = only.and_then(|index| record.steps.get_mut(index)) {
                step.changed = true;
            }
        }
    }

    fn read_back(&mut self, last: Option<&str>, record: &mut Record) {
        if let (Some(context), Some(lease)) =
            (self.context.take(), self.state.lease.borrow().as_ref())
        {
            lease.store(context);
        }
        if matches!(record.verdict, Some(PolicyVerdict::Deny(_))) || record.is_out_of_time {
            return;
        }
        if self.input.failures_pass {
            record.object = self.kept.take().map(|kept| kept.to_value());
            return;
        }
        let object = self.object_now();
        self.write_host_calls(last.unwrap_or_default(), record);
        self.write_unknown(last.unwrap_or_default(), record);
        match object {
            Ok(changed) => record.object = changed,
            Err(failure) => {
                let name = last.unwrap_or("policies");
                if let Some(step) = record.steps.iter_mut().rfind(|s| s.name == name) {
                    step.outcome = PolicyOutcome::Error;
                    step.message = Some(failure.message.clone());
                    step.limit = failure.limit;
                }
                record.refuse(name, failure.into());
            }
        }
    }

    /// The shared object, if it changed.
    pub(super) fn object_now(&mut self) -> Result<Option<Value>, Failure> {
        let Some(scope) = self.scope.clone().filter(|_| self.may_have_changed) else {
            return Ok(None);
        };
        let (input, memory) = (self.input, self.limits.memory);
        let result = self.read(&scope.object, &input.object, memory);
        if let Some(limit) = self.limit() {
            return Err(self.over(limit));
        }
        result.map_err(|e| match e {
            Unreadable::At(place, what) => Failure::new(format!(
                "unable to calculate the object diff:{what} at {place}"
            )),
            Unreadable::TooLarge => self.over(PolicyLimit::Memory),
            Unreadable::Engine => {
                let text = self.describe(&self.ctx.catch());
                Failure::new(format!("unable to calculate the object diff:{text}"))
            }
        })
    }

    pub(super) fn read(
        &self,
        js: &Js<'js>,
        original: &Tree,
        budget: usize,
    ) -> Result<Option<Value>, Unreadable> {
        let unseen = self.tools.get(Tool::Unseen)?.call(())?;
        let tools = (self.tools.get(Tool::Plain)?, unseen);
        let strictness = Strictness::Strict;
        ObjectReader::new(self.ctx, self.state, tools, original, budget, strictness).changed(js)
    }

    /// Notes what the policy left in the `GlobalContext`. What can't be kept is put back as it was.
    pub(super) fn keep_context(&mut self) -> Result<(), Failure> {
        let (cap, before) = match self.state.lease.borrow().as_ref() {
            Some(lease) => (lease.cap(), Arc::clone(&lease.value)),
            None => return Ok(()),
        };
        let Some(cell) = self.cell.clone() else {
            return Ok(());
        };
        let value = cell.get::<_, Js<'js>>("value");
        let changed = value.map_err(Unreadable::from).and_then(|value| {
            let before = Tree::from(before.as_ref());
            self.read(&value, &before, cap.saturating_mul(16))
        });
        if self.state.hit() == Some(PolicyLimit::Deadline) {
            return Err(self.over(PolicyLimit::Deadline));
        }
        let why = match changed {
            Ok(Some(value)) if value.to_string().len() > cap => {
                format!(" would be larger than {cap} bytes")
            }
            Ok(changed) => {
                self.context = changed;
                return Ok(());
            }
            Err(Unreadable::TooLarge) => format!(" would be larger than {cap} bytes"),
            Err(Unreadable::At(place, what)) => format!(": {what} at {place}"),
            Err(Unreadable::Engine) => format!(": {}", self.describe(&self.ctx.catch())),
        };
        let good = self.context.as_ref().unwrap_or(&before);
        if to_js(self.ctx, self.state, good)
            .and_then(|good| cell.set("value", good))
            .is_err()
        {
            let _ = self.ctx.catch();
        }
        Err(Failure::new(format!(
            "unable to evaluate policy:ac.GlobalContext{why}"
        )))
    }
}
