//! All recorded decisions, on all cores.

use std::collections::BTreeMap;
use std::num::NonZero;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, sync_channel};
use std::thread;
use std::time::SystemTime;

use portcullis_core::Chain;
use portcullis_core::clock::Stopwatch;
use portcullis_core::sync::Mutex;
use portcullis_js::GlobalContext;
use portcullis_record::Decision;

use super::counted;
use super::current::CurrentDecision;
use super::facts::Facts;
use super::masks::Matching;
use super::policies::PoliciesOnly;
use super::report::Report;
use super::whole_chain::WholeChain;
use super::worker::{Judge, Worker};
use super::{context, outcome::Outcome};
use crate::authorizers;
use crate::cluster::Lookups;
use crate::entries::{self, Surroundings};
use crate::graphs::Graphs;
use crate::observer::Observer;
use crate::offline_graphs;
use crate::policies;
use crate::registry;
use portcullis_config::{
    self as config, ConfigSource, Listening, LoadOptions, Loaded, Matcher, Policies,
};
use portcullis_document::{Faults, Source};

/// Batches that wait, for each worker.
const WAITING: usize = 2;

/// Lines in a batch, at most.
const BATCH: usize = 64;

/// A recorded decision as text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line {
    /// Its number, from 1.
    pub number: u64,
    /// One decision.
    pub text: String,
}

/// How far it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    /// Lines that were dealt with.
    pub done: u64,
    /// Decisions that would change.
    pub changed: u64,
}

/// Why it could not be done.
#[derive(Debug, thiserror::Error)]
pub enum RunError<E> {
    /// The new set can't be made.
    #[error(transparent)]
    Invalid(#[from] Faults),
    /// The recorded decisions can't be read.
    #[error("{0}")]
    Source(E),
}

/// A policy set or configuration, ready to decide again what others decided.
#[derive(Debug)]
pub struct Replay {
    loaded: Loaded,
    graphs: Graphs,
    is_whole: bool,
    since: Option<SystemTime>,
    examples: usize,
    threads: Option<usize>,
}

impl Replay {
    /// Loads the new set. A folder of policies takes the place of the policies of what was recorded;
    /// a configuration takes the place of everything.
    ///
    /// # Errors
    ///
    /// When anything in it is wrong.
    pub fn load(options: &LoadOptions<'_>) -> Result<Self, Faults> {
        let is_whole = !matches!(options.source, ConfigSource::Policies(_));
        let mut options = LoadOptions {
            listeners: Listening::Ignored,
            ..options.clone()
        };
        if !is_whole {
            // The environment may name plug-ins; they are as recorded.
            options.admission_control = Some(vec![policies::NAME.to_owned()]);
            options.admission_control_config_file = None;
        }
        let mut loaded = config::load(&options)?;
        if let (ConfigSource::Policies(folder), true) =
            (options.source, loaded.policies.list.is_empty())
        {
            let label = folder.display().to_string();
            let message =
                "there are no policies in this folder: NAME.js, NAME.ts or a list in *.yaml";
            return Err(Source::named(label).fault(None, "", message).into());
        }
        let graphs = match is_whole {
            true => offline_graphs::for_everything(&loaded)?,
            false => Graphs::default(),
        };
        loaded
            .warnings
            .extend(graphs.troubles().into_iter().map(Into::into));
        Ok(Self::of(loaded, graphs, is_whole))
    }

    /// By what is loaded already: everything, or only its policies.
    pub(crate) fn of(loaded: Loaded, graphs: Graphs, is_whole: bool) -> Self {
        Self {
            loaded,
            graphs,
            is_whole,
            since: None,
            examples: 5,
            threads: None,
        }
    }

    /// The same, for decisions that were made at this time or later.
    #[must_use]
    pub fn since(mut self, since: Option<SystemTime>) -> Self {
        self.since = since;
        self
    }

    /// The same, keeping so many examples of each kind of change.
    #[must_use]
    pub fn examples(mut self, examples: usize) -> Self {
        self.examples = examples;
        self
    }

    /// The same, on so many cores.
    #[must_use]
    pub fn threads(mut self, threads: usize) -> Self {
        self.threads = Some(threads);
        self
    }

    /// The policies of the new set.
    pub(super) fn policies(&self) -> &Policies {
        &self.loaded.policies
    }

    /// What is odd in the new set, but not wrong.
    pub fn warnings(&self) -> &[portcullis_document::Warning] {
        &self.loaded.warnings
    }

    /// A worker of its own.
    ///
    /// # Errors
    ///
    /// When a plug-in or a policy can't be made.
    pub fn worker(&self) -> Result<Worker, Faults> {
        let mut faults = Vec::new();
        let current = Arc::new(CurrentDecision::default());
        let observer: Arc<dyn Observer> = Arc::clone(&current) as _;
        let lookups = match self.is_whole {
            true => Lookups::offline(&self.loaded, None),
            // The configuration they are for may know namespaces; it isn't there.
            false => Lookups::unread(),
        };
        let surroundings = Surroundings {
            namespaces: &self.loaded.namespaces.iter().cloned().collect(),
            graphs: &self.graphs,
            lookups: &lookups,
        };
        let context = GlobalContext::new(0);
        let entries = entries::entries(
            &self.loaded,
            surroundings,
            &context,
            Some(observer),
            &mut faults,
        );
        let authorizers = if self.is_whole {
            authorizers::by_chain(&self.loaded, &self.graphs, &mut faults)
        } else {
            BTreeMap::new()
        };
        if let Some(faults) = Faults::from_list(faults) {
            return Err(faults);
        }
        let facts = Facts::of(&match self.loaded.kube {
            Some(_) => registry::connected(),
            None => registry::registry(),
        });
        let of_policies = entries.iter().filter(|(name, _)| *name == policies::NAME);
        let of_policies = of_policies.map(|(_, entry)| entry.clone());
        let jobs = PoliciesOnly {
            chain: Chain::new(of_policies.collect()),
        };
        let entries = entries.into_iter();
        let judge = if self.is_whole {
            let mut names = self
                .loaded
                .plugins
                .iter()
                .map(|plugin| plugin.name.as_str());
            let reads_objects = names.any(|n| n != policies::NAME && !facts.is_blind(n));
            let entries = entries.map(|(name, entry)| match facts.beyond(name) {
                Some(beyond) => counted::in_place_of(name, beyond, &entry, &current),
                None => entry,
            });
            let whole = WholeChain {
                chain: Chain::new(entries.collect()),
                reads_objects,
                pending_mutation: self.loaded.pending_mutation,
            };
            Judge::WholeChain(whole, authorizers)
        } else {
            let policies = entries.filter(|(name, _)| *name == policies::NAME);
            Judge::Policies(PoliciesOnly {
                chain: Chain::new(policies.map(|(_, entry)| entry).collect()),
            })
        };
        let matchers = || self.loaded.policies.list.iter().map(|p| &p.matcher);
        let matching = Matching {
            labels: matchers().any(Matcher::looks_at_labels),
            paths: matchers().any(Matcher::looks_at_path),
        };
        Ok(Worker {
            current,
            judge,
            jobs,
            matching,
            facts,
        })
    }

    /// Decides everything again that `source` hands over, on all cores; reports progress from time to
    /// time. A source is notified when no more decisions are needed.
    ///
    /// # Errors
    ///
    /// When the new set can't be built, or the source fails.
    pub fn run<E>(
        &self,
        source: impl FnOnce(&mut dyn FnMut(Vec<Line>) -> ControlFlow<()>) -> Result<(), E>,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<Report, RunError<E>> {
        let cores = || thread::available_parallelism().map_or(2, NonZero::get);
        let count = self.threads.unwrap_or_else(cores);
        let workers: Vec<Worker> = (0..count)
            .map(|_| self.worker())
            .collect::<Result<_, _>>()?;
        let watch = Stopwatch::start();
        let (send, receive) = sync_channel::<Vec<Line>>(count * WAITING);
        let (receive, counts) = (Mutex::new(receive), Counts::default());
        let mut report = Report::new(self.examples);
        let read = thread::scope(|scope| {
            let work = |worker| {
                let (receive, counts) = (&receive, &counts);
                scope.spawn(move || self.work(&worker, receive, counts))
            };
            let at_work: Vec<_> = workers.into_iter().map(work).collect();
            let read = source(&mut |lines: Vec<Line>| {
                let mut lines = lines.into_iter();
                loop {
                    let batch: Vec<Line> = lines.by_ref().take(BATCH).collect();
                    if batch.is_empty() {
                        return ControlFlow::Continue(());
                    }
                    if send.send(batch).is_err() {
                        return ControlFlow::Break(());
                    }
                    progress(counts.progress());
                }
            });
            drop(send);
            for worker in at_work {
                if let Ok(part) = worker.join() {
                    report.absorb(part);
                }
            }
            read
        });
        progress(counts.progress());
        report.elapsed = watch.elapsed();
        read.map(|()| report).map_err(RunError::Source)
    }

    /// The life of a worker's thread.
    fn work(&self, worker: &Worker, lines: &Mutex<Receiver<Vec<Line>>>, counts: &Counts) -> Report {
        let mut report = Report::new(self.examples);
        loop {
            let batch = lines.lock().recv();
            let Ok(batch) = batch else {
                return report;
            };
            for line in batch {
                self.one(worker, &line, &mut report, counts);
            }
        }
    }

    fn one(&self, worker: &Worker, line: &Line, report: &mut Report, counts: &Counts) {
        counts.done.fetch_add(1, Ordering::Relaxed);
        let decision = match Decision::from_line(&line.text) {
            Ok(decision) => decision,
            Err(error) => return report.fail(line.number, error.to_string()),
        };
        if let Some(since) = self.since {
            match context::time(&decision.summary.time) {
                None => return report.fail(line.number, "invalid `time`".to_owned()),
                Some(time) if time < since => {
                    report.older += 1;
                    return;
                }
                Some(_) => {}
            }
        }
        let outcome = worker.decide(&decision);
        if matches!(outcome, Outcome::Changed(_)) {
            counts.changed.fetch_add(1, Ordering::Relaxed);
        }
        report.add(line.number, decision.summary, outcome);
    }
}

/// What the workers have done so far.
#[derive(Debug, Default)]
struct Counts {
    done: AtomicU64,
    changed: AtomicU64,
}

impl Counts {
    fn progress(&self) -> Progress {
        Progress {
            done: self.done.load(Ordering::Relaxed),
            changed: self.changed.load(Ordering::Relaxed),
        }
    }
}
