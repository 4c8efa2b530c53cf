//! Requests as short lines, and a graph that is a list of answers.

use std::sync::Arc;

use portcullis_core::access::{Requirement, ResourceTarget};
use portcullis_core::{Access, Opinion, Target, UserInfo};
use portcullis_document::Fault;

use crate::authorizer::decision::{Outcome, Paths, Question};
use crate::authorizer::subjects::Who;
use crate::authorizer::verbs::Verb;
use crate::authorizer::{Compat, Rules, Selectors};
use crate::engine::Reach;
use crate::kinds::{Kinds, VertexKind};
use crate::profile::spec::ProfileSpec;
use crate::vertex::{Vertex, VertexRef};

/// Reads a profile.
pub(super) fn spec(yaml: &str) -> ProfileSpec {
    serde_saphyr::from_str(yaml).unwrap_or_else(|error| panic!("{error}\n{yaml}"))
}

/// Compiles just subjects and rules.
pub(super) fn compile(yaml: &str) -> Result<Rules, Vec<Fault>> {
    let spec = spec(yaml);
    let kinds = spec.vertices.iter().map(|(name, vertex)| VertexKind {
        name: name.clone(),
        group: vertex.group.clone(),
        version: "v1".to_owned(),
        resource: vertex.resource.clone(),
        namespaced: vertex.namespaced,
    });
    let kinds = Arc::new(Kinds::new(kinds.collect()));
    let targets: Vec<_> = spec
        .targets
        .iter()
        .filter_map(|name| kinds.id(name))
        .collect();
    let mut faults = Vec::new();
    let rules = Rules::compile(&spec, &kinds, &targets, &mut faults);
    if faults.is_empty() {
        Ok(rules)
    } else {
        Err(faults)
    }
}

/// A graph: the vertices that lead to the asker, those that don't; no others are known.
pub(super) struct Pretended<'a> {
    pub(super) kinds: &'a Kinds,
    pub(super) lead: &'a [&'a str],
    pub(super) known: &'a [&'a str],
}

impl Paths for Pretended<'_> {
    fn leads(&self, from: VertexRef<'_>, _: VertexRef<'_>) -> Reach {
        let from: Vertex = self.kinds.vertex(from);
        let from = from.to_string();
        match () {
            () if self.lead.contains(&from.as_str()) => Reach::Yes,
            () if self.known.contains(&from.as_str()) => Reach::No,
            () => Reach::Unknown,
        }
    }
}

/// A user with groups, separated by commas.
pub(super) fn user(name: &str, groups: &str) -> UserInfo {
    UserInfo {
        username: name.to_owned(),
        groups: groups.split(',').map(str::to_owned).collect(),
        ..UserInfo::default()
    }
}

/// `VERB RESOURCE[.GROUP][/SUB] [NS/][NAME] [l:KEY=VALUE] [f:KEY=VALUE]`, or `VERB !PATH`.
pub(super) fn access(user: UserInfo, line: &str) -> Access {
    let mut words = line.split_whitespace();
    let verb = words.next().unwrap().to_owned();
    let what = words.next().unwrap();
    let target = match what.strip_prefix('!') {
        Some(path) => Target::Path(path.to_owned()),
        None => Target::Resource(resource(what, words)),
    };
    Access {
        user,
        verb,
        target,
        context: Arc::default(),
    }
}

fn resource<'a>(what: &str, rest: impl Iterator<Item = &'a str>) -> ResourceTarget {
    let (name, subresource) = what.split_once('/').unwrap_or((what, ""));
    let (resource, group) = name.split_once('.').unwrap_or((name, ""));
    let mut target = ResourceTarget {
        group: group.to_owned(),
        version: "v1".to_owned(),
        resource: resource.to_owned(),
        subresource: subresource.to_owned(),
        ..ResourceTarget::default()
    };
    for part in rest {
        let requirement = |text: &str| {
            let (key, value) = text.split_once('=').unwrap();
            Requirement {
                key: key.to_owned(),
                operator: "In".to_owned(),
                values: vec![value.to_owned()],
            }
        };
        if let Some(text) = part.strip_prefix("l:") {
            target.label_selector.push(requirement(text));
        } else if let Some(text) = part.strip_prefix("f:") {
            target.field_selector.push(requirement(text));
        } else {
            let (namespace, name) = part.rsplit_once('/').unwrap_or(("", part));
            target.namespace = namespace.to_owned();
            target.name = name.to_owned();
        }
    }
    target
}

/// How requests are asked.
#[derive(Clone, Copy, Default)]
pub(super) struct Mode {
    pub(super) compat: Compat,
    pub(super) selectors: Selectors,
}

/// What rules say to a request, as the authorizer does it.
pub(super) fn opinion(rules: &Rules, access: &Access, mode: Mode, paths: &impl Paths) -> Opinion {
    let subject = match rules.subjects.recognize(&access.user) {
        Who::Agent(subject) => subject,
        Who::Unclear(why) => return Opinion::NoOpinion(why.into_owned()),
        Who::Nobody => return Opinion::NoOpinion("nobody".to_owned()),
    };
    let question = Question {
        subject: &subject,
        verb: Verb::new(&access.verb),
        compat: mode.compat,
        selectors: mode.selectors,
    };
    match &access.target {
        Target::Resource(target) => {
            let outcome = rules.decide(&question, target, paths).unwrap();
            rules.opinion(outcome, &question, target, None)
        }
        Target::Path(path) => match rules.decide_path(&question, path) {
            Outcome::Allowed(place, how) => {
                Opinion::Allow(rules.allowed_path(place, how, &question, path))
            }
            _ => Opinion::NoOpinion(String::new()),
        },
    }
}
