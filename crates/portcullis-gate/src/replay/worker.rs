//! One worker: everything that decides, and the decisions it processes one after the other.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use portcullis_core::patch::Misfit;
use portcullis_core::{Attributes, AuthorizerChain, Door};
use portcullis_js as js;
use portcullis_record::Decision;

use super::apply::misfit;
use super::calls::Calls;
use super::current::CurrentDecision;
use super::facts::Facts;
use super::masks::Matching;
use super::outcome::Outcome;
use super::outgoing::OutgoingAnswers;
use super::policies::PoliciesOnly;
use super::trace::Trace;
use super::whole_chain::WholeChain;
use super::{MASK, access, context, masks, review as recorded};

/// Decides recorded requests again.
#[derive(Debug)]
pub struct Worker {
    pub(super) current: Arc<CurrentDecision>,
    pub(super) judge: Judge,
    /// What judges CI jobs: of their controllers only the record is known.
    pub(super) jobs: PoliciesOnly,
    pub(super) matching: Matching,
    pub(super) facts: Facts,
}

/// What is new.
#[derive(Debug)]
pub(super) enum Judge {
    /// Everything.
    WholeChain(WholeChain, BTreeMap<String, AuthorizerChain>),
    /// The policies.
    Policies(PoliciesOnly),
}

/// What can be said of a record without its objects.
fn truncated(decision: &Decision) -> Outcome {
    let left_out = decision.input.truncated.join(", ");
    Outcome::Unknown(format!(
        "the review was too large to be kept whole: {left_out} is not in the record"
    ))
}

impl Worker {
    /// Decides again.
    pub fn decide(&self, decision: &Decision) -> Outcome {
        let deciding = AssertUnwindSafe(|| match (decision.summary.door, &self.judge) {
            (Door::Kubernetes | Door::Ci, _) => self.admission(decision),
            (Door::Authorization, Judge::WholeChain(..))
                if !decision.input.truncated.is_empty() =>
            {
                truncated(decision)
            }
            (Door::Authorization, Judge::WholeChain(_, authorizers)) => {
                access::decide(decision, authorizers)
            }
            (Door::Api, _) => Outcome::PassedOver,
            (Door::Authorization, Judge::Policies(_)) => Outcome::NotJudged,
        });
        catch_unwind(deciding).unwrap_or_else(|_| Outcome::Failed("it panicked".to_owned()))
    }

    fn admission(&self, decision: &Decision) -> Outcome {
        let trace = Trace::of(decision, &self.facts);
        let policies = match &self.judge {
            _ if decision.summary.door == Door::Ci => Some(&self.jobs),
            Judge::Policies(policies) => Some(policies),
            Judge::WholeChain(..) => None,
        };
        if policies.is_some() && trace.is_refused_before() {
            return Outcome::Same { by_another: false };
        }
        if !decision.input.truncated.is_empty() {
            return truncated(decision);
        }
        if masks::is_whole(&decision.input.masked) {
            return Outcome::Unknown("the object is masked as a whole".to_owned());
        }
        let mut request = match recorded::read(decision) {
            Ok(request) => request,
            Err(why) => return Outcome::Failed(why),
        };
        if let Some(place) = masks::for_matching(self.matching, &decision.input.masked, &request) {
            let why = format!("which policies are asked depends on {place}, which is masked");
            return Outcome::Unknown(why);
        }
        if let (Some(_), Some(step)) = (policies, trace.untold())
            && trace.before.iter().any(|before| std::ptr::eq(before, step))
        {
            let why = format!("the record does not say what {} changed", step.plugin);
            return Outcome::Unknown(why);
        }
        let is_policies = policies.is_some();
        match self.prepare(decision, &trace, &mut request, is_policies) {
            Ok(()) => {}
            Err(Unprepared::Misfit) => return misfit(decision),
            Err(Unprepared::Wrong(why)) => return Outcome::Failed(why),
        }
        match (policies, &self.judge) {
            (Some(policies), _) | (None, Judge::Policies(policies)) => {
                policies.decide(decision, &trace, &mut request, &self.current)
            }
            (None, Judge::WholeChain(whole, _)) => {
                whole.decide(decision, &mut request, &self.current)
            }
        }
    }

    /// Lays out what is known of then, and puts the object in the state it is judged in.
    fn prepare(
        &self,
        decision: &Decision,
        trace: &Trace<'_>,
        request: &mut Attributes,
        is_policies: bool,
    ) -> Result<(), Unprepared> {
        let wrong = |text: &str| Unprepared::Wrong(text.to_owned());
        let now = context::time(&decision.input.received);
        let now = now.ok_or_else(|| wrong("invalid `received`"))?;
        let left = match &mut request.object {
            Some(object) if trace.is_changed() => {
                let original = object
                    .original()
                    .map_err(|e| wrong(&e.to_string()))?
                    .clone();
                let before = trace.object_before(&original)?;
                let left = trace.object_after(&before)?;
                if is_policies && before != original {
                    object.replace(before).map_err(|e| wrong(&e.to_string()))?;
                }
                Some(left)
            }
            // What policies left is what came.
            _ => None,
        };
        let replay = js::Replay {
            now,
            mask: MASK.into(),
            calls: Arc::new(Calls::new(&decision.trace, left)),
        };
        let outgoing = match is_policies {
            true => OutgoingAnswers::default(),
            false => trace.outgoing(request.object.as_ref())?,
        };
        self.current.begin(replay, &decision.trace, outgoing);
        Ok(())
    }
}

/// Why a decision can't be made again.
enum Unprepared {
    /// A recorded patch doesn't fit.
    Misfit,
    /// The record is wrong otherwise.
    Wrong(String),
}

impl From<Misfit> for Unprepared {
    fn from(Misfit: Misfit) -> Self {
        Self::Misfit
    }
}
