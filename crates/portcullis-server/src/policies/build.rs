//! From the configuration to the plug-in: everything compiled, then threads started.

use std::num::NonZero;
use std::sync::Arc;

use portcullis_core::{ConfigFault, Descriptor, FailureMode, Operations, Phases, Plugin};
use portcullis_host::WorldHost;
use portcullis_js::{
    CompileFault, GlobalContext, Limits, ModuleSource, PolicyCode, PolicySet, PolicySource, Pool,
    PoolOptions, SourceName, Sources,
};
use portcullis_record::Masker;

use super::caller::Callers;
use super::observer::Observer;
use super::plugin::{PoliciesPlugin, Rule};
use crate::config::{self, Code, Fault, Position, Source};

/// Reviews that may wait for an evaluation thread.
const QUEUE: usize = 4096;

/// Policies that are known to be good.
#[derive(Debug)]
pub(crate) struct Compiled {
    set: PolicySet,
    rules: Arc<[Rule]>,
}

impl Compiled {
    /// Compiles all policies, or says everything that is wrong with them.
    pub(crate) fn new(policies: &config::Policies) -> Result<Self, Vec<Fault>> {
        let sources = Sources {
            globals: policies.globals.text().to_owned(),
            modules: policies.modules.iter().map(module).collect(),
            policies: policies.list.iter().map(policy).collect(),
            marks: u32::try_from(policies.marks.len()).unwrap_or(u32::MAX),
        };
        let set = PolicySet::compile(&sources).map_err(|faults| {
            faults
                .iter()
                .map(|f| fault(policies, f))
                .collect::<Vec<_>>()
        })?;
        let rules = policies.list.iter().map(|policy| Rule {
            matcher: policy.matcher.clone(),
            mode: policy.mode,
        });
        Ok(Self {
            set,
            rules: rules.collect(),
        })
    }

    /// Starts the threads that evaluate them.
    pub(crate) fn start(
        self,
        policies: &config::Policies,
        limits: &config::Limits,
        failure: FailureMode,
        context: GlobalContext,
        masker: Arc<Masker>,
        observer: Option<Arc<dyn Observer>>,
    ) -> Result<Arc<dyn Plugin>, String> {
        let limits = engine_limits(limits);
        let threads = match observer {
            // Nobody but the observer asks, one request after the other.
            Some(_) => 1,
            None => std::thread::available_parallelism().map_or(2, NonZero::get),
        };
        let options = PoolOptions {
            threads,
            queue: QUEUE,
        };
        let deadline = limits.deadline;
        let pool = if observer.as_ref().is_some_and(|o| o.replays()) {
            Pool::start_for_replays(self.set, limits, options)
        } else {
            let host = WorldHost::new(policies.host.clone()).map_err(|e| e.to_string())?;
            Pool::start(self.set, limits, options, context, Arc::new(host))
        };
        let pool = pool.map_err(|e| e.to_string())?;
        Ok(Arc::new(PoliciesPlugin {
            pool,
            rules: self.rules,
            default_action: policies.default_action,
            deadline,
            failures_pass: failure == FailureMode::Open,
            callers: Arc::new(Callers::default()),
            masker,
            observer,
        }))
    }
}

/// What one evaluation may use.
pub(crate) fn engine_limits(limits: &config::Limits) -> Limits {
    let bytes = |size: config::Size| usize::try_from(size.bytes()).unwrap_or(usize::MAX);
    Limits {
        deadline: limits.deadline.into(),
        memory: bytes(limits.memory),
        stack: bytes(limits.stack),
        ..Limits::default()
    }
}

/// A module as the engine takes it.
pub(crate) fn module(module: &config::Module) -> ModuleSource {
    ModuleSource {
        name: module.name.clone(),
        header: module.header.clone(),
        code: module.code.clone(),
        footer: module.footer.clone(),
    }
}

fn policy(policy: &config::Policy) -> PolicySource {
    PolicySource {
        name: policy.name.clone(),
        code: match &policy.code {
            Code::Body(code) => PolicyCode::Body(code.clone()),
            Code::Module(place) => PolicyCode::Module(*place),
        },
    }
}

/// A fault in an author's text, with the place in it.
fn fault(policies: &config::Policies, fault: &CompileFault) -> Fault {
    let text: &Source = match &fault.source {
        SourceName::Globals => &policies.globals,
        SourceName::Policy(name) => match policies.list.iter().find(|p| p.name == *name) {
            Some(policy) => &policy.text,
            None => &policies.globals,
        },
        SourceName::Module(name) => match policies.modules.iter().find(|m| m.name == *name) {
            Some(module) => &module.text,
            None => &policies.globals,
        },
    };
    let position = Position {
        line: fault.line.into(),
        column: fault.column.into(),
    };
    text.fault(Some(position), "", fault.message.clone())
}

/// What is known of the plug-in before it is made. It is made from the policies of the configuration,
/// and takes none of its own.
pub(crate) fn descriptor(made: Option<Arc<dyn Plugin>>) -> Descriptor {
    Descriptor {
        name: super::NAME,
        summary: "Asks the policies in JavaScript, in their order",
        phases: Phases::ADMIT,
        operations: Operations::ALL,
        schema: None,
        factory: Box::new(move |configuration| {
            if configuration.is_some() {
                let message = "it takes no configuration: use `policies` and `policyDirs`";
                return Err(vec![ConfigFault::at("", message)]);
            }
            made.clone()
                .ok_or_else(|| vec![ConfigFault::at("", "there are no policies here")])
        }),
    }
}
