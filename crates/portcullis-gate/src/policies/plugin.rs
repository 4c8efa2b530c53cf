//! The plug-in: evaluates the policies for a request.

use std::sync::Arc;
use std::time::{Duration, Instant};

use portcullis_core::{
    Attributes, Denial, Document, Door, Finished, Notes, Operation, Outcome, Pending, Phase,
    Phases, Plugin, PluginError, PolicyMode, PolicyOutcome, PolicyStep, Runs, Tree, clock,
    printable,
};
use portcullis_js::{self as js, Evaluation, Input, Plan, Pool};
use portcullis_record::Masker;
use serde_json::Value;
use tokio::sync::oneshot;

use super::author::AuthorsWords;
use super::caller::Callers;
use super::subject::PolicySubject;
use crate::observer::Observer;
use portcullis_config::{DefaultAction, Matcher};

/// Which requests a policy is asked about, and what its denial means.
#[derive(Debug, Clone)]
pub(crate) struct Rule {
    pub(super) matcher: Matcher,
    pub(super) mode: PolicyMode,
    pub(super) words: AuthorsWords,
}

/// The plug-in.
#[derive(Debug)]
pub(crate) struct PoliciesPlugin {
    pub(super) pool: Arc<Pool>,
    /// One for each policy of the pool.
    pub(super) rules: Arc<[Rule]>,
    pub(super) default_action: DefaultAction,
    pub(super) deadline: Duration,
    /// An error or limit counts as no opinion of that policy.
    pub(super) failures_pass: bool,
    pub(super) callers: Arc<Callers>,
    /// What is masked in what policies write.
    pub(super) masker: Arc<Masker>,
    /// Observes more of each evaluation than a verdict has.
    pub(super) observer: Option<Arc<dyn Observer>>,
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
        match self.prepare(request) {
            Ok(Prepared::Ask(input, asked, skipped)) => {
                let default_action = self.default_action(request);
                self.ask(*input, asked, deadline, skipped, default_action)
            }
            Ok(Prepared::Nothing(skipped)) => {
                let finished = self.nothing_matched(skipped, self.default_action(request));
                Box::pin(std::future::ready(finished))
            }
            Err(error) => Box::pin(std::future::ready(failed(error))),
        }
    }
}

/// What comes of looking at the rules.
enum Prepared {
    /// Some policies are to be asked; why the others are not.
    Ask(Box<Input>, Arc<PolicySubject>, Skipped),
    /// None is.
    Nothing(Skipped),
}

/// Why each policy is not asked; nothing if it is.
type Skipped = Vec<Option<&'static str>>;

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
                None => rule.matcher.mismatch(request).is_none(),
                Some(only) => {
                    let mut matcher = rule.matcher.clone();
                    matcher.also_for_jobs();
                    only == name && matcher.mismatch(request).is_none()
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

    fn prepare(&self, request: &Attributes) -> Result<Prepared, PluginError> {
        let rules = self.rules.iter();
        let skipped: Skipped = rules.map(|r| r.matcher.mismatch(request)).collect();
        if skipped.iter().all(Option::is_some) {
            return Ok(Prepared::Nothing(skipped));
        }
        let plan = self.rules.iter().zip(&skipped);
        let plan = plan.map(|(rule, skipped)| match skipped {
            Some(_) => Plan::Skip,
            None => Plan::Run(rule.mode),
        });
        let (input, asked) = self.input(request.clone(), plan.collect())?;
        Ok(Prepared::Ask(Box::new(input), asked, skipped))
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
        skipped: Skipped,
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
                        true => passed_over(&evaluation, &rules, &skipped),
                        false => Vec::new(),
                    };
                    let mut finished = finished(evaluation, &rules, &skipped, default_action);
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

    fn nothing_matched(&self, skipped: Skipped, default_action: DefaultAction) -> Finished {
        let names = self.pool.policies().names().iter();
        let steps = names.zip(self.rules.iter()).zip(skipped);
        let steps = steps.map(|((name, rule), why)| PolicyStep {
            message: why.map(str::to_owned),
            ..PolicyStep::skipped(name.as_str(), rule.mode)
        });
        let mut notes = Notes::default();
        notes.policies(steps.collect());
        let outcome = match default_action {
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
fn passed_over(evaluation: &Evaluation, rules: &[Rule], skipped: &Skipped) -> Vec<String> {
    let is_decided = !matches!(evaluation.verdict, js::PolicyVerdict::None);
    let counts = |index: usize| {
        let rule = rules.get(index);
        rule.is_some_and(|rule| rule.mode == PolicyMode::Enforce)
            && skipped.get(index).is_some_and(Option::is_none)
    };
    let steps = evaluation.steps.iter().enumerate();
    let steps = steps.filter(|(index, _)| counts(*index));
    let name = |(_, step): (usize, &PolicyStep)| match step.outcome {
        PolicyOutcome::Error => Some(step.name.clone()),
        PolicyOutcome::Skip if !is_decided => Some(format!("{} (not asked)", step.name)),
        _ => None,
    };
    steps.filter_map(name).collect()
}

/// What an evaluation means for the chain.
fn finished(
    evaluation: Evaluation,
    rules: &[Rule],
    skipped: &Skipped,
    default_action: DefaultAction,
) -> Finished {
    let mut notes = Notes::default();
    let ended = ended_by(&evaluation.steps, skipped);
    let is_silent =
        evaluation.warnings.is_empty() && !matches!(evaluation.verdict, js::PolicyVerdict::Deny(_));
    let names: Vec<String> = match is_silent {
        true => Vec::new(),
        false => evaluation.steps.iter().map(|s| s.name.clone()).collect(),
    };
    let steps = evaluation.steps.into_iter().enumerate();
    let steps = steps.map(|(index, step)| {
        let why = skipped.get(index).copied().flatten();
        let rule = rules.get(index);
        let why = why.map(str::to_owned).or_else(|| ended.clone());
        explained(step, rule, why)
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
fn ended_by(steps: &[PolicyStep], skipped: &Skipped) -> Option<String> {
    let is_skip = |step: &PolicyStep| step.outcome == PolicyOutcome::Skip;
    let mut with_why = steps.iter().zip(skipped);
    if !with_why.any(|(step, why)| is_skip(step) && why.is_none()) {
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

/// The step with what the configuration says of the policy, and with why it was skipped if it was.
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
