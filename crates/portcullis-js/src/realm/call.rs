//! Host calls, from the policy's arguments to its answer.

use std::panic::{self, AssertUnwindSafe};
use std::rc::Rc;
use std::sync::Arc;

use portcullis_core::clock::{self, Stopwatch};
use portcullis_core::{HostCallStep, HostFunction, PolicyLimit, Tree};
use rquickjs::{Array, Ctx, Function, Value as Js};
use serde_json::Value;

use crate::convert::to_js;
use crate::host::HostRequest;
use crate::host_access::HostAccess;
use crate::limits::Limits;
use crate::read_back::{ObjectReader, Strictness, Unreadable, size};
use crate::replay::{Missing, Replay};
use crate::state::{CALLS, State};

/// Why there is no answer.
enum CallError {
    /// The call makes no sense.
    WrongType(String),
    /// The host has no answer, or may not be asked.
    NoAnswer(String),
}

/// `call(name, arguments, object, plain, unseen)` gives `[true, answer]`, `[false, text]` of an
/// error, or `[null, text]` of a type error.
pub(super) fn function<'js>(
    ctx: &Ctx<'js>,
    state: &Rc<State>,
    access: &HostAccess,
    limits: &Limits,
) -> rquickjs::Result<Function<'js>> {
    let (state, access, limits) = (Rc::clone(state), access.clone(), limits.clone());
    let call = move |ctx: Ctx<'js>,
                     name: String,
                     arguments: Js<'js>,
                     object: Js<'js>,
                     plain: Function<'js>,
                     unseen: Js<'js>|
          -> rquickjs::Result<Array<'js>> {
        let call = HostCall {
            ctx: &ctx,
            state: &state,
            access: &access,
            limits: &limits,
            plain,
            unseen,
        };
        let answer = Array::new(ctx.clone())?;
        match call.call(&name, &arguments, &object) {
            Ok(value) => {
                answer.set(0, true)?;
                answer.set(1, to_js(&ctx, &state, &value)?)?;
            }
            Err(CallError::NoAnswer(text)) => {
                answer.set(0, false)?;
                answer.set(1, text)?;
            }
            Err(CallError::WrongType(text)) => {
                answer.set(0, Js::new_null(ctx.clone()))?;
                answer.set(1, text)?;
            }
        }
        Ok(answer)
    };
    Function::new(ctx.clone(), call)
}

struct HostCall<'a, 'js> {
    ctx: &'a Ctx<'js>,
    state: &'a State,
    access: &'a HostAccess,
    limits: &'a Limits,
    plain: Function<'js>,
    unseen: Js<'js>,
}

impl<'js> HostCall<'_, 'js> {
    fn call(&self, name: &str, arguments: &Js<'js>, object: &Js<'js>) -> Result<Value, CallError> {
        let no_answer = |text: &str| CallError::NoAnswer(format!("{name}: {text}"));
        let function: HostFunction = name
            .parse()
            .map_err(|_| no_answer("there is no such function"))?;
        let left = self.state.calls_left.get().checked_sub(1);
        let left =
            left.ok_or_else(|| no_answer(&format!("more than {CALLS} calls in one evaluation")))?;
        self.state.calls_left.set(left);
        let arguments = self.arguments(arguments);
        let arguments = arguments.map_err(|e| self.unreadable(name, "an argument", e))?;
        let object = match function.looks_at_object() {
            true => self.object(object),
            false => Ok(Value::Null),
        };
        let object = object.map_err(|e| self.unreadable(name, "the object", e))?;
        let input = self.state.input.borrow().clone();
        let (Some(input), Some(deadline)) = (input, self.state.deadline.get()) else {
            return Err(no_answer("there is no evaluation"));
        };
        if self.state.is_late() {
            return Err(no_answer("deadline exceeded"));
        }
        let request = HostRequest {
            function,
            arguments: &arguments,
            object: &object,
            original: &input.object,
            subject: input.subject.as_ref(),
            deadline,
        };
        let watch = Stopwatch::start();
        let result = match &input.replay {
            Some(replay) => self.recorded(replay, &request),
            None => {
                let ask = AssertUnwindSafe(|| self.access.host.call(&request));
                self.access.wait(Some(deadline), || {
                    panic::catch_unwind(ask).unwrap_or_else(|_| Err(format!("{name}: it failed")))
                })
            }
        };
        let duration = watch.elapsed();
        let size = arguments.iter().map(size).sum::<usize>()
            + result.as_ref().map_or_else(String::len, size);
        let kept = self.state.call_bytes_left.get().checked_sub(size);
        self.state
            .call_bytes_left
            .set(kept.ok_or_else(|| no_answer("the answers are too large"))?);
        self.state.host_calls.borrow_mut().push(HostCallStep {
            policy: String::new(),
            function,
            arguments,
            result: result.as_ref().ok().cloned(),
            error: result.as_ref().err().cloned(),
            started: Some(watch.started()),
            duration,
        });
        if clock::monotonic() >= deadline {
            self.state.note(PolicyLimit::Deadline);
            return Err(no_answer("deadline exceeded"));
        }
        result.map_err(CallError::NoAnswer)
    }

    /// What was answered then.
    fn recorded(&self, replay: &Replay, request: &HostRequest<'_>) -> Result<Value, String> {
        let function = request.function;
        replay.calls.answer(request).unwrap_or_else(|| {
            self.state
                .miss(Missing::answer(function, request.arguments));
            Err(format!("{function}: this call was not recorded"))
        })
    }

    fn arguments(&self, arguments: &Js<'js>) -> Result<Vec<Value>, Unreadable> {
        let nothing = Tree::from(&Value::Null);
        let mut reader = self.reader(&nothing, self.limits.output, Strictness::Lenient);
        Ok(match reader.read_all(arguments)? {
            Value::Array(list) => list,
            _ => Vec::new(),
        })
    }

    /// The object as it is now.
    fn object(&self, object: &Js<'js>) -> Result<Value, Unreadable> {
        let base = self.state.base.borrow().clone();
        let base = base.unwrap_or_else(|| Arc::new(Tree::from(&Value::Null)));
        let mut reader = self.reader(&base, self.limits.memory, Strictness::Strict);
        let changed = reader.changed(object)?;
        Ok(changed.unwrap_or_else(|| base.to_value()))
    }

    fn reader<'a>(
        &'a self,
        original: &'a Tree,
        budget: usize,
        strictness: Strictness,
    ) -> ObjectReader<'a, 'js> {
        let tools = (self.plain.clone(), self.unseen.clone());
        ObjectReader::new(self.ctx, self.state, tools, original, budget, strictness)
    }

    fn unreadable(&self, name: &str, what: &str, why: Unreadable) -> CallError {
        let why = match why {
            Unreadable::At(place, why) => format!("{why} at {place}"),
            Unreadable::TooLarge => "it is too large".to_owned(),
            Unreadable::Engine => {
                let _ = self.ctx.catch();
                "it can't be read".to_owned()
            }
        };
        CallError::WrongType(format!("{name}: {what} can't be converted to JSON: {why}"))
    }
}
