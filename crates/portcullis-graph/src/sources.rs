//! The sources of a profile: checked and compiled.

use std::collections::BTreeMap;
use std::sync::Arc;

use portcullis_document::Fault;

use crate::expression::Expression;
use crate::expression::path::{Path, Step};
use crate::fault::known_kind;
use crate::kinds::Kinds;
use crate::spec::{EdgeSpec, OneOrMany, SourceSpec};
use crate::vertex::KindId;

/// The number of a source in its profile.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SourceId(pub usize);

/// The compiled sources of a profile.
#[derive(Debug, Default)]
pub struct Sources {
    pub(crate) all: Vec<Source>,
    targets: Vec<KindId>,
}

/// One source.
#[derive(Debug)]
pub(crate) struct Source {
    pub(crate) kind: KindId,
    /// Numbers of the graphs it contributes to.
    pub(crate) graphs: Vec<usize>,
    pub(crate) only: Option<Expression>,
    /// What others may look up; none if nothing may be looked up.
    pub(crate) keep: Option<Vec<Path>>,
    pub(crate) malformed: Vec<(Expression, String)>,
    pub(crate) edges: Vec<EdgeRule>,
    /// What its expressions look at; nothing if that is the whole object.
    pub(crate) reads: Option<Vec<Path>>,
}

/// What edges an object contributes.
#[derive(Debug)]
pub(crate) struct EdgeRule {
    /// Whether edges lead away from the object.
    pub(crate) leads_away: bool,
    /// Kinds of the ends that are named.
    pub(crate) kinds: Vec<KindId>,
    /// Expressions and how they are called in messages.
    pub(crate) names: Vec<(Expression, String)>,
    pub(crate) namespace: Option<(Expression, String)>,
    pub(crate) when: Option<(Expression, String)>,
    pub(crate) exact: bool,
    pub(crate) of: Option<OfRule>,
    /// Numbers of the graphs.
    pub(crate) graphs: Vec<usize>,
}

/// Another end in place of the object.
#[derive(Debug)]
pub(crate) struct OfRule {
    pub(crate) kind: KindId,
    pub(crate) name: (Expression, String),
    pub(crate) namespace: Option<(Expression, String)>,
}

impl Sources {
    /// Checks and compiles.
    pub(crate) fn compile(
        specs: &[SourceSpec],
        kinds: &Arc<Kinds>,
        targets: &[KindId],
        faults: &mut Vec<Fault>,
    ) -> Self {
        let mut compiler = Compiler {
            specs,
            kinds,
            targets,
            faults,
        };
        let mut all: Vec<Source> = Vec::new();
        for (number, spec) in specs.iter().enumerate() {
            let at = format!("sources[{number}]");
            if let Some(source) = compiler.source(spec, &at) {
                if all.iter().any(|known| known.kind == source.kind) {
                    let message = format!("`{}` already has a source", spec.kind);
                    compiler.fault(format!("{at}.kind"), message);
                }
                all.push(source);
            }
        }
        compiler.check_conditions();
        Self {
            all,
            targets: targets.to_vec(),
        }
    }

    /// The kinds that are watched, in the order of the profile.
    pub fn iter(&self) -> impl Iterator<Item = (SourceId, KindId)> {
        let all = self.all.iter().enumerate();
        all.map(|(number, source)| (SourceId(number), source.kind))
    }

    /// The source of a kind.
    pub fn of_kind(&self, kind: KindId) -> Option<SourceId> {
        self.iter().find(|(_, k)| *k == kind).map(|(id, _)| id)
    }

    /// Whether edges between kinds can form a cycle in the graph of `target` but through the target kind; the
    /// kinds on one if so.
    pub fn cycle(&self, target: KindId) -> Option<Vec<KindId>> {
        let graph = self.targets.iter().position(|known| *known == target)?;
        let mut next: BTreeMap<KindId, Vec<KindId>> = BTreeMap::new();
        for source in &self.all {
            let edges = source.edges.iter().filter(|e| e.graphs.contains(&graph));
            for edge in edges {
                let own = edge.of.as_ref().map_or(source.kind, |of| of.kind);
                for &named in &edge.kinds {
                    let (from, to) = match edge.leads_away {
                        true => (own, named),
                        false => (named, own),
                    };
                    if from != target && to != target {
                        next.entry(from).or_default().push(to);
                    }
                }
            }
        }
        let mut done = Vec::new();
        let starts: Vec<KindId> = next.keys().copied().collect();
        starts
            .into_iter()
            .find_map(|start| find_cycle(start, &next, &mut Vec::new(), &mut done))
    }

    pub(crate) fn get(&self, id: SourceId) -> Option<&Source> {
        self.all.get(id.0)
    }
}

/// A cycle that can be reached from `here`, in order.
fn find_cycle<K: Copy + Ord>(
    here: K,
    next: &BTreeMap<K, Vec<K>>,
    path: &mut Vec<K>,
    done: &mut Vec<K>,
) -> Option<Vec<K>> {
    if let Some(begin) = path.iter().position(|known| *known == here) {
        return Some(path.split_off(begin));
    }
    if done.contains(&here) {
        return None;
    }
    path.push(here);
    for &further in next.get(&here).into_iter().flatten() {
        if let Some(cycle) = find_cycle(further, next, path, done) {
            return Some(cycle);
        }
    }
    path.pop();
    done.push(here);
    None
}

struct Compiler<'c> {
    specs: &'c [SourceSpec],
    kinds: &'c Kinds,
    targets: &'c [KindId],
    faults: &'c mut Vec<Fault>,
}

impl Compiler<'_> {
    fn fault(&mut self, at: impl Into<String>, message: impl Into<String>) {
        self.faults.push(Fault::at(at, message));
    }

    fn source(&mut self, spec: &SourceSpec, at: &str) -> Option<Source> {
        let kind = known_kind(self.kinds, &spec.kind, &format!("{at}.kind"), self.faults);
        let everywhere = (0..self.targets.len()).collect();
        let at_targets = format!("{at}.targets");
        let graphs = match &spec.targets {
            Some(targets) => self.graphs(targets, &at_targets),
            None => everywhere,
        };
        let only = spec.only.as_ref();
        let only = only.and_then(|text| self.expression(text, &format!("{at}.only")));
        let mut keep = Vec::new();
        for (number, text) in spec.keep.iter().enumerate() {
            match Path::parse(text) {
                Ok(path) => keep.push(path),
                Err(words) => self.fault(format!("{at}.keep[{number}]"), words),
            }
        }
        let mut malformed = Vec::new();
        for (number, spec) in spec.malformed.iter().enumerate() {
            let when = format!("{at}.malformed[{number}].when");
            let when = self.expression(&spec.when, &when);
            malformed.extend(when.map(|when| (when, spec.says.clone())));
        }
        let mut edges = Vec::new();
        for (number, spec) in spec.edges.iter().enumerate() {
            edges.extend(self.edge(spec, &format!("{at}.edges[{number}]"), number, &graphs));
        }
        let mut source = Source {
            kind: kind?,
            graphs,
            only,
            keep: (!keep.is_empty()).then(|| with_metadata(keep)),
            malformed,
            edges,
            reads: None,
        };
        source.reads = source.reads();
        Some(source)
    }

    fn edge(
        &mut self,
        spec: &EdgeSpec,
        at: &str,
        number: usize,
        graphs: &[usize],
    ) -> Option<EdgeRule> {
        let (leads_away, named, at_kinds) = match (&spec.from, &spec.to) {
            (Some(from), None) => (false, from, format!("{at}.from")),
            (None, Some(to)) => (true, to, format!("{at}.to")),
            _ => {
                self.fault(at, "give either `from` or `to`");
                return None;
            }
        };
        let mut kinds = Vec::new();
        for (text, at) in each(named, &at_kinds) {
            let kind = known_kind(self.kinds, text, &at, self.faults);
            if kind.is_some_and(|kind| kinds.contains(&kind)) {
                self.fault(at, format!("`{text}` is named twice"));
            }
            kinds.extend(kind);
        }
        if each(named, &at_kinds).is_empty() {
            self.fault(at_kinds, "name at least one kind");
        }
        let called = |part: &str| format!("edges[{number}].{part}");
        let mut names = Vec::new();
        let texts = each(&spec.names, &format!("{at}.names"));
        if texts.is_empty() {
            self.fault(format!("{at}.names"), "give at least one expression");
        }
        for (text, at) in texts {
            let part = at.rsplit('.').next().unwrap_or("names").to_owned();
            let name = self.expression(text, &at);
            names.extend(name.map(|name| (name, called(&part))));
        }
        let mut optional = |text: Option<&String>, part: &str| {
            let expression = self.expression(text?, &format!("{at}.{part}"))?;
            Some((expression, called(part)))
        };
        let namespace = optional(spec.namespace.as_ref(), "namespace");
        let when = optional(spec.when.as_ref(), "when");
        let of = spec.of.as_ref();
        let of_name = optional(of.map(|of| &of.name), "of.name");
        let of_namespace = optional(of.and_then(|of| of.namespace.as_ref()), "of.namespace");
        let of_kind = of.and_then(|of| {
            let at = format!("{at}.of.kind");
            known_kind(self.kinds, &of.kind, &at, self.faults)
        });
        let of = of_kind.zip(of_name).map(|(kind, name)| OfRule {
            kind,
            name,
            namespace: of_namespace,
        });
        let of_graphs = spec.targets.as_ref().map(|targets| {
            let at = format!("{at}.targets");
            let own = self.graphs(targets, &at);
            if own.iter().any(|graph| !graphs.contains(graph)) {
                self.fault(at, "the source does not contribute to all of these targets");
            }
            own
        });
        Some(EdgeRule {
            leads_away,
            kinds,
            names,
            namespace,
            when,
            exact: spec.exact,
            of,
            graphs: of_graphs.unwrap_or_else(|| graphs.to_vec()),
        })
    }

    /// The graphs of these targets.
    fn graphs(&mut self, names: &[String], at: &str) -> Vec<usize> {
        let mut graphs = Vec::new();
        for (number, name) in names.iter().enumerate() {
            let kind = self.kinds.id(name);
            let graph = kind.and_then(|kind| self.targets.iter().position(|t| *t == kind));
            match graph {
                Some(graph) if graphs.contains(&graph) => {
                    let message = format!("`{name}` is named twice");
                    self.fault(format!("{at}[{number}]"), message);
                }
                Some(graph) => graphs.push(graph),
                None => {
                    let message = format!("`{name}` is not one of the targets");
                    let known = self.targets.iter().map(|t| self.kinds.name(*t));
                    let fault = Fault::at(format!("{at}[{number}]"), message);
                    self.faults.push(fault.with_known("targets", name, known));
                }
            }
        }
        graphs
    }

    fn expression(&mut self, text: &str, at: &str) -> Option<Expression> {
        let expression = match Expression::compile(text, &["self"]) {
            Ok(expression) => expression,
            Err(words) => {
                self.fault(at, words);
                return None;
            }
        };
        if expression.asks_neighbours() {
            let message = "`neighbours` can't be used in sources: edges would depend on edges";
            self.faults.push(Fault::at(at, message));
        }
        for wanted in expression.looks_up() {
            if known_kind(self.kinds, wanted.kind, at, self.faults).is_none() {
                continue;
            }
            let source = self.specs.iter().find(|source| source.kind == wanted.kind);
            let kind = wanted.kind;
            match source {
                None => self.fault(
                    at,
                    format!("`{kind}` has no source, so it can't be looked up"),
                ),
                Some(source) if wanted.wants_members && source.keep.is_empty() => {
                    let message = format!("the source of `{kind}` has no fields to look up");
                    self.fault(at, message);
                }
                Some(_) => {}
            }
        }
        Some(expression)
    }

    /// Whether objects are there must not depend on itself: then it would depend on the order of events, or
    /// change forever.
    fn check_conditions(&mut self) {
        let mut next: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        let mut compiled = Vec::new();
        for (number, spec) in self.specs.iter().enumerate() {
            let only = spec.only.as_ref();
            let only = only.and_then(|text| Expression::compile(text, &["self"]).ok());
            compiled.extend(only.map(|only| (number, spec, only)));
        }
        for (_, spec, only) in &compiled {
            let looked_up = only.looks_up();
            let looked_up = looked_up.iter().map(|wanted| wanted.kind);
            // What is looked up may be any kind if it is not written out.
            match only.looks_up_unnamed() {
                true => next.insert(&spec.kind, vec![&spec.kind]),
                false => next.insert(&spec.kind, looked_up.collect()),
            };
        }
        let mut wrong = Vec::new();
        for (number, spec, _) in &compiled {
            let cycle = find_cycle(spec.kind.as_str(), &next, &mut Vec::new(), &mut Vec::new());
            if let Some(cycle) = cycle
                && cycle.contains(&spec.kind.as_str())
            {
                let message = format!(
                    "the existence of `{}` objects would depend on itself",
                    cycle.join("`, `")
                );
                wrong.push((format!("sources[{number}].only"), message));
            }
        }
        for (at, message) in wrong {
            self.fault(at, message);
        }
    }
}

impl Source {
    /// All expressions.
    fn expressions(&self) -> impl Iterator<Item = &Expression> {
        let malformed = self.malformed.iter().map(|(when, _)| when);
        let edges = self.edges.iter().flat_map(|edge| {
            let of = edge.of.iter().flat_map(|of| {
                let namespace = of.namespace.as_ref();
                std::iter::once(&of.name).chain(namespace)
            });
            let parts = edge.names.iter().chain(&edge.namespace).chain(&edge.when);
            parts.chain(of).map(|(expression, _)| expression)
        });
        self.only.iter().chain(malformed).chain(edges)
    }

    /// What the expressions look at, name and namespace included.
    fn reads(&self) -> Option<Vec<Path>> {
        let mut paths = Vec::new();
        for expression in self.expressions() {
            for chain in expression.reads("self")? {
                paths.push(Path(chain.into_iter().map(Step::Member).collect()));
            }
        }
        Some(with_metadata(paths))
    }
}

/// These paths, and what is always kept; those below others left out.
fn with_metadata(mut paths: Vec<Path>) -> Vec<Path> {
    for name in ["name", "namespace", "uid", "deletionTimestamp"] {
        let steps = ["metadata", name].map(|step| Step::Member(step.to_owned()));
        paths.push(Path(steps.to_vec()));
    }
    paths.sort();
    paths.dedup_by(|longer, shorter| longer.0.starts_with(&shorter.0));
    paths
}

/// Each text with its path.
fn each<'t>(texts: &'t OneOrMany, at: &str) -> Vec<(&'t str, String)> {
    match texts {
        OneOrMany::One(text) => vec![(text, at.to_owned())],
        OneOrMany::Many(texts) => {
            let texts = texts.iter().enumerate();
            texts
                .map(|(number, text)| (text.as_str(), format!("{at}[{number}]")))
                .collect()
        }
    }
}
