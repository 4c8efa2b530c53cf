//! The plug-in: evaluates the policies for a request.

use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};

use portcullis_core::{
    Attributes, Denial, Document, Door, Finished, Notes, Operation, Outcome, Pending, Phase,
    Phases, Plugin, PluginError, PolicyMode, PolicyOutcome, PolicyStep, Runs, Tree, clock,
    printable,
};
use portcullis_js::{self as js, Evaluation, Input, Plan, Pool};
use portcullis_kube::Namespaces;
use portcullis_kube::cluster_objects::Reading;
use portcullis_record::Masker;
use serde_json::Value;
use tokio::sync::oneshot;

use super::caller::Callers;
use super::selection::{Rule, Selected, Selection, namespace_of};
use super::subject::PolicySubject;
use crate::observer::Observer;
use portcullis_config::{DefaultAction, Matcher};

/// The plug-in.
#[derive(Clone)]
pub(crate) struct PoliciesPlugin {
    pub(super) pool: Arc<Pool>,
    /// One for each policy of the pool.
    pub(super) rules: Arc<[Rule]>,
    pub(super) default_action: DefaultAction,
    pub(super) deadline: Duration,
    /// An error or limit counts as no opinion of that policy.
    pub(super) failures_pass: bool,
    pub(super) callers: Arc<Callers>,
    /// What is known of namespaces, whose labels policies may be for.
    pub(super) namespaces: Arc<dyn Namespaces>,
    /// What is masked in what policies write.
    pub(super) masker: Arc<Masker>,
    /// Observes more of each evaluation than a verdict has.
    pub(super) observer: Option<Arc<dyn Observer>>,
}

impl fmt::Debug for PoliciesPlugin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PoliciesPlugin")
            .field("rules", &self.rules)
            .finish_non_exhaustive()
    }
}

impl Plugin for PoliciesPlugin {
    fn handles(&self, _: Operation) -> bool {
        true
    }

    fn phases(&self) -> Phases {
        Phases::ADMIT
    }

    fn runs(&self) -> Runs {
        Runs::Deferred
    }

    fn begin(&self, _: Phase, request: &Attributes, deadline: Option<Instant>) -> Pending {
        let own = clock::monotonic() + self.deadline;
        let deadline = deadline.map_or(own, |deadline| deadline.min(own));
        let Some(reading) = self.reading(request, deadline) else {
            return self.judge(request, &Ok(()), deadline);
        };
        let (plugin, request) = (self.clone(), request.clone());
        Box::pin(async move {
            let read = reading.await;
            plugin.judge(&request, &read, deadline).await
        })
    }
}

impl PoliciesPlugin {
    /// The names of its policies, in order.
    pub(super) fn names(&self) -> &[String] {
        self.pool.policies().names()
    }

    /// Which policies are asked about a CI job: those that match it, or only the one of this name, whatever doors
    /// it is for.
    pub(super) fn plan_for_job(&self, request: &Attributes, only: Option<&str>) -> Vec<Plan> {
        let rules = self.names().iter().zip(self.rules.iter());
        let plan = rules.map(|(name, rule)| {
            let is_asked = match only {
                None => self.is_for_job(&rule.matcher, request),
                Some(only) => {
                    let mut matcher = rule.matcher.clone();
                    matcher.also_for_jobs();
                    only == name && self.is_for_job(&matcher, request)
                }
            };
            match is_asked {
                true => Plan::Run(rule.mode),
                false => Plan::Skip,
            }
        });
        plan.collect()
    }

    /// Evaluates policies over a CI job, outside of any chain.
    pub(super) async fn evaluate(
        &self,
        request: Attributes,
        plan: Vec<Plan>,
    ) -> Result<Evaluation, String> {
        let limit = request.deadline;
        let (input, asked) = self.input(request, plan).map_err(|e| e.to_string())?;
        let own = clock::monotonic() + self.deadline;
        let deadline = limit.map_or(own, |deadline| deadline.min(own));
        let (send, receive) = oneshot::channel();
        let submitted = self.pool.submit(input, deadline, move |result| {
            let _ = send.send(result);
        });
        submitted.map_err(|e| e.to_string())?;
        match receive.await {
            Ok(Ok(evaluation)) => {
                log_console(&evaluation, &self.masker, &asked.request);
                Ok(evaluation)
            }
            Ok(Err(error)) => Err(error.to_string()),
            Err(_) => Err("the policy engine has ended".to_owned()),
        }
    }

    /// A job is in no namespace, so nothing has to be looked up.
    fn is_for_job(&self, matcher: &Matcher, request: &Attributes) -> bool {
        matches!(matcher.mismatch(request, &*self.namespaces), Ok(None))
    }

    /// Reads the namespace of a request, if policies depend on its labels and they aren't known yet: a watch may lag
    /// behind.
    fn reading(&self, request: &Attributes, deadline: Instant) -> Option<Reading<()>> {
        if self.observer.as_ref().is_some_and(|o| o.replays()) {
            return None;
        }
        let namespace = namespace_of(&self.rules, request)?;
        self.namespaces.prepare(namespace, deadline)
    }

    /// Asks the policies that are for a request, after its namespace was read if it had to be.
    fn judge(&self, request: &Attributes, read: &Result<(), String>, deadline: Instant) -> Pending {
        let default_action = self.default_action(request);
        let selection = Selection::of(&self.rules, request, &*self.namespaces, read);
        if let (true, Some(observer)) = (selection.is_uncertain(), &self.observer) {
            observer.unknown_namespace(&request.namespace);
        }
        let unknown = selection.unknown(self.names(), &self.rules, PolicyMode::Enforce);
        if let (Some(why), false) = (unknown.into_iter().next(), self.failures_pass) {
            return Box::pin(std::future::ready(failed(PluginError::Failed(why))));
        }
        if selection.is_empty() {
            let finished = self.nothing_matched(&selection, default_action);
            return Box::pin(std::future::ready(finished));
        }
        match self.input(request.clone(), selection.plan(&self.rules)) {
            Ok((input, asked)) => self.ask(input, asked, deadline, selection, default_action),
            Err(error) => Box::pin(std::future::ready(failed(error))),
        }
    }

    /// What is evaluated.
    fn input(
        &self,
        request: Attributes,
        plan: Vec<Plan>,
    ) -> Result<(Input, Arc<PolicySubject>), PluginError> {
        let tree = |document: &Option<Document>| match document {
            Some(document) => document.tree().map(Arc::new),
            None => Ok(Arc::new(Tree::from(&Value::Null))),
        };
        let replay = self.observer.as_ref().and_then(|o| o.replay());
        let now = replay.as_ref().map(|replay| replay.now);
        let (object, old_object) = (tree(&request.object)?, tree(&request.old_object)?);
        let asked = Arc::new(PolicySubject {
            received: now.or(request.context.time).unwrap_or_else(clock::wall),
            request,
            callers: Arc::clone(&self.callers),
            mask: replay.as_ref().map(|replay| Arc::clone(&replay.mask)),
        });
        let input = Input {
            object,
            old_object,
            plan,
            failures_pass: self.failures_pass,
            asks_on: self.observer.as_ref().is_some_and(|o| o.asks_on()),
            subject: Arc::clone(&asked) as _,
            replay,
        };
        Ok((input, asked))
    }

    /// What happens when no policy has an opinion. A CI job is allowed then: denying it takes a
    /// policy.
    fn default_action(&self, request: &Attributes) -> DefaultAction {
        match request.door {
            Door::Ci => DefaultAction::Allow,
            _ => self.default_action,
        }
    }

    fn ask(
        &self,
        input: Input,
        asked: Arc<PolicySubject>,
        deadline: Instant,
        selection: Selection,
        default_action: DefaultAction,
    ) -> Pending {
        let (send, receive) = oneshot::channel();
        let submitted = self.pool.submit(input, deadline, move |result| {
            let _ = send.send(result);
        });
        if let Err(error) = submitted {
            let error = PluginError::Failed(error.to_string());
            return Box::pin(std::future::ready(failed(error)));
        }
        let (rules, observer) = (Arc::clone(&self.rules), self.observer.clone());
        let warnings = selection.unknown(self.names(), &self.rules, PolicyMode::Warn);
        let masker = Arc::clone(&self.masker);
        let failures_pass = self.failures_pass;
        Box::pin(async move {
            match receive.await {
                Ok(Ok(evaluation)) => {
                    match observer {
                        Some(observer) => observer.evaluated(&evaluation),
                        None => log_console(&evaluation, &masker, &asked.request),
                    }
                    let passed_over = match failures_pass {
                        true => passed_over(&evaluation, &rules, &selection),
                        false => Vec::new(),
                    };
                    let mut finished = finished(evaluation, &rules, &selection, default_action);
                    for warning in warnings {
                        finished.notes.warn(warning);
                    }
                    finished.notes.passed_over(passed_over);
                    finished
                }
                Ok(Err(error)) => failed(PluginError::Failed(error.to_string())),
                Err(_) => failed(PluginError::Failed(
                    "the policy engine has ended".to_owned(),
                )),
            }
        })
    }

    fn nothing_matched(&self, selection: &Selection, default_action: DefaultAction) -> Finished {
        let all = self.names().iter().zip(self.rules.iter()).enumerate();
        let mut passed_over = Vec::new();
        let steps = all.map(|(index, (name, rule))| {
            let mut step = PolicyStep::skipped(name.as_str(), rule.mode);
            selection.explain(index, &mut step);
            if step.outcome == PolicyOutcome::Error && rule.mode == PolicyMode::Enforce {
                passed_over.push(name.clone());
            }
            step
        });
        let mut notes = Notes::default();
        notes.policies(steps.collect());
        notes.passed_over(passed_over);
        for warning in selection.unknown(self.names(), &self.rules, PolicyMode::Warn) {
            notes.warn(warning);
        }
        let outcome = match default_action {
            DefaultAction::Allow if selection.is_uncertain() => Outcome::Pass,
            DefaultAction::Allow => Outcome::not_applicable("no policy applies to this request"),
            DefaultAction::Reject => Outcome::Deny(rejected_by_default()),
        };
        Finished {
            outcome: Ok(outcome),
            notes,
            object: None,
        }
    }
}

/// Why, when no policy had an opinion.
pub(crate) const REJECTED_BY_DEFAULT: &str =
    "no policy allowed the request, and the default action is to reject";

/// The denial when no policy had an opinion.
fn rejected_by_default() -> Denial {
    Denial::new(403, "REJECTED_BY_DEFAULT", REJECTED_BY_DEFAULT)
}

fn failed(error: PluginError) -> Finished {
    Finished {
        outcome: Err(error),
        notes: Notes::default(),
        object: None,
    }
}

/// Names the policies that would have counted, could not decide, and were passed over: those that
/// failed, and those that were not asked because the time was up.
fn passed_over(evaluation: &Evaluation, rules: &[Rule], selection: &Selection) -> Vec<String> {
    let is_decided = !matches!(evaluation.verdict, js::PolicyVerdict::None);
    let is_enforced = |index: usize| {
        let rule = rules.get(index);
        rule.is_some_and(|rule| rule.mode == PolicyMode::Enforce)
    };
    let steps = evaluation.steps.iter().enumerate();
    let steps = steps.filter(|(index, _)| is_enforced(*index));
    let name = |(index, step): (usize, &PolicyStep)| match (selection.get(index)?, step.outcome) {
        (Selected::Unknown(_), _) | (Selected::Asked, PolicyOutcome::Error) => {
            Some(step.name.clone())
        }
        (Selected::Asked, PolicyOutcome::Skip) if !is_decided => {
            Some(format!("{} (not asked)", step.name))
        }
        _ => None,
    };
    steps.filter_map(name).collect()
}

/// What an evaluation means for the chain.
fn finished(
    evaluation: Evaluation,
    rules: &[Rule],
    selection: &Selection,
    default_action: DefaultAction,
) -> Finished {
    let mut notes = Notes::default();
    let ended = ended_by(&evaluation.steps, selection);
    let is_silent =
        evaluation.warnings.is_empty() && !matches!(evaluation.verdict, js::PolicyVerdict::Deny(_));
    let names: Vec<String> = match is_silent {
        true => Vec::new(),
        false => evaluation.steps.iter().map(|s| s.name.clone()).collect(),
    };
    let steps = evaluation.steps.into_iter().enumerate();
    let steps = steps.map(|(index, mut step)| {
        selection.explain(index, &mut step);
        explained(step, rules.get(index), ended.clone())
    });
    notes.policies(steps.collect());
    notes.host_calls(evaluation.host_calls);
    let by_name = |found: &dyn Fn(&str) -> bool| {
        let at = names.iter().position(|name| found(name))?;
        rules.get(at).map(|rule| &rule.words)
    };
    for mut warning in evaluation.warnings {
        let is_by = |name: &str| {
            let rest = warning.strip_prefix(name);
            rest.is_some_and(|rest| rest.starts_with(": "))
        };
        if let Some(words) = by_name(&is_by) {
            words.end_warning(&mut warning);
        }
        notes.warn(warning);
    }
    let outcome = match evaluation.verdict {
        js::PolicyVerdict::Allow => Outcome::Pass,
        js::PolicyVerdict::Deny(by) => {
            if let Some(policy) = by.policy {
                let words = by_name(&|name| name == policy);
                if let Some(link) = words.and_then(|words| words.after_denial(&policy)) {
                    notes.warn(link);
                }
                notes.decided_by(policy);
            }
            match by.failure {
                true => Outcome::Undecided(by.denial),
                false => Outcome::Deny(by.denial),
            }
        }
        js::PolicyVerdict::None => match default_action {
            DefaultAction::Allow => Outcome::Pass,
            DefaultAction::Reject => Outcome::Deny(rejected_by_default()),
        },
    };
    let object = evaluation
        .object
        .filter(|_| matches!(outcome, Outcome::Pass));
    Finished {
        outcome: Ok(outcome),
        notes,
        object,
    }
}

/// Why policies that match were not asked, if there are any: the last one that was asked ended it.
fn ended_by(steps: &[PolicyStep], selection: &Selection) -> Option<String> {
    let is_skip = |step: &PolicyStep| step.outcome == PolicyOutcome::Skip;
    let mut selected = steps.iter().zip(selection.iter());
    if !selected.any(|(step, selected)| is_skip(step) && *selected == Selected::Asked) {
        return None;
    }
    let last = steps.iter().rev().find(|step| !is_skip(step))?;
    let name = &last.name;
    Some(match last.outcome {
        PolicyOutcome::Allow => format!("not asked: {name} allowed it"),
        PolicyOutcome::Error => format!("not asked: {name} failed"),
        _ => format!("not asked: {name} denied it"),
    })
}

/// The step with what the configuration says of the policy, and with why it was not asked although it is for the
/// request.
fn explained(mut step: PolicyStep, rule: Option<&Rule>, why: Option<String>) -> PolicyStep {
    if let Some(rule) = rule {
        rule.words.note(&mut step);
    }
    let mode = rule.map(|rule| rule.mode);
    let message = match (step.message, step.outcome) {
        (None, PolicyOutcome::Skip) => why,
        (message, _) => message,
    };
    PolicyStep {
        mode: mode.unwrap_or(step.mode),
        message,
        ..step
    }
}

/// What policies wrote, at the level they chose, without the secrets of the request.
fn log_console(evaluation: &Evaluation, masker: &Masker, request: &Attributes) {
    if evaluation.console.is_empty() {
        return;
    }
    masker.with_scrubber(request, |scrubber| {
        for line in &evaluation.console {
            log_line(line, &printable(&scrubber.scrub(&line.text)));
        }
    });
}

fn log_line(line: &js::ConsoleLine, text: &str) {
    let (policy, at) = (line.policy.as_str(), line.line);
    match line.level {
        "error" => tracing::error!(target: "portcullis::policy", policy, line = at, "{text}"),
        "warn" => tracing::warn!(target: "portcullis::policy", policy, line = at, "{text}"),
        "debug" => tracing::debug!(target: "portcullis::policy", policy, line = at, "{text}"),
        _ => tracing::info!(target: "portcullis::policy", policy, line = at, "{text}"),
    }
}
