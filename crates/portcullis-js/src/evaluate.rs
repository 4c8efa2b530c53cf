//! One evaluation: the policies of a set over one object, in order.

mod changes;
mod conclusion;
mod record;
mod scope;

use std::borrow::Cow;
use std::sync::Arc;

use portcullis_core::clock::Stopwatch;
use portcullis_core::{PolicyLimit, PolicyMode, PolicyOutcome, PolicyStep, Tree};
use rquickjs::{Ctx, Function, Object, Promise, Value as Js, promise::PromiseState};
use serde_json::Value;

use conclusion::{Conclusion, Failure, Refusal, limit_message};
use record::Record;
pub(crate) use record::late;
use scope::PolicyScope;

use crate::input::{Input, Plan};
use crate::limits::Limits;
use crate::outcome::{ConsoleLine, Evaluation, PolicyVerdict};
use crate::policy_set::PolicySet;
use crate::program::{SourcePosition, Text};
use crate::realm::{Realm, Tool, Tools};
use crate::replay::{KEPT, Unknown};
use crate::state::{State, VerdictCall};

/// A policy's own no.
const VIOLATES_POLICY: &str = "VIOLATES_POLICY";

/// Runs the policies. The realm's deadline must have been set.
pub(crate) fn run(
    realm: &Realm,
    set: &PolicySet,
    input: &Arc<Input>,
    limits: &Limits,
) -> Evaluation {
    let state = &realm.state;
    state.begin(input, limits);
    let mut record = Record::default();
    let ran = realm.enter(|ctx, tools| {
        let mut run = Run::new(ctx, tools, realm, set, input, limits)?;
        run.all(&mut record);
        Ok(())
    });
    if ran.is_err() {
        record.fail(set, input, Failure::of_engine(state, limits));
    }
    if set.marks() > 0 {
        record.covered = state.covered(set.marks());
    }
    state.end();
    record.into_evaluation()
}

struct Run<'a, 'js> {
    ctx: &'a Ctx<'js>,
    tools: Tools<'a, 'js>,
    realm: &'a Realm,
    state: &'a State,
    set: &'a PolicySet,
    input: &'a Input,
    limits: &'a Limits,
    /// The `GlobalContext` of this evaluation, once used.
    cell: Option<Object<'js>>,
    /// What the `GlobalContext` was after the last policy that left it in order.
    context: Option<Value>,
    /// What enforced policies share.
    scope: Option<PolicyScope<'js>>,
    /// Whether a policy ran that could have changed the object.
    may_have_changed: bool,
    /// Whether the last policy ran in the shared scope.
    is_in_shared: bool,
    /// Where failures pass: the object after the last policy that did not fail, if it changed.
    kept: Option<Arc<Tree>>,
    /// Whether policies are told apart that may change the object. Of one alone it is known without comparing.
    compares: bool,
    /// Where they are: the object after the last policy, if it changed.
    seen: Option<Value>,
}

/// The places of the policies that may change the object of the request.
fn writers(set: &PolicySet, input: &Input) -> impl Iterator<Item = usize> {
    (0..set.names().len()).filter(|index| {
        input.plan(*index) == Plan::Run(PolicyMode::Enforce) && !set.reads_only(*index)
    })
}

impl<'a, 'js> Run<'a, 'js> {
    fn new(
        ctx: &'a Ctx<'js>,
        tools: Tools<'a, 'js>,
        realm: &'a Realm,
        set: &'a PolicySet,
        input: &'a Input,
        limits: &'a Limits,
    ) -> rquickjs::Result<Self> {
        realm.watch_memory(ctx, &tools)?;
        let may_change = |index: usize| input.plan(index) != Plan::Skip && !set.reads_only(index);
        let reads_back = (0..set.names().len()).any(may_change);
        realm.state.reads_back.set(reads_back);
        Ok(Self {
            ctx,
            tools,
            realm,
            state: &realm.state,
            set,
            input,
            limits,
            cell: None,
            context: None,
            scope: None,
            may_have_changed: false,
            is_in_shared: false,
            kept: None,
            compares: input.replay.is_some() || writers(set, input).nth(1).is_some(),
            seen: None,
        })
    }

    fn all(&mut self, record: &mut Record) {
        let (mut last, mut is_over) = (None, false);
        for (index, name) in self.set.names().iter().enumerate() {
            let Plan::Run(mode) = self.input.plan(index) else {
                let step = PolicyStep::skipped(name.as_str(), PolicyMode::Enforce);
                record.steps.push(step);
                continue;
            };
            let mut step = PolicyStep::skipped(name.as_str(), mode);
            let is_refused = matches!(record.verdict, Some(PolicyVerdict::Deny(_)));
            let is_decided = record.verdict.is_some() && !(is_refused && self.input.asks_on);
            if is_decided || is_over || record.is_out_of_time {
                record.steps.push(step);
                continue;
            }
            self.state.thread.enter(index);
            let watch = Stopwatch::start();
            let mut conclusion = self.policy(index, mode);
            if mode == PolicyMode::Enforce && self.input.failures_pass {
                conclusion = self.keep_or_undo(conclusion);
            }
            step.started = Some(watch.started());
            step.duration = Some(watch.elapsed());
            if mode == PolicyMode::Enforce
                && self.compares
                && self.is_changed_by(index, &conclusion)
            {
                step.changed = true;
                if self.input.replay.is_some() {
                    record.changed_by.push(name.clone());
                }
            }
            let warnings = self.state.warnings.take();
            self.write_console(index, name, record);
            self.write_host_calls(name, record);
            self.write_unknown(name, record);
            if mode == PolicyMode::Enforce {
                last = Some(name.as_str());
            }
            step.outcome = match &conclusion {
                Conclusion::Pass if warnings.is_empty() => PolicyOutcome::Pass,
                Conclusion::Pass => PolicyOutcome::Warn,
                Conclusion::Allow(_) => PolicyOutcome::Allow,
                Conclusion::Deny(refusal) if refusal.failure => PolicyOutcome::Error,
                Conclusion::Deny(_) => PolicyOutcome::Deny,
            };
            if step.outcome == PolicyOutcome::Warn {
                step.message = warnings.first().cloned();
            }
            if mode != PolicyMode::DryRun && !is_refused {
                let named = warnings.into_iter().map(|w| format!("{name}: {w}"));
                record.warnings.extend(named);
            }
            if let Conclusion::Allow(reason) = &conclusion {
                step.message = Some(reason.clone()).filter(|reason| !reason.is_empty());
            }
            if let Conclusion::Deny(refusal) = &conclusion {
                step.message = Some(refusal.message.clone());
                step.limit = refusal.limit;
                self.locate(&mut step, index, refusal.position);
            }
            record.steps.push(step);
            match (mode, conclusion) {
                // What is asked after a denial changes nothing but where it ends.
                (PolicyMode::Enforce, Conclusion::Allow(_)) if is_refused => is_over = true,
                (PolicyMode::Enforce, Conclusion::Deny(refusal)) if is_refused => {
                    is_over = refusal.limit.is_some();
                }
                (PolicyMode::Warn, Conclusion::Deny(_)) if is_refused => {}
                (_, Conclusion::Pass)
                | (PolicyMode::Warn | PolicyMode::DryRun, Conclusion::Allow(_)) => {}
                (PolicyMode::Enforce, Conclusion::Allow(_)) => {
                    record.verdict = Some(PolicyVerdict::Allow)
                }
                (PolicyMode::Enforce, Conclusion::Deny(refusal))
                    if refusal.failure && self.input.failures_pass =>
                {
                    record.is_out_of_time = refusal.limit == Some(PolicyLimit::Deadline);
                }
                (PolicyMode::Enforce, Conclusion::Deny(refusal)) => {
                    // After a limit nothing can be relied on.
                    is_over = refusal.limit.is_some();
                    record.refuse(name, refusal);
                }
                (PolicyMode::Warn, Conclusion::Deny(refusal)) => {
                    record.warnings.push(format!("{name}: {}", refusal.message));
                }
                (PolicyMode::DryRun, Conclusion::Deny(_)) => {}
            }
        }
        self.finish(last, record);
    }

    /// Says where something happened.
    fn locate(&self, step: &mut PolicyStep, index: usize, position: Option<SourcePosition>) {
        let Some(position) = position else {
            return;
        };
        step.line = Some(position.line);
        step.column = Some(position.column);
        if position.text != self.set.text_of(index) {
            step.source = Some(self.set.source_of(position).to_owned());
        }
    }

    /// Runs one policy.
    fn policy(&mut self, index: usize, mode: PolicyMode) -> Conclusion {
        self.may_have_changed |= !self.set.reads_only(index);
        let scope = match mode {
            PolicyMode::Enforce => self.shared_scope(),
            // Changes are not kept: it gets a scope of its own.
            PolicyMode::Warn | PolicyMode::DryRun => self.separate_scope(),
        };
        let returned = scope.and_then(|scope| match self.set.text_of(index) {
            Text::Module(number) => self.default_export(scope, number, mode),
            _ => {
                let function: Function<'js> = scope.make.call((index,))?;
                function.call(()).map(Some)
            }
        });
        let settled = match returned {
            Ok(Some(value)) => self.settle(value).map(Some),
            other => other,
        };
        let conclusion = match settled {
            Ok(Some(value)) => self.returned(&value),
            Ok(None) => {
                let text = "unable to evaluate policy:its default export is not a function";
                Conclusion::Deny(Failure::new(text.to_owned()).into())
            }
            Err(rquickjs::Error::Exception) => {
                let (text, position) = self.exception();
                Conclusion::Deny(self.thrown(&text, position))
            }
            Err(error) => Conclusion::Deny(self.thrown(&error.to_string(), None)),
        };
        let position = match &conclusion {
            Conclusion::Deny(refusal) => refusal.position,
            _ => None,
        };
        let said = self.state.verdict_call.take();
        if let Some(limit) = self.limit() {
            let failure = self.over(limit);
            self.recover(limit);
            return Conclusion::Deny(
                Failure {
                    position,
                    ..failure
                }
                .into(),
            );
        }
        if let Err(failure) = self.keep_context() {
            return Conclusion::Deny(failure.into());
        }
        match said {
            Some((VerdictCall::Exit, _)) => Conclusion::Pass,
            Some((VerdictCall::Allow { message }, _)) => Conclusion::Allow(message),
            Some((
                VerdictCall::Deny {
                    message,
                    reason,
                    code,
                },
                trace,
            )) => Conclusion::Deny(Refusal {
                message: never_empty(message),
                reason: reason.map_or(Cow::Borrowed(VIOLATES_POLICY), Cow::Owned),
                code,
                position: self.set.program().position_of_trace(&trace),
                limit: None,
                failure: false,
            }),
            None => conclusion,
        }
    }

    /// Calls the default export of a module; none if it is not a function.
    fn default_export(
        &mut self,
        scope: PolicyScope<'js>,
        number: usize,
        mode: PolicyMode,
    ) -> rquickjs::Result<Option<Js<'js>>> {
        let link = match scope.link {
            Some(link) => link,
            None => {
                let first = self.set.names().len();
                let linker = self.tools.get(Tool::Linker)?;
                let link: Function<'js> = linker.call((scope.make, first))?;
                if let (PolicyMode::Enforce, Some(scope)) = (mode, &mut self.scope) {
                    scope.link = Some(link.clone());
                }
                link
            }
        };
        let entry: Option<Function<'js>> = self.tools.get(Tool::Entry)?.call((link, number))?;
        entry.map(|entry| entry.call(())).transpose()
    }

    /// Waits for a promise by running what is to be done meanwhile.
    fn settle(&self, value: Js<'js>) -> rquickjs::Result<Js<'js>> {
        let Some(promise) = value.as_promise().cloned() else {
            return Ok(value);
        };
        loop {
            match promise.state() {
                PromiseState::Pending => {}
                _ => return Self::settled(&promise),
            }
            if self.state.is_late() {
                return Err(rquickjs::Error::Unknown);
            }
            if !self.ctx.execute_pending_job() {
                let message = "the promise it returned can't ever be settled";
                return Err(rquickjs::Exception::throw_message(self.ctx, message));
            }
        }
    }

    fn settled(promise: &Promise<'js>) -> rquickjs::Result<Js<'js>> {
        promise.result().unwrap_or(Err(rquickjs::Error::Unknown))
    }

    /// The text and position of what was thrown.
    fn exception(&self) -> (String, Option<SourcePosition>) {
        let error = self.ctx.catch();
        let trace: rquickjs::Result<String> = self
            .tools
            .get(Tool::Trace)
            .and_then(|trace| trace.call((error.clone(),)));
        let position = trace
            .ok()
            .and_then(|trace| self.set.program().position_of_trace(&trace));
        (self.describe(&error), position)
    }

    fn describe(&self, value: &Js<'js>) -> String {
        let text: rquickjs::Result<String> = self
            .tools
            .get(Tool::Describe)
            .and_then(|describe| describe.call((value.clone(),)));
        text.unwrap_or_else(|_| {
            let _ = self.ctx.catch();
            value.type_name().to_owned()
        })
    }

    /// The limit that was hit, whether or not the policy caught it.
    fn limit(&self) -> Option<PolicyLimit> {
        self.state.is_late();
        let collected = self.realm.had_garbage_collection(self.ctx, &self.tools);
        if !matches!(collected, Ok(false)) {
            let _ = self.ctx.catch();
            self.state.note(PolicyLimit::Memory);
        }
        self.state.hit()
    }

    fn over(&self, limit: PolicyLimit) -> Failure {
        Failure {
            limit: Some(limit),
            ..Failure::new(limit_message(limit, self.limits))
        }
    }

    /// Goes on after a limit; the realm goes when the evaluation ends.
    fn recover(&mut self, limit: PolicyLimit) {
        if limit == PolicyLimit::Deadline {
            return;
        }
        self.realm.doom();
        self.state.take_hit();
        self.ctx.run_gc();
        if self.realm.watch_memory(self.ctx, &self.tools).is_err() {
            let _ = self.ctx.catch();
        }
    }

    fn write_host_calls(&self, name: &str, record: &mut Record) {
        for mut call in self.state.host_calls.take() {
            name.clone_into(&mut call.policy);
            record.host_calls.push(call);
        }
    }

    fn write_unknown(&self, name: &str, record: &mut Record) {
        if self.input.replay.is_none() {
            return;
        }
        for missing in self.state.unknown.take() {
            let unknown = Unknown {
                policy: name.to_owned(),
                missing,
            };
            if record.unknown.len() < KEPT && !record.unknown.contains(&unknown) {
                record.unknown.push(unknown);
            }
        }
    }

    fn write_console(&self, index: usize, name: &str, record: &mut Record) {
        let own = self.set.text_of(index);
        for (level, text, trace) in self.state.console.take() {
            let position = self.set.program().position_in(own, &trace);
            record.console.push(ConsoleLine {
                policy: name.to_owned(),
                line: position.map(|p| p.line),
                level,
                text,
            });
        }
    }
}

fn never_empty(message: String) -> String {
    if message.is_empty() {
        "request denied by policy".to_owned()
    } else {
        message
    }
}
