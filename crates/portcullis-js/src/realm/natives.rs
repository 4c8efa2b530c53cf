//! Native functions the prelude builds on.

use std::fmt::Write;
use std::rc::Rc;
use std::time::SystemTime;

use base64::Engine;
use base64::alphabet::STANDARD;
use base64::engine::{GeneralPurpose, GeneralPurposeConfig};
use portcullis_core::PolicyLimit;
use rquickjs::function::{Opt, This};
use rquickjs::{Array, Coerced, Ctx, Exception, Function, Object, Value};

use super::call;
use crate::convert;
use crate::global_context::GlobalContext;
use crate::host_access::HostAccess;
use crate::key_collisions::collide;
use crate::lazy;
use crate::limits::Limits;
use crate::replay::Missing;
use crate::state::{State, VerdictCall};

/// Messages of the engine that mean that memory, or what may be allocated at once, ran out.
const OUT_OF_MEMORY: &[&str] = &[
    "out of memory",
    "out of memory in regexp execution",
    "string too long",
    "invalid string length",
    "invalid array buffer length",
    "BigInt is too large",
    "BigInt is too large to allocate",
];

pub(super) fn functions<'js>(
    ctx: &Ctx<'js>,
    state: &Rc<State>,
    shared: &GlobalContext,
    access: &HostAccess,
    limits: &Limits,
    modules: &[String],
) -> rquickjs::Result<Object<'js>> {
    let host = Object::new(ctx.clone())?;

    let functions = access.host.functions().iter();
    let names: Vec<&str> = functions.map(|function| function.as_str()).collect();
    host.set("outside", names)?;
    host.set("call", call::function(ctx, state, access, limits)?)?;

    let s = Rc::clone(state);
    let cover = move |mark: Opt<Value<'js>>| {
        let mark = mark.0.and_then(|mark| mark.as_int());
        if let Some(mark) = mark.and_then(|mark| u32::try_from(mark).ok()) {
            s.cover(mark);
        }
    };
    host.set("cover", Function::new(ctx.clone(), cover)?)?;

    let modules = modules.to_vec();
    let module_name = move |number: usize| modules.get(number).cloned();
    host.set("moduleName", Function::new(ctx.clone(), module_name)?)?;

    let s = Rc::clone(state);
    let trace = move |ctx: Ctx<'js>, error: Value<'js>, sites: Value<'js>| -> String {
        notice(&ctx, &s, &error);
        let trace = sites.as_array().map(describe_frames).unwrap_or_default();
        let _ = ctx.catch();
        trace
    };
    host.set("trace", Function::new(ctx.clone(), trace)?)?;

    let s = Rc::clone(state);
    let late = move || s.is_late();
    host.set("late", Function::new(ctx.clone(), late)?)?;
    let crowded = |text: String| collide(&text);
    host.set("isCrowded", Function::new(ctx.clone(), crowded)?)?;

    let s = Rc::clone(state);
    let limit = move |_name: String| s.note(PolicyLimit::Memory);
    host.set("limit", Function::new(ctx.clone(), limit)?)?;

    let s = Rc::clone(state);
    let console = move |level: String, text: String, trace: String| {
        let level = match level.as_str() {
            "info" => "info",
            "warn" => "warn",
            "error" => "error",
            "debug" => "debug",
            _ => "log",
        };
        if let Some(text) = s.take_output(text) {
            s.console.borrow_mut().push((level, text, trace));
        }
    };
    host.set("console", Function::new(ctx.clone(), console)?)?;

    let s = Rc::clone(state);
    // `yes` is absent where a policy ends without an opinion.
    let say = move |yes: Option<bool>,
                    message: String,
                    reason: Option<String>,
                    code: Option<f64>,
                    trace: Opt<String>| {
        let said = match yes {
            None => VerdictCall::Exit,
            Some(true) => VerdictCall::Allow { message },
            Some(false) => {
                let code = code.filter(|c| (400.0..600.0).contains(c) && c.fract() == 0.0);
                VerdictCall::Deny {
                    message,
                    reason,
                    #[expect(
                        clippy::cast_possible_truncation,
                        clippy::cast_sign_loss,
                        reason = "between 400 and 600"
                    )]
                    code: code.map(|c| c as u16),
                }
            }
        };
        // The first word counts, even if the policy catches what ends it.
        s.verdict_call
            .borrow_mut()
            .get_or_insert((said, trace.0.unwrap_or_default()));
    };
    host.set("say", Function::new(ctx.clone(), say)?)?;

    let s = Rc::clone(state);
    let warn = move |text: String| {
        if let Some(text) = s.take_output(text) {
            s.warnings.borrow_mut().push(text);
        }
    };
    host.set("warn", Function::new(ctx.clone(), warn)?)?;

    let (s, context, waiting) = (Rc::clone(state), shared.clone(), access.clone());
    let global = move |ctx: Ctx<'js>, is_read: bool| -> rquickjs::Result<Value<'js>> {
        if s.is_replay() {
            // Its original content is not known. Here it is a new object, and nothing is kept.
            if is_read {
                s.miss(Missing::GlobalContext);
            }
            return Object::new(ctx.clone()).map(Object::into_value);
        }
        let mut lease = s.lease.borrow_mut();
        if lease.is_none() {
            let (number, deadline) = (s.thread.number, s.deadline.get());
            *lease = context.try_acquire(number, deadline).or_else(|| {
                // The holder may need this turn to compute.
                waiting.wait(deadline, || context.acquire(number, deadline))
            });
        }
        match lease.as_ref() {
            Some(lease) => convert::to_js(&ctx, &s, &lease.value),
            None => {
                s.note(PolicyLimit::Deadline);
                Err(Exception::throw_message(&ctx, "ac.GlobalContext is in use"))
            }
        }
    };
    host.set("globalContext", Function::new(ctx.clone(), global)?)?;

    // How much the context may hold, and about how much it holds.
    let s = Rc::clone(state);
    let room = move || -> (f64, f64) {
        if s.is_replay() {
            return (f64::MAX, 0.0);
        }
        let lease = s.lease.borrow();
        let (cap, size) = lease.as_ref().map_or((0, 0), |l| (l.cap(), l.size()));
        (cap as f64, size as f64)
    };
    let room = move |ctx: Ctx<'js>| -> rquickjs::Result<Array<'js>> {
        let (cap, size) = room();
        let pair = Array::new(ctx)?;
        pair.set(0, cap)?;
        pair.set(1, size)?;
        Ok(pair)
    };
    host.set("contextRoom", Function::new(ctx.clone(), room)?)?;

    let s = Rc::clone(state);
    let expand = move |ctx: Ctx<'js>, id: u32, maker: Function<'js>, unseen: Value<'js>| {
        if s.is_probing.replace(false) {
            s.probed.set(Some(id));
            return Ok(unseen);
        }
        lazy::part(&ctx, &s, id, &maker)
    };
    host.set("expand", Function::new(ctx.clone(), expand)?)?;

    // Milliseconds since 1970, in a replay.
    let s = Rc::clone(state);
    let now = move || -> Option<f64> {
        let input = s.input.borrow();
        let now = input.as_ref()?.replay.as_ref()?.now;
        let since = now.duration_since(SystemTime::UNIX_EPOCH).ok()?;
        Some(since.as_millis() as f64)
    };
    host.set("now", Function::new(ctx.clone(), now)?)?;
    let s = Rc::clone(state);
    let chance = move |is_random: bool| {
        let what = if is_random {
            "Math.random()"
        } else {
            "performance"
        };
        s.miss(Missing::Chance(what));
    };
    host.set("chance", Function::new(ctx.clone(), chance)?)?;
    host.set("replays", access.replays)?;

    let decode = |ctx: Ctx<'js>, text: Coerced<String>| {
        base64_decode(&text.0)
            .ok_or_else(|| Exception::throw_message(&ctx, "atob: this is not base64"))
    };
    host.set("atob", Function::new(ctx.clone(), decode)?)?;
    let encode = |text: String| BASE64.encode(text);
    host.set("btoa", Function::new(ctx.clone(), encode)?)?;
    Ok(host)
}

/// Notes the limit an error of the engine stands for.
fn notice<'js>(ctx: &Ctx<'js>, state: &State, error: &Value<'js>) {
    let Some(object) = error.as_object().filter(|_| error.is_error()) else {
        return;
    };
    let is_engines_own = ["RangeError", "InternalError"].iter().any(|name| {
        let prototype = ctx
            .globals()
            .get::<_, Object<'js>>(*name)
            .and_then(|constructor| constructor.get::<_, Value<'js>>("prototype"));
        match (prototype, object.get_prototype()) {
            (Ok(wanted), Some(found)) => found.as_value() == &wanted,
            _ => false,
        }
    });
    if !is_engines_own {
        return;
    }
    let Ok(message) = object.get::<_, String>("message") else {
        return;
    };
    if message == "Maximum call stack size exceeded" {
        state.note(PolicyLimit::Stack);
    } else if OUT_OF_MEMORY.contains(&message.as_str()) {
        state.note(PolicyLimit::Memory);
    }
}

fn describe_frames(sites: &Array<'_>) -> String {
    let mut trace = String::new();
    for site in sites.iter::<Object<'_>>().map_while(Result::ok) {
        let Some((file, line, column)) = describe_frame(&site) else {
            continue;
        };
        let _ = writeln!(trace, "    at {file}:{line}:{column}");
    }
    trace
}

fn describe_frame(site: &Object<'_>) -> Option<(String, i32, i32)> {
    let file: String = ask(site, "getFileName")?;
    Some((
        file,
        ask(site, "getLineNumber")?,
        ask(site, "getColumnNumber")?,
    ))
}

fn ask<'js, V: rquickjs::FromJs<'js>>(site: &Object<'js>, method: &str) -> Option<V> {
    let method: Function<'js> = site.get(method).ok()?;
    method.call((This(site.clone()),)).ok()
}

/// Strict about padding, but not about the bits that it leaves over.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &STANDARD,
    GeneralPurposeConfig::new().with_decode_allow_trailing_bits(true),
);

/// Strict, with padding; line breaks are ignored; the bytes are read as UTF-8.
fn base64_decode(text: &str) -> Option<String> {
    let bytes = match text.contains(['\r', '\n']) {
        true => BASE64.decode(text.replace(['\r', '\n'], "")).ok()?,
        false => BASE64.decode(text).ok()?,
    };
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_goes_both_ways() {
        for text in ["", "a", "ab", "abc", "é", "hello\n"] {
            let encoded = BASE64.encode(text);
            assert_eq!(base64_decode(&encoded).as_deref(), Some(text));
        }
        assert_eq!(BASE64.encode("é"), "w6k=");
        assert_eq!(base64_decode("aGVs\nbG8=").as_deref(), Some("hello"));
        assert_eq!(base64_decode("aGVsbG9=").as_deref(), Some("hello"));
        for bad in ["a", "aGVsbG8", "a-__", "====", "aA==aA=="] {
            assert_eq!(base64_decode(bad), None, "{bad}");
        }
    }
}
