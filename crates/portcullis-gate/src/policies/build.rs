//! From the configuration to the plug-in: everything compiled and built, and nothing started.

use std::num::NonZero;
use std::sync::Arc;

use portcullis_core::{Door, FailureMode, Operations, Phases, Plugin};
use portcullis_host::ExternalHost;
use portcullis_js::{
    CompileFault, GlobalContext, Guard, Host, PolicySet, PolicySource, Pool, PoolOptions,
    SourceName, Sources,
};
use portcullis_kube::cluster_objects::ClusterObjects;
use portcullis_kube::{DependsOn, Descriptor, Namespaces};
use portcullis_record::Masker;

use super::author::AuthorsWords;
use super::caller::Callers;
use super::kube_calls::KubeCalls;
use super::plugin::PoliciesPlugin;
use super::selection::Rule;
use crate::observer::Observer;
use portcullis_config as config;
use portcullis_document::{Fault, Position, Source};

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
            modules: policies.modules.iter().map(|m| m.source.clone()).collect(),
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
            words: AuthorsWords::of(policy, policies),
        });
        Ok(Self {
            set,
            rules: rules.collect(),
        })
    }

    /// Whether none of those that judge at this door can change an object.
    pub(crate) fn only_read(&self, door: Door) -> bool {
        let mut rules = self.rules.iter().enumerate();
        rules.all(|(index, rule)| !rule.matcher.is_for(door) || self.set.reads_only(index))
    }

    /// Builds the plug-in that asks them. It can't be asked before its engine was started.
    pub(crate) fn build(
        self,
        policies: &config::Policies,
        limits: &config::Limits,
        around: PolicyEnvironment,
    ) -> Result<(Arc<PoliciesPlugin>, Engine), String> {
        let PolicyEnvironment {
            failure,
            context,
            guard,
            masker,
            observer,
            namespaces,
            objects,
            threads,
        } = around;
        let limits = portcullis_js::Limits::from(limits);
        let threads = match observer {
            // Only the observer asks, one request after the other.
            Some(_) => 1,
            None => threads
                .unwrap_or_else(|| std::thread::available_parallelism().map_or(2, NonZero::get)),
        };
        let options = PoolOptions {
            threads,
            queue: QUEUE,
        };
        let deadline = limits.deadline;
        let pool = if observer.as_ref().is_some_and(|o| o.replays()) {
            Pool::build_for_replays(self.set, limits, options)
        } else {
            let given = observer.as_ref().and_then(|o| o.host());
            let host = given.map_or_else(|| external(policies, objects), Ok)?;
            Pool::build(self.set, limits, options, context, host, guard)
        };
        let pool = Arc::new(pool);
        let engine = Engine(Some(Arc::clone(&pool)));
        let plugin = PoliciesPlugin {
            pool,
            rules: self.rules,
            default_action: policies.default_action,
            deadline,
            failures_pass: failure == FailureMode::Open,
            callers: Arc::new(Callers::default()),
            namespaces,
            masker,
            observer,
        };
        Ok((Arc::new(plugin), engine))
    }
}

/// What makes the host calls of these policies.
fn external(
    policies: &config::Policies,
    objects: Arc<dyn ClusterObjects>,
) -> Result<Arc<dyn Host>, String> {
    let host = ExternalHost::new(policies.host.clone());
    let host = host.map_err(|faults| faults.on_one_line())?;
    Ok(Arc::new(KubeCalls {
        objects,
        others: Arc::new(host),
    }))
}

/// What policies are built into.
#[derive(Clone)]
pub(crate) struct PolicyEnvironment {
    /// What follows when they can't decide.
    pub(crate) failure: FailureMode,
    /// What they keep between reviews.
    pub(crate) context: GlobalContext,
    /// Which of them are evaluated in processes.
    pub(crate) guard: Guard,
    /// What is masked in what they write.
    pub(crate) masker: Arc<Masker>,
    /// Observes more of each evaluation than a verdict has.
    pub(crate) observer: Option<Arc<dyn Observer>>,
    /// What is known of namespaces, whose labels policies may be for.
    pub(crate) namespaces: Arc<dyn Namespaces>,
    /// The cluster's objects that they may look up.
    pub(crate) objects: Arc<dyn ClusterObjects>,
    /// How many evaluations compute at a time; by default as many as there are cores.
    pub(crate) threads: Option<usize>,
}

impl std::fmt::Debug for PolicyEnvironment {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PolicyEnvironment")
            .field("failure", &self.failure)
            .field("objects", &self.objects)
            .finish_non_exhaustive()
    }
}

/// What evaluates the policies of a gate; nothing where none are asked.
#[derive(Debug, Default)]
pub struct Engine(Option<Arc<Pool>>);

impl Engine {
    /// Starts it.
    pub fn start(&self) -> Result<(), String> {
        self.0.as_ref().map_or(Ok(()), |pool| {
            pool.begin()
                .map_err(|error| format!("policies can't be evaluated: {error}"))
        })
    }

    /// How many threads it has.
    #[cfg(test)]
    pub(crate) fn threads(&self) -> usize {
        self.0.as_ref().map_or(0, |pool| pool.threads())
    }

    /// Why nothing can be evaluated, if that is so.
    pub fn fault(&self) -> Option<&'static str> {
        let pool = self.0.as_ref()?;
        (pool.threads() == 0).then_some("cannot start an evaluation thread")
    }
}

fn policy(policy: &config::Policy) -> PolicySource {
    PolicySource {
        name: policy.name.clone(),
        code: policy.code.clone(),
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
        SourceName::Module(name) => {
            match policies.modules.iter().find(|m| m.source.name == *name) {
                Some(module) => &module.text,
                None => &policies.globals,
            }
        }
    };
    fault_in(text, fault)
}

/// A fault of a script at its place in this text.
pub(crate) fn fault_in(text: &Source, fault: &CompileFault) -> Fault {
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
        summary: "Evaluates JavaScript policies, in order",
        phases: Phases::ADMIT,
        operations: Operations::ALL,
        depends_on: DependsOn::Request,
        reads: Vec::new(),
        schema: None,
        factory: Box::new(move |configuration| {
            if configuration.is_some() {
                let message = "it takes no configuration: use `policies` and `policyDirs`";
                return Err(vec![Fault::at("", message)]);
            }
            made.clone()
                .ok_or_else(|| vec![Fault::at("", "there are no policies")])
        }),
    }
}
