//! A hardened realm: one engine whose built-ins can't be changed, used for many evaluations.

mod call;
mod natives;

use std::cell::{Cell, RefCell};
use std::fmt;
use std::rc::Rc;
use std::time::Duration;

use rquickjs::context::EvalOptions;
use rquickjs::function::This;
use rquickjs::{Array, Context, Ctx, Function, Object, Persistent, Runtime, Value as Js};

use crate::evaluation_thread::EvaluationThread;
use crate::global_context::GlobalContext;
use crate::host_access::HostAccess;
use crate::limits::Limits;
use crate::policy_set::PolicySet;
use crate::program;
use crate::state::State;

const METER: &str = include_str!("realm/natives/meter.js");
const TEXTS: &str = include_str!("realm/natives/texts.js");
const PRELUDE: &str = include_str!("realm/prelude.js");
const PINNING: &str = include_str!("realm/pinning.js");
const HARDEN: &str = include_str!("realm/harden.js");

/// What replaces natives that would not stop at a deadline: a name and a text each. They get the
/// meter, and what the one for texts gives.
const NATIVES: [(&str, &str); 4] = [
    ("patterns", include_str!("realm/natives/patterns.js")),
    ("lists", include_str!("realm/natives/lists.js")),
    ("keyed", include_str!("realm/natives/keyed.js")),
    ("numbers", include_str!("realm/natives/numbers.js")),
];

/// Below the memory limit by so much, the first garbage collection comes.
const HEADROOM: usize = 128 << 10;

/// An evaluation longer than this is followed by a full garbage collection.
const LONG: Duration = Duration::from_millis(5);

/// A realm could not be made.
#[derive(Debug, thiserror::Error)]
#[error("cannot create a JavaScript realm: {0}")]
pub(crate) struct RealmError(pub(crate) String);

/// Functions the prelude offers to the evaluation.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Tool {
    Begin,
    Deref,
    Describe,
    Enter,
    Entry,
    Kind,
    Lazy,
    Linker,
    Plain,
    Sentinel,
    Sweep,
    Trace,
    Unseen,
}

/// Their names, in the same order.
const TOOLS: [&str; 13] = [
    "begin", "deref", "describe", "enter", "entry", "kind", "lazy", "linker", "plain", "sentinel",
    "sweep", "trace", "unseen",
];

type Handle = Persistent<Function<'static>>;

/// The tools, for the time of one evaluation.
#[derive(Debug, Clone)]
pub(crate) struct Tools<'a, 'js> {
    handles: &'a [Handle],
    ctx: Ctx<'js>,
}

impl<'js> Tools<'_, 'js> {
    pub(crate) fn get(&self, tool: Tool) -> rquickjs::Result<Function<'js>> {
        let handle = self.handles.get(tool as usize).cloned();
        handle.ok_or(rquickjs::Error::Unknown)?.restore(&self.ctx)
    }
}

/// One engine with the policies compiled in it. The order of the fields is the order of dropping:
/// what is kept must go before the engine it is kept in.
pub(crate) struct Realm {
    program: Option<Handle>,
    tools: Vec<Handle>,
    sentinel: RefCell<Option<Persistent<Js<'static>>>>,
    context: Context,
    runtime: Runtime,
    pub(crate) state: Rc<State>,
    limits: Limits,
    doomed: Cell<bool>,
}

impl fmt::Debug for Realm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Realm").finish_non_exhaustive()
    }
}

impl Realm {
    /// A realm to compile in. It is not hardened, so nothing may run in it.
    pub(crate) fn for_compiling() -> Result<Self, RealmError> {
        let shared = GlobalContext::new(0);
        let (thread, access) = (EvaluationThread::default(), HostAccess::none());
        Self::bare(None, &Limits::default(), &shared, thread, &access)
    }

    fn bare(
        set: Option<&PolicySet>,
        limits: &Limits,
        shared: &GlobalContext,
        thread: EvaluationThread,
        access: &HostAccess,
    ) -> Result<Self, RealmError> {
        let state = Rc::new(State::of(thread));
        let fail = |e: rquickjs::Error| RealmError(e.to_string());
        let runtime = Runtime::new().map_err(fail)?;
        runtime.set_memory_limit(limits.memory);
        runtime.set_max_stack_size(limits.stack);
        runtime.set_gc_threshold(limits.memory.saturating_sub(HEADROOM));
        let clock = Rc::clone(&state);
        runtime.set_interrupt_handler(Some(Box::new(move || clock.is_late())));
        let context = Context::full(&runtime).map_err(fail)?;
        let modules = set.map(PolicySet::modules).unwrap_or_default();
        let tools = context.with(|ctx| {
            natives::functions(&ctx, &state, shared, access, limits, modules)
                .and_then(|host| prepare(&ctx, host, limits, set.is_some()))
                .map_err(|e| RealmError(format!("{e}: {:?}", ctx.catch())))
        })?;
        Ok(Self {
            program: None,
            tools,
            sentinel: RefCell::default(),
            context,
            runtime,
            state,
            limits: limits.clone(),
            doomed: Cell::new(false),
        })
    }

    /// A realm with these policies.
    pub(crate) fn new(
        set: &PolicySet,
        limits: &Limits,
        shared: &GlobalContext,
        thread: EvaluationThread,
        access: &HostAccess,
    ) -> Result<Self, RealmError> {
        let mut realm = Self::bare(Some(set), limits, shared, thread, access)?;
        realm.state.expect_marks(set.marks());
        let program = realm.context.with(|ctx| {
            evaluate(&ctx, &set.program().text, program::FILE)
                .map(|program: Function<'_>| Persistent::save(&ctx, program))
                .map_err(|e| RealmError(format!("{e}: {:?}", ctx.catch())))
        })?;
        realm.program = Some(program);
        realm.settle();
        Ok(realm)
    }

    /// Enters the realm with its tools.
    pub(crate) fn enter<'a, R>(
        &'a self,
        act: impl for<'js> FnOnce(&Ctx<'js>, Tools<'a, 'js>) -> rquickjs::Result<R>,
    ) -> rquickjs::Result<R> {
        self.context.with(|ctx| {
            let tools = Tools {
                handles: &self.tools,
                ctx: ctx.clone(),
            };
            let result = act(&ctx, tools);
            if result.is_err() {
                let _ = ctx.catch();
            }
            result
        })
    }

    /// The function that starts the program of the policies.
    pub(crate) fn program<'js>(&self, ctx: &Ctx<'js>) -> rquickjs::Result<Function<'js>> {
        match &self.program {
            Some(program) => program.clone().restore(ctx),
            None => Err(rquickjs::Error::Unknown),
        }
    }

    /// Makes sure that there is a sentinel: it lives until the first garbage collection.
    pub(crate) fn watch_memory<'js>(
        &self,
        ctx: &Ctx<'js>,
        tools: &Tools<'_, 'js>,
    ) -> rquickjs::Result<()> {
        if self.had_garbage_collection(ctx, tools)? {
            let sentinel: Js<'js> = tools.get(Tool::Sentinel)?.call(())?;
            let sentinel = Persistent::save(ctx, sentinel);
            self.sentinel.replace(Some(sentinel));
        }
        Ok(())
    }

    /// Whether garbage was collected since the sentinel was made: memory was nearly all used.
    pub(crate) fn had_garbage_collection<'js>(
        &self,
        ctx: &Ctx<'js>,
        tools: &Tools<'_, 'js>,
    ) -> rquickjs::Result<bool> {
        let Some(sentinel) = self.sentinel.borrow().clone() else {
            return Ok(true);
        };
        let sentinel = sentinel.restore(ctx)?;
        let watched: Js<'js> = tools.get(Tool::Deref)?.call((This(sentinel),))?;
        Ok(watched.is_undefined())
    }

    /// Makes sure that the realm is not used again.
    pub(crate) fn doom(&self) {
        self.doomed.set(true);
    }

    /// Cleans up after an evaluation that took so long. False if something may have been left behind, so that the
    /// realm must go.
    pub(crate) fn clean_after(&self, took: Duration) -> bool {
        self.state.deadline.set(None);
        if self.doomed.get() || self.runtime.is_job_pending() {
            return false;
        }
        let swept = self.enter(|_, tools| tools.get(Tool::Sweep)?.call::<_, bool>(()));
        if !matches!(swept, Ok(true)) || self.state.take_hit().is_some() {
            return false;
        }
        if took > LONG {
            self.runtime.run_gc();
        }
        self.settle();
        true
    }

    /// Collects garbage of note, then none until memory is nearly all used.
    fn settle(&self) {
        /// Garbage below this, with the realm itself (about 2 MiB), may stay.
        const EASY: usize = 6 << 20;
        self.runtime
            .set_gc_threshold(EASY.min(self.limits.memory / 4));
        let _ = self.enter(|ctx, _| Object::new(ctx.clone()).map(drop));
        self.runtime
            .set_gc_threshold(self.limits.memory.saturating_sub(HEADROOM));
    }
}

fn prepare<'js>(
    ctx: &Ctx<'js>,
    host: Object<'js>,
    limits: &Limits,
    is_hardened: bool,
) -> rquickjs::Result<Vec<Handle>> {
    let longest = u32::try_from(limits.longest_list()).unwrap_or(u32::MAX);
    let meter: Function<'_> = evaluate(ctx, METER, "meter")?;
    let meter: Object<'_> = meter.call((host.clone(), longest))?;
    let texts: Function<'_> = evaluate(ctx, TEXTS, "texts")?;
    let texts: Object<'_> = texts.call((meter.clone(),))?;
    for (name, text) in NATIVES {
        let natives: Function<'_> = evaluate(ctx, text, name)?;
        natives.call::<_, ()>((meter.clone(), texts.clone()))?;
    }
    let prelude: Function<'_> = evaluate(ctx, PRELUDE, "prelude")?;
    let replace: Function<'_> = meter.get("replace")?;
    let tools: Object<'_> = prelude.call((host.clone(), replace))?;
    evaluate::<Function<'_>>(ctx, PINNING, "pinning")?.call::<_, ()>(())?;
    if is_hardened {
        let harden: Function<'_> = evaluate(ctx, HARDEN, "harden")?;
        let extra = Array::new(ctx.clone())?;
        extra.set(0, tools.clone())?;
        extra.set(1, host)?;
        harden.call::<_, u32>((extra,))?;
        tools.get::<_, Function<'_>>("seal")?.call::<_, ()>(())?;
    }
    let handle = |name: &str| {
        let tool: Function<'js> = tools.get(name)?;
        Ok(Persistent::save(ctx, tool))
    };
    TOOLS.into_iter().map(handle).collect()
}

/// Evaluates a script in sloppy mode.
pub(crate) fn evaluate<'js, V: rquickjs::FromJs<'js>>(
    ctx: &Ctx<'js>,
    text: &str,
    file: &str,
) -> rquickjs::Result<V> {
    let mut options = EvalOptions::default();
    options.strict = false;
    options.filename = Some(file.to_owned());
    ctx.eval_with_options(text, options)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use portcullis_core::clock;
    use serde_json::json;

    use super::*;
    use crate::evaluate;
    use crate::input::Input;
    use crate::sources::{PolicySource, Sources};

    #[test]
    fn memory_is_given_back() {
        let code = "const n = object.n; let all = [];
            for (let i = 0; i < n; i++) { const a = { text: 'x'.repeat(1000) + i }; a.self = a; all.push(a); }
            left = all; ac.x = all; return true";
        let sources = Sources {
            policies: vec![PolicySource::body("P", code)],
            ..Sources::default()
        };
        let (set, limits) = (PolicySet::compile(&sources).unwrap(), Limits::default());
        let shared = GlobalContext::new(0);
        let access = HostAccess::none();
        let realm =
            Realm::new(&set, &limits, &shared, EvaluationThread::default(), &access).unwrap();
        let used = |realm: &Realm| realm.runtime.memory_usage().malloc_size;
        let before = used(&realm);
        let run = |n: u32| {
            let deadline = clock::monotonic() + Duration::from_secs(60);
            realm.state.deadline.set(Some(deadline));
            let input = Arc::new(Input::new(&json!({"n": n})));
            evaluate::run(&realm, &set, &input, &limits)
        };
        // Far more in all than the limit is.
        for _ in 0..20 {
            assert!(run(8_000).denial().is_none());
            assert!(realm.clean_after(Duration::ZERO));
            let grown = used(&realm) - before;
            assert!(grown < 5 << 20, "{grown}");
        }
        assert!(realm.clean_after(2 * LONG));
        let grown = used(&realm) - before;
        assert!(grown < 64 << 10, "{grown}");
        assert!(run(100_000).denial().is_some());
        assert!(
            !realm.clean_after(2 * LONG),
            "one that hit a limit is not used again"
        );
    }
}
