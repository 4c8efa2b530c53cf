//! A candidate set of policies, on its way to a process that replays with it.

use std::io::BufRead;
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use portcullis_config::{
    About, DefaultAction, Limits, Loaded, MatchSpec, Matcher, Module, Policies, Policy, Written,
};
use portcullis_core::{PolicyMode, clock};
use portcullis_document::{Faults, Source};
use portcullis_js::{ModuleSource, PolicyCode};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::base;
use super::verdict::{Fault, Replayed};
use crate::graphs::Graphs;
use crate::replay::{Line, Replay, RunError};

/// Bytes of a recorded decision, at most; longer ones are left out.
pub(super) const LONGEST: usize = 16 << 20;

/// The policies that decide again.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Candidate {
    globals: String,
    policies: Vec<One>,
    modules: Vec<ModuleSource>,
    allows_by_default: bool,
    pub(super) limits: Limits,
    /// How long decisions are taken.
    pub(super) within: Duration,
    examples: usize,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
struct One {
    name: String,
    mode: PolicyMode,
    matching: Value,
    code: PolicyCode,
}

impl Candidate {
    /// These policies. Decisions are taken for so long; so many examples of each change are kept.
    pub fn new(policies: &Policies, limits: &Limits, within: Duration, examples: usize) -> Self {
        let all = policies.list.iter().map(|policy| One {
            name: policy.name.clone(),
            mode: policy.mode,
            matching: policy.matcher.described(),
            code: policy.code.clone(),
        });
        Self {
            globals: policies.globals.text().to_owned(),
            policies: all.collect(),
            modules: policies
                .modules
                .iter()
                .map(|one| one.source.clone())
                .collect(),
            allows_by_default: policies.default_action == DefaultAction::Allow,
            limits: limits.clone(),
            within,
            examples,
        }
    }

    /// What decides again, in the process.
    fn replay(self) -> Result<Replay, Faults> {
        let loaded = base::load()?;
        let list: Result<Vec<Policy>, Faults> = self.policies.into_iter().map(policy).collect();
        let modules = self.modules.into_iter().map(|source| Module {
            text: Source::text_named(source.name.as_str(), source.code.as_str()),
            source,
        });
        let policies = Policies {
            globals: Source::text_named("globals", self.globals),
            list: list?,
            modules: modules.collect(),
            default_action: match self.allows_by_default {
                true => DefaultAction::Allow,
                false => DefaultAction::Reject,
            },
            ..loaded.policies.without_policies()
        };
        let loaded = Loaded {
            policies,
            limits: self.limits,
            ..loaded
        };
        let replay = Replay::of(loaded, Graphs::default(), false);
        Ok(replay.examples(self.examples).threads(1))
    }

    /// Decides the decisions again that come, a line each, up to an empty one or until the time is up.
    pub(super) fn replayed(self, lines: &mut impl BufRead) -> Replayed {
        let until = clock::monotonic() + self.within;
        let invalid = |faults: &Faults| Replayed::Invalid(Fault::of_policies(&faults.0));
        let replay = match self.replay() {
            Ok(replay) => replay,
            Err(faults) => return invalid(&faults),
        };
        let report = replay.run(|sink| feed(lines, sink, until), &mut |_| {});
        match report {
            Ok(report) => Replayed::Report(report.to_json()),
            Err(RunError::Invalid(faults)) => invalid(&faults),
            Err(RunError::Source(error)) => Replayed::Unended(error.to_string()),
        }
    }
}

/// A policy as it was in the other process.
fn policy(one: One) -> Result<Policy, Faults> {
    let unread = |what: String| Faults::from(Source::named("policies").fault(None, "", what));
    let spec: MatchSpec =
        serde_json::from_value(one.matching).map_err(|error| unread(error.to_string()))?;
    let matcher = Matcher::new(&spec).map_err(|wrong| {
        let wrong = wrong.into_iter().map(|(key, why)| format!("{key}: {why}"));
        unread(wrong.collect::<Vec<_>>().join(", "))
    })?;
    let text = match &one.code {
        PolicyCode::Body(text) | PolicyCode::JsPolicy(text) => text.as_str(),
        PolicyCode::Module(_) => "",
    };
    let text = Source::text_named(format!("policy `{}`", one.name), text);
    Ok(Policy {
        written: Written::whole(&text, None),
        text,
        name: one.name,
        matcher,
        mode: one.mode,
        code: one.code,
        about: About::default(),
    })
}

fn feed(
    lines: &mut impl BufRead,
    sink: &mut dyn FnMut(Vec<Line>) -> ControlFlow<()>,
    until: Instant,
) -> std::io::Result<()> {
    let mut number = 0;
    loop {
        let mut text = String::new();
        lines.read_line(&mut text)?;
        if text.trim_end().is_empty() || clock::monotonic() >= until {
            return Ok(());
        }
        number += 1;
        if sink(vec![Line { number, text }]).is_break() {
            return Ok(());
        }
    }
}
