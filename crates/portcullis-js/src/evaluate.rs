//! One evaluation: the policies of a set over one object, in order.

mod record;

use std::sync::Arc;
use std::sync::atomic::Ordering;

use rquickjs::{Array, Ctx, Function, Object, Promise, Value as Js, promise::PromiseState};
use serde_json::Value;

pub(crate) use record::limit_message;
use record::{Conclusion, Failure, Record, Refusal};

use crate::compile::PolicySet;
use crate::convert::{Reader, Unreadable, to_js};
use crate::input::{Input, Plan};
use crate::lazy;
use crate::limits::{Limit, Limits};
use crate::outcome::{ConsoleLine, Evaluation, Mode, Outcome, Step, Verdict};
use crate::realm::{Realm, Tools};
use crate::source::Place;
use crate::state::{Said, State};

/// A policy's own no.
const VIOLATES_POLICY: &str = "VIOLATES_POLICY";

/// Runs the policies. The realm's deadline must have been set.
pub(crate) fn run(realm: &Realm, set: &PolicySet, input: &Input, limits: &Limits) -> Evaluation {
    let state = &realm.state;
    state.take_hit();
    state.said.take();
    state.warnings.take();
    state.console.take();
    state.output_left.set(limits.output);

    let mut record = Record::default();
    let ran = realm.enter(|ctx, tools| {
        let mut run = Run::new(ctx, tools, realm, set, input, limits)?;
        run.all(&mut record);
        Ok(())
    });
    if ran.is_err() {
        let name = set.names().first().map_or("policies", String::as_str);
        record.refuse(name, Failure::of_engine(state, limits).into());
    }
    state.lease.take();
    state.nodes.borrow_mut().clear();
    record.into_evaluation()
}

/// The policies' functions, with the object they share.
#[derive(Debug, Clone)]
struct World<'js> {
    object: Js<'js>,
    functions: Array<'js>,
}

struct Run<'a, 'js> {
    ctx: &'a Ctx<'js>,
    tools: Tools<'js>,
    realm: &'a Realm,
    state: &'a State,
    set: &'a PolicySet,
    input: &'a Input,
    limits: &'a Limits,
    /// The `GlobalContext` of this evaluation, once used.
    cell: Object<'js>,
    /// What the `GlobalContext` was after the last policy that left it in order.
    context: Option<Value>,
    sentinel: Js<'js>,
    /// What enforced policies share.
    world: Option<World<'js>>,
}

impl<'a, 'js> Run<'a, 'js> {
    fn new(
        ctx: &'a Ctx<'js>,
        tools: Tools<'js>,
        realm: &'a Realm,
        set: &'a PolicySet,
        input: &'a Input,
        limits: &'a Limits,
    ) -> rquickjs::Result<Self> {
        let sentinel = tools.get("sentinel")?.call(())?;
        Ok(Self {
            ctx,
            tools,
            realm,
            state: &realm.state,
            set,
            input,
            limits,
            cell: Object::new(ctx.clone())?,
            context: None,
            sentinel,
            world: None,
        })
    }

    fn all(&mut self, record: &mut Record) {
        let mut last = None;
        for (index, name) in self.set.names().iter().enumerate() {
            let plan = self.input.plan(index);
            let mut step = Step {
                name: name.clone(),
                mode: Mode::Enforce,
                outcome: Outcome::Skip,
                message: None,
                line: None,
                column: None,
                limit: None,
            };
            let Plan::Run(mode) = plan else {
                record.steps.push(step);
                continue;
            };
            step.mode = mode;
            if record.verdict.is_some() {
                record.steps.push(step);
                continue;
            }
            self.state.thread.policy.store(index, Ordering::Relaxed);
            let conclusion = self.policy(index, mode);
            let warnings = self.state.warnings.take();
            self.write_console(index, name, record);
            if mode == Mode::Enforce {
                last = Some(name.as_str());
            }
            step.outcome = match &conclusion {
                Conclusion::Pass if warnings.is_empty() => Outcome::Pass,
                Conclusion::Pass => Outcome::Warn,
                Conclusion::Allow => Outcome::Allow,
                Conclusion::Deny(refusal) if refusal.failure => Outcome::Error,
                Conclusion::Deny(_) => Outcome::Deny,
            };
            if step.outcome == Outcome::Warn {
                step.message = warnings.first().cloned();
            }
            if mode != Mode::DryRun {
                let named = warnings.into_iter().map(|w| format!("{name}: {w}"));
                record.warnings.extend(named);
            }
            if let Conclusion::Deny(refusal) = &conclusion {
                step.message = Some(refusal.message.clone());
                step.limit = refusal.limit;
                let own = refusal.place.filter(|p| p.policy == Some(index));
                step.line = own.map(|p| p.line);
                step.column = own.map(|p| p.column);
            }
            record.steps.push(step);
            match (mode, conclusion) {
                (_, Conclusion::Pass) | (Mode::Warn | Mode::DryRun, Conclusion::Allow) => {}
                (Mode::Enforce, Conclusion::Allow) => record.verdict = Some(Verdict::Allow),
                (Mode::Enforce, Conclusion::Deny(refusal)) => record.refuse(name, refusal),
                (Mode::Warn, Conclusion::Deny(refusal)) => {
                    record.warnings.push(format!("{name}: {}", refusal.message));
                }
                (Mode::DryRun, Conclusion::Deny(_)) => {}
            }
        }
        self.finish(last, record);
    }

    /// Reads back what the policies changed.
    fn finish(&mut self, last: Option<&str>, record: &mut Record) {
        if let (Some(context), Some(lease)) =
            (self.context.take(), self.state.lease.borrow().as_ref())
        {
            lease.store(context);
        }
        if matches!(record.verdict, Some(Verdict::Deny(_))) {
            return;
        }
        match self.object_now() {
            Ok(changed) => record.object = changed,
            Err(failure) => {
                let name = last.unwrap_or("policies");
                if let Some(step) = record.steps.iter_mut().rfind(|s| s.name == name) {
                    step.outcome = Outcome::Error;
                    step.message = Some(failure.message.clone());
                    step.limit = failure.limit;
                }
                record.refuse(name, failure.into());
            }
        }
    }

    /// The shared object, if it changed.
    fn object_now(&mut self) -> Result<Option<Value>, Failure> {
        let Some(world) = self.world.clone() else {
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
            Unreadable::TooLarge => self.over(Limit::Memory),
            Unreadable::Engine => {
                let text = self.describe(&self.ctx.catch());
                Failure::new(format!("unable to calculate the object diff:{text}"))
            }
        })
    }

    fn read(
        &self,
        js: &Js<'js>,
        original: &Value,
        budget: usize,
    ) -> Result<Option<Value>, Unreadable> {
        Reader::new(self.ctx, self.state, &self.tools, original, budget)?.changed(js)
    }

    /// Runs one policy.
    fn policy(&mut self, index: usize, mode: Mode) -> Conclusion {
        let world = match mode {
            Mode::Enforce => self.shared_world(),
            // Changes are not kept: it gets a world of its own.
            Mode::Warn | Mode::DryRun => self.separate_world(),
        };
        let returned = world.and_then(|world| {
            let function: Function<'js> = world.functions.get(index)?;
            let value: Js<'js> = function.call(())?;
            self.settle(value)
        });
        let exception = match &returned {
            Err(rquickjs::Error::Exception) => Some(self.exception()),
            Err(error) => Some((error.to_string(), None)),
            Ok(_) => None,
        };
        let conclusion = match (returned, exception) {
            (_, Some((text, place))) => Conclusion::Deny(self.thrown(&text, place)),
            (Ok(value), None) => self.returned(&value),
            (Err(_), None) => Conclusion::Pass,
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
                reason: reason.unwrap_or_else(|| VIOLATES_POLICY.to_owned()),
                code,
                place: self.set.program().place_of_trace(&trace),
                limit: None,
                failure: false,
            }),
            None => conclusion,
        }
    }

    /// What a returned value means.
    fn returned(&self, value: &Js<'js>) -> Conclusion {
        if value.is_undefined() {
            return Conclusion::Pass;
        }
        let refuse = |message: String| {
            Conclusion::Deny(Refusal {
                message,
                reason: VIOLATES_POLICY.to_owned(),
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
                    .get("kind")
                    .and_then(|kind| kind.call((value.clone(),)));
                let kind = kind.unwrap_or_default();
                let mut text = self.describe(value);
                if let Some((end, _)) = text.char_indices().nth(200) {
                    text.truncate(end);
                }
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
        let plain: Array<'js> = self.tools.get("plain").ok()?.call((value.clone(),)).ok()?;
        plain.get(0).ok()
    }

    fn thrown(&self, text: &str, place: Option<Place>) -> Refusal {
        let at = place.map(|place| {
            let names = self.set.names();
            let name = place.policy.and_then(|p| names.get(p));
            let name = name.map_or("globals", String::as_str);
            format!(" at {name}:{}:{}", place.line, place.column)
        });
        Failure {
            message: format!("unable to evaluate policy:{text}{}", at.unwrap_or_default()),
            place,
            limit: None,
        }
        .into()
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
            .get("trace")
            .and_then(|trace| trace.call((error.clone(),)));
        let place = trace
            .ok()
            .and_then(|trace| self.set.program().place_of_trace(&trace));
        (self.describe(&error), place)
    }

    fn describe(&self, value: &Js<'js>) -> String {
        let text: rquickjs::Result<String> = self
            .tools
            .get("describe")
            .and_then(|describe| describe.call((value.clone(),)));
        text.unwrap_or_else(|_| {
            let _ = self.ctx.catch();
            value.type_name().to_owned()
        })
    }

    /// The limit that was hit, whether or not the policy caught it.
    fn limit(&self) -> Option<Limit> {
        self.state.is_late();
        let alive: rquickjs::Result<bool> = self
            .tools
            .get("isAlive")
            .and_then(|alive| alive.call((self.sentinel.clone(),)));
        if !matches!(alive, Ok(true)) {
            let _ = self.ctx.catch();
            self.state.note(Limit::Memory);
        }
        self.state.hit()
    }

    fn over(&self, limit: Limit) -> Failure {
        Failure {
            limit: Some(limit),
            ..Failure::new(limit_message(limit, self.limits))
        }
    }

    /// Goes on after a limit; the realm goes when the evaluation ends.
    fn recover(&mut self, limit: Limit) {
        if limit == Limit::Deadline {
            return;
        }
        self.realm.doom();
        self.state.take_hit();
        self.ctx.run_gc();
        if let Ok(sentinel) = self.tools.get("sentinel").and_then(|s| s.call(())) {
            self.sentinel = sentinel;
        }
    }

    /// Notes what the policy left in the `GlobalContext`.
    fn keep_context(&mut self) -> Result<(), Failure> {
        let (cap, before) = match self.state.lease.borrow().as_ref() {
            Some(lease) => (lease.cap(), Arc::clone(&lease.value)),
            None => return Ok(()),
        };
        let too_large = || {
            Failure::new(format!(
                "unable to evaluate policy:ac.GlobalContext would be larger than {cap} bytes"
            ))
        };
        let value = self.cell.get::<_, Js<'js>>("value");
        let changed = value
            .map_err(Unreadable::from)
            .and_then(|value| self.read(&value, &before, cap.saturating_mul(16)));
        match changed {
            Ok(None) => self.context = None,
            Ok(Some(value)) if value.to_string().len() > cap => return Err(too_large()),
            Ok(Some(value)) => self.context = Some(value),
            Err(Unreadable::TooLarge) => return Err(too_large()),
            Err(Unreadable::At(place, what)) => {
                return Err(Failure::new(format!(
                    "unable to evaluate policy:ac.GlobalContext: {what} at {place}"
                )));
            }
            Err(Unreadable::Engine) => {
                let text = self.describe(&self.ctx.catch());
                return Err(Failure::new(format!(
                    "unable to evaluate policy:ac.GlobalContext: {text}"
                )));
            }
        }
        Ok(())
    }

    fn shared_world(&mut self) -> rquickjs::Result<World<'js>> {
        if let Some(world) = &self.world {
            return Ok(world.clone());
        }
        let world = self.make_world(&self.input.object)?;
        Ok(self.world.insert(world).clone())
    }

    fn separate_world(&mut self) -> rquickjs::Result<World<'js>> {
        // An object that can't be read is refused at the end; until then the original stands for it.
        match self.object_now() {
            Ok(Some(changed)) => self.make_world(&Arc::new(changed)),
            _ => self.make_world(&self.input.object),
        }
    }

    fn make_world(&self, object: &Arc<Value>) -> rquickjs::Result<World<'js>> {
        let ctx = self.ctx;
        let lazy = self.tools.get("lazy")?;
        let object = lazy::root(ctx, self.state, object, &lazy)?;
        let old = if self.set.reads_old_object() {
            lazy::root(ctx, self.state, &self.input.old_object, &lazy)?
        } else {
            Js::new_undefined(ctx.clone())
        };
        let req = to_js(ctx, &self.input.subject.req())?;
        let ac = to_js(ctx, &self.input.subject.ac())?;
        let ac: Js<'js> = self.tools.get("dress")?.call((ac, self.cell.clone()))?;
        let functions: Array<'js> = self.realm.factory(ctx)?.call((
            object.clone(),
            old,
            req,
            ac,
            self.tools.get("allow")?,
            self.tools.get("deny")?,
            self.tools.get("warn")?,
        ))?;
        Ok(World { object, functions })
    }

    fn write_console(&self, index: usize, name: &str, record: &mut Record) {
        for (level, text, trace) in self.state.console.take() {
            let place = self.set.program().place_of_trace(&trace);
            record.console.push(ConsoleLine {
                policy: name.to_owned(),
                line: place.filter(|p| p.policy == Some(index)).map(|p| p.line),
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
