//! A hardened realm: one engine whose built-ins can't be changed, used for many evaluations.

mod host;

use std::cell::Cell;
use std::fmt;
use std::rc::Rc;

use rquickjs::context::EvalOptions;
use rquickjs::{Array, Context, Ctx, Function, Object, Persistent, Runtime};

use crate::compile::PolicySet;
use crate::global_context::GlobalContext;
use crate::limits::Limits;
use crate::source;
use crate::state::{State, Thread};

const PRELUDE: &str = include_str!("realm/prelude.js");
const HARDEN: &str = include_str!("realm/harden.js");

/// Below the memory limit by so much, the first garbage collection comes.
const HEADROOM: usize = 128 << 10;

/// A realm could not be made.
#[derive(Debug, thiserror::Error)]
#[error("no JavaScript realm: {0}")]
pub(crate) struct RealmError(pub(crate) String);

/// What the prelude offers to the evaluation, for the time of one evaluation.
#[derive(Debug, Clone)]
pub(crate) struct Tools<'js> {
    object: Object<'js>,
}

impl<'js> Tools<'js> {
    pub(crate) fn get(&self, name: &str) -> rquickjs::Result<Function<'js>> {
        self.object.get(name)
    }
}

/// One engine with the policies compiled in it. The order of the fields is the order of dropping:
/// what is kept must go before the engine it is kept in.
pub(crate) struct Realm {
    factory: Option<Persistent<Function<'static>>>,
    tools: Persistent<Object<'static>>,
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
        Self::bare(&Limits::default(), &shared, Thread::default(), false)
    }

    fn bare(
        limits: &Limits,
        shared: &GlobalContext,
        thread: Thread,
        is_hardened: bool,
    ) -> Result<Self, RealmError> {
        let state = Rc::new(State::of(thread));
        let fail = |e: rquickjs::Error| RealmError(e.to_string());
        let runtime = Runtime::new().map_err(fail)?;
        runtime.set_memory_limit(limits.memory);
        runtime.set_max_stack_size(limits.stack);
        let clock = Rc::clone(&state);
        runtime.set_interrupt_handler(Some(Box::new(move || clock.is_late())));
        let context = Context::full(&runtime).map_err(fail)?;
        let tools = context.with(|ctx| {
            prepare(&ctx, &state, shared, limits, is_hardened)
                .map(|tools| Persistent::save(&ctx, tools))
                .map_err(|e| RealmError(format!("{e}: {:?}", ctx.catch())))
        })?;
        Ok(Self {
            factory: None,
            tools,
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
        thread: Thread,
    ) -> Result<Self, RealmError> {
        let mut realm = Self::bare(limits, shared, thread, true)?;
        let factory = realm.context.with(|ctx| {
            evaluate(&ctx, &set.program().text, source::FILE)
                .map(|factory: Function<'_>| Persistent::save(&ctx, factory))
                .map_err(|e| RealmError(format!("{e}: {:?}", ctx.catch())))
        })?;
        realm.factory = Some(factory);
        realm.settle();
        Ok(realm)
    }

    /// Enters the realm with its tools.
    pub(crate) fn enter<R>(
        &self,
        act: impl for<'js> FnOnce(&Ctx<'js>, Tools<'js>) -> rquickjs::Result<R>,
    ) -> rquickjs::Result<R> {
        self.context.with(|ctx| {
            let object = self.tools.clone().restore(&ctx)?;
            let result = act(&ctx, Tools { object });
            if result.is_err() {
                let _ = ctx.catch();
            }
            result
        })
    }

    /// The function that makes the policies' functions.
    pub(crate) fn factory<'js>(&self, ctx: &Ctx<'js>) -> rquickjs::Result<Function<'js>> {
        match &self.factory {
            Some(factory) => factory.clone().restore(ctx),
            None => Err(rquickjs::Error::Unknown),
        }
    }

    /// Makes sure that the realm is not used again.
    pub(crate) fn doom(&self) {
        self.doomed.set(true);
    }

    /// Cleans up after an evaluation. False if something may have been left behind, so that the
    /// realm must go.
    pub(crate) fn clean(&self, thorough: bool) -> bool {
        self.state.deadline.set(None);
        if self.doomed.get() || self.runtime.is_job_pending() {
            return false;
        }
        let swept = self.enter(|_, tools| tools.get("sweep")?.call::<_, bool>(()));
        if !matches!(swept, Ok(true)) || self.state.take_hit().is_some() {
            return false;
        }
        if thorough {
            self.runtime.run_gc();
        }
        self.settle();
        true
    }

    /// Collects garbage of note, then none until memory is nearly all used.
    fn settle(&self) {
        /// Garbage below this, with the realm itself, may stay.
        const EASY: usize = 4 << 20;
        self.runtime
            .set_gc_threshold(EASY.min(self.limits.memory / 4));
        let _ = self.enter(|ctx, _| Object::new(ctx.clone()).map(drop));
        self.runtime
            .set_gc_threshold(self.limits.memory.saturating_sub(HEADROOM));
    }
}

fn prepare<'js>(
    ctx: &Ctx<'js>,
    state: &Rc<State>,
    shared: &GlobalContext,
    limits: &Limits,
    is_hardened: bool,
) -> rquickjs::Result<Object<'js>> {
    let host = host::functions(ctx, state, shared)?;
    let prelude: Function<'_> = evaluate(ctx, PRELUDE, "prelude")?;
    let longest = u32::try_from(limits.longest_list()).unwrap_or(u32::MAX);
    let tools: Object<'_> = prelude.call((host.clone(), longest))?;
    if !is_hardened {
        return Ok(tools);
    }
    let harden: Function<'_> = evaluate(ctx, HARDEN, "harden")?;
    let extra = Array::new(ctx.clone())?;
    extra.set(0, tools.clone())?;
    extra.set(1, host)?;
    harden.call::<_, u32>((extra,))?;
    tools.get::<_, Function<'_>>("seal")?.call::<_, ()>(())?;
    Ok(tools)
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
