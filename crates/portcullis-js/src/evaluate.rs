//! One evaluation: the policies of a set over one object, in order.

mod meaning;
mod record;
mod world;

use std::borrow::Cow;
use std::sync::Arc;

use portcullis_core::clock::Stopwatch;
use portcullis_core::{PolicyLimit, PolicyMode, PolicyOutcome, PolicyStep, Tree};
use rquickjs::{Ctx, Function, Object, Promise, Value as Js, promise::PromiseState};
use serde_json::Value;

use record::{Conclusion, Failure, Record, Refusal};
pub(crate) use record::{late, limit_message};
use world::World;

use crate::compile::PolicySet;
use crate::convert::to_js;
use crate::input::{Input, Plan};
use crate::limits::Limits;
use crate::outcome::{ConsoleLine, Evaluation, Verdict};
use crate::read_back::{Reader, Strictness, Unreadable};
use crate::realm::{Realm, Tool, Tools};
use crate::replay::{KEPT, Unknown};
use crate::source::{Place, Text};
use crate::state::{Said, State};

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
    world: Option<World<'js>>,
    /// Whether a policy ran that could have changed the object.
    may_have_changed: bool,
    /// Whether the last policy ran in the shared world.
    is_in_shared: bool,
    /// Where failures pass: the object after the last policy that did not fail, if it changed.
    kept: Option<Arc<Tree>>,
    /// In a replay: the object after the last policy, if it changed.
    seen: Option<Value>,
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
        let may_change = |index: usize| input.plan(index) != Plan::Skip && !set.is_quiet(index);
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
            world: None,
            may_have_changed: false,
            is_in_shared: false,
            kept: None,
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
            let is_refused = matches!(record.verdict, Some(Verdict::Deny(_)));
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
                && self.input.replay.is_some()
                && self.is_changed_by(index, &conclusion)
            {
                record.changed_by.push(name.clone());
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
                Conclusion::Allow => PolicyOutcome::Allow,
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
            if let Conclusion::Deny(refusal) = &conclusion {
                step.message = Some(refusal.message.clone());
                step.limit = refusal.limit;
                self.locate(&mut step, index, refusal.place);
            }
            record.steps.push(step);
            match (mode, conclusion) {
                // What is asked after a refusal changes nothing but where it ends.
                (PolicyMode::Enforce, Conclusion::Allow) if is_refused => is_over = true,
                (PolicyMode::Enforce, Conclusion::Deny(refusal)) if is_refused => {
                    is_over = refusal.limit.is_some();
                }
                (PolicyMode::Warn, Conclusion::Deny(_)) if is_refused => {}
                (_, Conclusion::Pass)
                | (PolicyMode::Warn | PolicyMode::DryRun, Conclusion::Allow) => {}
                (PolicyMode::Enforce, Conclusion::Allow) => record.verdict = Some(Verdict::Allow),
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
    fn locate(&self, step: &mut PolicyStep, index: usize, place: Option<Place>) {
        let Some(place) = place else {
            return;
        };
        step.line = Some(place.line);
        step.column = Some(place.column);
        if place.text != self.set.text_of(index) {
            step.source = Some(self.set.source_of(place).to_owned());
        }
    }

    /// Where failures pass, each policy's changes are kept when it ends well. Those of one that
    /// failed go with everything the policies share in memory: the next one starts afresh from
    /// what was kept.
    fn keep_or_undo(&mut self, conclusion: Conclusion) -> Conclusion {
        let failure = match conclusion {
            Conclusion::Deny(refusal) if refusal.failure => refusal,
            Conclusion::Deny(_) => return conclusion,
            Conclusion::Pass | Conclusion::Allow => match self.object_now() {
                Ok(changed) => {
                    self.kept = changed.map(|changed| Arc::new(Tree::from(&changed)));
                    return conclusion;
                }
                Err(failure) => failure.into(),
            },
        };
        self.world = None;
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
    fn is_changed_by(&mut self, index: usize, conclusion: &Conclusion) -> bool {
        if self.set.is_quiet(index) || matches!(conclusion, Conclusion::Deny(_)) {
            return false;
        }
        // An object that can't be read is refused at the end.
        let Ok(now) = self.object_now() else {
            return false;
        };
        let is_changed = now != self.seen;
        self.seen = now;
        is_changed
    }

    /// Reads back what the policies changed.
    fn finish(&mut self, last: Option<&str>, record: &mut Record) {
        if let (Some(context), Some(lease)) =
            (self.context.take(), self.state.lease.borrow().as_ref())
        {
            lease.store(context);
        }
        if matches!(record.verdict, Some(Verdict::Deny(_))) || record.is_out_of_time {
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
    fn object_now(&mut self) -> Result<Option<Value>, Failure> {
        let Some(world) = self.world.clone().filter(|_| self.may_have_changed) else {
            return Ok(None);
        };
        let (input, memory) = (self.input, self.limits.memory);
        let result = self.read(&world.object, &input.object, memory);
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

    fn read(
        &self,
        js: &Js<'js>,
        original: &Tree,
        budget: usize,
    ) -> Result<Option<Value>, Unreadable> {
        let unseen = self.tools.get(Tool::Unseen)?.call(())?;
        let tools = (self.tools.get(Tool::Plain)?, unseen);
        let strictness = Strictness::Strict;
        Reader::new(self.ctx, self.state, tools, original, budget, strictness).changed(js)
    }

    /// Runs one policy.
    fn policy(&mut self, index: usize, mode: PolicyMode) -> Conclusion {
        self.may_have_changed |= !self.set.is_quiet(index);
        let world = match mode {
            PolicyMode::Enforce => self.shared_world(),
            // Changes are not kept: it gets a world of its own.
            PolicyMode::Warn | PolicyMode::DryRun => self.separate_world(),
        };
        let returned = world.and_then(|world| match self.set.text_of(index) {
            Text::Module(number) => self.default_export(world, number, mode),
            _ => {
                let function: Function<'js> = world.make.call((index,))?;
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
                let (text, place) = self.exception();
                Conclusion::Deny(self.thrown(&text, place))
            }
            Err(error) => Conclusion::Deny(self.thrown(&error.to_string(), None)),
        };
        let place = match &conclusion {
            Conclusion::Deny(refusal) => refusal.place,
            _ => None,
        };
        let said = self.state.said.take();
        if let Some(limit) = self.limit() {
            let failure = self.over(limit);
            self.recover(limit);
            return Conclusion::Deny(Failure { place, ..failure }.into());
        }
        if let Err(failure) = self.keep_context() {
            return Conclusion::Deny(failure.into());
        }
        match said {
            Some((Said::Allow, _)) => Conclusion::Allow,
            Some((
                Said::Deny {
                    message,
                    reason,
                    code,
                },
                trace,
            )) => Conclusion::Deny(Refusal {
                message: never_empty(message),
                reason: reason.map_or(Cow::Borrowed(VIOLATES_POLICY), Cow::Owned),
                code,
                place: self.set.program().place_of_trace(&trace),
                limit: None,
                failure: false,
            }),
            None => conclusion,
        }
    }

    /// Calls what a module exports as its default; none if that is no function.
    fn default_export(
        &mut self,
        world: World<'js>,
        number: usize,
        mode: PolicyMode,
    ) -> rquickjs::Result<Option<Js<'js>>> {
        let link = match world.link {
            Some(link) => link,
            None => {
                let first = self.set.names().len();
                let linker = self.tools.get(Tool::Linker)?;
                let link: Function<'js> = linker.call((world.make, first))?;
                if let (PolicyMode::Enforce, Some(world)) = (mode, &mut self.world) {
                    world.link = Some(link.clone());
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

    /// The text and place of what was thrown.
    fn exception(&self) -> (String, Option<Place>) {
        let error = self.ctx.catch();
        let trace: rquickjs::Result<String> = self
            .tools
            .get(Tool::Trace)
            .and_then(|trace| trace.call((error.clone(),)));
        let place = trace
            .ok()
            .and_then(|trace| self.set.program().place_of_trace(&trace));
        (self.describe(&error), place)
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

    /// Notes what the policy left in the `GlobalContext`. What can't be kept is put back as it was.
    fn keep_context(&mut self) -> Result<(), Failure> {
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
            let place = self.set.program().place_in(own, &trace);
            record.console.push(ConsoleLine {
                policy: name.to_owned(),
                line: place.map(|p| p.line),
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
