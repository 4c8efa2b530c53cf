//! A configuration that is loaded once, and built into chains as often as needed.

use std::path::PathBuf;
use std::sync::Arc;

use nix::unistd::{getegid, geteuid};
use portcullis_core::{AuthorizerChain, Chain, PolicyStep, Step, StepOutcome, UnixPeer};
use portcullis_js::{GlobalContext, Host, may_remember};

use super::Offline;
use super::judge::{Judge, JudgeKind};
use super::observed::Observed;
use crate::authorizers;
use crate::cluster::Lookups;
use crate::entries::{self, Surroundings};
use crate::graphs::Graphs;
use crate::observer::Observer;
use crate::offline_graphs;
use crate::policies::{self, Compiled};
use crate::registry::registry;
use portcullis_config::{
    self as config, DefaultAction, Limits, Listening, LoadOptions, Loaded, MarkPlace,
};
use portcullis_document::{Fault, Faults, Source};
use portcullis_kube::cluster_objects::StaticObjects;
use portcullis_kube::{Namespace, StaticNamespaces};

/// The chain that is asked at `/authorize`.
const DEFAULT_CHAIN: &str = "default";
/// What such a chain looks like, for those who have none.
const EXAMPLE_CHAIN: &str = "for example `authorization: {authorizers: [{name: local, driver: ABAC, file: abac.jsonl}], \
                             chains: {default: [local]}}`";
/// The name of the default action among those who judge.
const DEFAULT_ACTION: &str = "default action";

/// A configuration without its listeners.
#[derive(Debug)]
pub struct Blueprint {
    loaded: Loaded,
    graphs: Graphs,
    /// All are asked, also after a denial.
    asks_on: bool,
    /// The objects of the cluster, if they are given.
    objects: Option<StaticObjects>,
    /// What answers host calls, where that is not the world outside.
    host: Option<Arc<dyn Host>>,
}

/// What policies keep between reviews.
#[derive(Debug, Clone)]
pub struct Memory(GlobalContext);

impl Blueprint {
    /// Loads a configuration.
    ///
    /// # Errors
    ///
    /// When anything in it is wrong, its listeners aside.
    pub fn load(options: &LoadOptions<'_>) -> Result<Self, Faults> {
        let mut loaded = config::load(&LoadOptions {
            listeners: Listening::Ignored,
            ..options.clone()
        })?;
        let graphs = offline_graphs::for_plugins(&loaded)?;
        // A denial may come from an object that could not be read.
        let troubles = graphs.troubles().into_iter().map(Into::into);
        loaded.warnings.extend(troubles);
        Ok(Self {
            loaded,
            graphs,
            asks_on: false,
            objects: None,
            host: None,
        })
    }

    /// A configuration without graphs that is loaded already. Host calls of its policies are answered by `host`.
    pub(crate) fn sealed(loaded: Loaded, host: Arc<dyn Host>) -> Self {
        Self {
            loaded,
            graphs: Graphs::default(),
            asks_on: false,
            objects: None,
            host: Some(host),
        }
    }

    /// Whether its policies can be compiled.
    ///
    /// # Errors
    ///
    /// Everything that is wrong with them.
    pub(crate) fn check(&self) -> Result<(), Vec<Fault>> {
        Compiled::new(&self.loaded.policies).map(|_| ())
    }

    /// Lets plug-ins and policies look up these objects, as they would those of a cluster.
    pub fn look_up(&mut self, objects: StaticObjects) {
        self.objects = Some(objects);
    }

    /// Asks all, also after a denial. The verdict stays that of the first one.
    pub fn ask_on(&mut self) {
        self.asks_on = true;
    }

    /// Whether this is the denial of what no policy allowed.
    pub fn is_default_action(&self, step: &Step) -> bool {
        step.outcome == StepOutcome::Denied
            && step.detail.as_deref() == Some(policies::REJECTED_BY_DEFAULT)
    }

    /// What is odd in the configuration, but not wrong.
    pub fn warnings(&self) -> &[portcullis_document::Warning] {
        &self.loaded.warnings
    }

    /// The files and folders it is read from, and those it names.
    pub fn files(&self) -> &[PathBuf] {
        &self.loaded.files
    }

    /// Whether there is any policy in JavaScript.
    pub fn has_policies(&self) -> bool {
        !self.loaded.policies.list.is_empty()
    }

    /// Leaves only the policies and plug-ins of these names. The policies judge CI jobs too, as
    /// those do that a controller names.
    ///
    /// # Errors
    ///
    /// When a name is unknown.
    pub fn only(&mut self, names: &[String]) -> Result<(), Faults> {
        let Loaded {
            policies, plugins, ..
        } = &mut self.loaded;
        let known: Vec<&str> = plugins
            .iter()
            .map(|plugin| plugin.name.as_str())
            .filter(|name| *name != policies::NAME)
            .chain(policies.list.iter().map(|policy| policy.name.as_str()))
            .collect();
        let unknown = names.iter().filter(|name| !known.contains(&name.as_str()));
        let faults = unknown.map(|name| {
            let message = format!("there is no policy or plug-in `{name}`");
            let fault = Source::named("--policy").fault(None, "", message);
            fault.with_known("known", name, known.iter().copied())
        });
        if let Some(faults) = Faults::from_list(faults.collect()) {
            return Err(faults);
        }
        policies.list.retain(|policy| names.contains(&policy.name));
        for policy in &mut policies.list {
            policy.matcher.also_for_jobs();
        }
        let has_policies = !policies.list.is_empty();
        plugins.retain(|plugin| match plugin.name.as_str() {
            policies::NAME => has_policies,
            _ => names.contains(&plugin.name),
        });
        Ok(())
    }

    /// The judges, in order. Policies come in place of the plug-in that evaluates them.
    pub fn judges(&self) -> Vec<Judge> {
        let mut judges = Vec::new();
        for plugin in &self.loaded.plugins {
            if plugin.name != policies::NAME {
                judges.push(Judge::new(&plugin.name, JudgeKind::Plugin));
                continue;
            }
            let all = &self.loaded.policies;
            judges.extend(all.list.iter().map(|policy| Judge {
                name: policy.name.clone(),
                kind: JudgeKind::Policy(policy.mode),
                about: policy.about.clone(),
            }));
            if all.default_action == DefaultAction::Reject {
                judges.push(Judge::new(DEFAULT_ACTION, JudgeKind::DefaultAction));
            }
        }
        judges
    }

    /// Whether what is said of a request could depend on those before it: a plug-in counts them, or a policy keeps
    /// something.
    pub fn depends_on_earlier(&self) -> bool {
        let registry = registry();
        let counts = |name: &str| {
            let plugin = registry.get(name);
            plugin.is_some_and(|plugin| plugin.depends_on.counts())
        };
        let policies = &self.loaded.policies;
        let texts = policies.list.iter().map(|policy| policy.text.text());
        let modules = policies.modules.iter().map(|module| module.text.text());
        let texts = texts.chain(modules).chain([policies.globals.text()]);
        self.loaded.plugins.iter().any(|p| counts(&p.name)) || may_remember(texts)
    }

    /// The chain of authorizers of this name; without a name `default`, or else the only one there is.
    /// Graphs are looked at once.
    ///
    /// # Errors
    ///
    /// When there is no such chain, or it can't be built.
    pub fn authorizers(&self, name: Option<&str>) -> Result<AuthorizerChain, Faults> {
        let graphs = offline_graphs::for_everything(&self.loaded)?;
        let mut faults = Vec::new();
        let mut chains = authorizers::by_chain(&self.loaded, &graphs, &mut faults);
        if let Some(faults) = Faults::from_list(faults) {
            return Err(faults);
        }
        let only = chains.keys().next().filter(|_| chains.len() == 1);
        let wanted = match (name, chains.contains_key(DEFAULT_CHAIN), only) {
            (Some(name), ..) => name.to_owned(),
            (None, false, Some(only)) => only.clone(),
            _ => DEFAULT_CHAIN.to_owned(),
        };
        if let Some(chain) = chains.remove(&wanted) {
            return Ok(chain);
        }
        if chains.is_empty() {
            let file = self.loaded.file.as_ref();
            let file = file.map_or_else(String::new, |file| file.display().to_string());
            let message = format!("no authorizer chain is configured: add one, {EXAMPLE_CHAIN}");
            return Err(Source::named(file).fault(None, "", message).into());
        }
        let message = format!("the configuration has no authorizer chain `{wanted}`");
        let fault = Source::named("--chain").fault(None, "", message);
        let known = chains.keys().map(String::as_str);
        Err(fault.with_known("chains", &wanted, known).into())
    }

    /// The user who runs this program, as the caller at a unix socket, where the configuration has
    /// policies called there.
    pub fn own_caller(&self) -> Option<UnixPeer> {
        self.loaded.by_socket.then(|| UnixPeer {
            uid: geteuid().as_raw(),
            gid: getegid().as_raw(),
            pid: i32::try_from(std::process::id()).ok(),
        })
    }

    /// The name of the plug-in that asks policies.
    pub fn policies_plugin(&self) -> &'static str {
        policies::NAME
    }

    /// The text that the line of a policy's step is in.
    pub fn text_of(&self, step: &PolicyStep) -> Option<&Arc<Source>> {
        let all = &self.loaded.policies;
        match step.source.as_deref() {
            None => {
                let policy = all.list.iter().find(|policy| policy.name == step.name)?;
                Some(&policy.text)
            }
            Some("globals") => Some(&all.globals),
            Some(name) => {
                let module = all
                    .modules
                    .iter()
                    .find(|module| module.source.name == name)?;
                Some(&module.text)
            }
        }
    }

    /// Where each mark of coverage stands; none unless it is counted.
    pub fn marks(&self) -> &[MarkPlace] {
        &self.loaded.policies.marks
    }

    /// An empty memory for policies.
    pub fn memory(&self) -> Memory {
        Memory(entries::global_context(&self.loaded))
    }

    /// Builds a chain. What is said of `namespace` goes over what the configuration says of it; labels of one without a
    /// name go over those of every namespace.
    ///
    /// # Errors
    ///
    /// When a plug-in or a policy can't be made.
    pub fn build(&self, namespace: Option<Namespace>, memory: &Memory) -> Result<Offline, Faults> {
        self.build_with(namespace, None, memory)
    }

    /// The same for a cluster with these objects, in place of those that were given for all.
    pub(super) fn build_with(
        &self,
        namespace: Option<Namespace>,
        objects: Option<&StaticObjects>,
        memory: &Memory,
    ) -> Result<Offline, Faults> {
        let mut namespaces = self.loaded.namespaces.clone();
        let is_everywhere = |given: &Namespace| given.name.is_empty();
        let everywhere = namespace.clone().filter(is_everywhere);
        if let Some(given) = namespace.filter(|given| !is_everywhere(given)) {
            let known = namespaces.iter_mut().find(|n| n.name == given.name);
            match known {
                Some(known) => {
                    known.labels.extend(given.labels);
                    known.annotations.extend(given.annotations);
                }
                None => namespaces.push(given),
            }
        }
        let namespaces = namespaces.into_iter().collect::<StaticNamespaces>();
        let everywhere = everywhere.map(|given| given.labels).unwrap_or_default();
        let namespaces = namespaces.with_labels_everywhere(everywhere);
        let mut faults = Vec::new();
        let observed = Arc::new(Observed::new(self.asks_on, self.host.clone()));
        let observer: Arc<dyn Observer> = Arc::clone(&observed) as _;
        let given = objects.or(self.objects.as_ref());
        let surroundings = Surroundings {
            namespaces: &namespaces,
            graphs: &self.graphs,
            lookups: &Lookups::offline(&self.loaded, given),
        };
        let entries = entries::entries(
            &self.loaded,
            surroundings,
            &memory.0,
            Some(observer),
            &mut faults,
        );
        if let Some(faults) = Faults::from_list(faults) {
            return Err(faults);
        }
        let for_jobs = entries.iter().filter(|(name, _)| *name == policies::NAME);
        let jobs = Chain::new(for_jobs.map(|(_, entry)| entry.clone()).collect());
        let chain = Chain::new(entries.into_iter().map(|(_, entry)| entry).collect());
        Ok(Offline {
            chain,
            jobs,
            limit: self.loaded.limits.request_deadline.into(),
            observed,
            asks_on: self.asks_on,
        })
    }

    /// The JavaScript that is run before policies.
    pub(super) fn globals(&self) -> &str {
        self.loaded.policies.globals.text()
    }

    pub(super) fn limits(&self) -> &Limits {
        &self.loaded.limits
    }
}
