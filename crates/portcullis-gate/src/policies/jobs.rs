//! CI jobs judged by policies: a configured one by its name, one that is given as text, or all that are for the
//! door of CI.
//!
//! Policies that are given as text are compiled once, and kept as long as they are used and the configuration
//! stays.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Instant;

use portcullis_config::{self as config, Limits};
use portcullis_core::sync::Mutex;
use portcullis_core::{
    Attributes, CI_GROUP, CI_JOB, Document, Door, DoorContext, HostCallStep, Kind, Operation,
    PolicyOutcome, PolicyStep, Resource, UserInfo, clock,
};
use portcullis_document::{Fault, Faults};
use portcullis_js::{Evaluation, Plan, PolicyVerdict};
use serde_json::Value;

use super::build::{Compiled, PolicyEnvironment};
use super::plugin::PoliciesPlugin;

/// Policies given as text that are kept compiled.
const MOST_TEXTS: usize = 64;

/// Judges CI jobs by policies.
#[derive(Debug)]
pub struct JobPolicies {
    /// The policies of the configuration, if there are any.
    configured: Option<Arc<PoliciesPlugin>>,
    /// What a policy given as text is compiled with.
    surroundings: config::Policies,
    limits: Limits,
    around: PolicyEnvironment,
    texts: Mutex<Texts>,
}

#[derive(Debug, Default)]
struct Texts {
    compiled: HashMap<String, (Arc<PoliciesPlugin>, u64)>,
    /// Raised by every use.
    uses: u64,
}

/// Which policies are asked.
#[derive(Debug, Clone, Copy)]
pub enum JobPolicy<'a> {
    /// The configured one of this name, whatever doors it is for.
    Named(&'a str),
    /// One that is given as text.
    Code(&'a str),
    /// All configured ones for the door of CI.
    Door,
}

/// What policies say of a job.
#[derive(Debug)]
pub struct JobJudgement {
    /// What they decided.
    pub outcome: JobOutcome,
    /// The object, if they changed it.
    pub object: Option<Value>,
    /// What each of them did.
    pub steps: Vec<PolicyStep>,
    /// Their host calls.
    pub host_calls: Vec<HostCallStep>,
    /// Remarks for people.
    pub warnings: Vec<String>,
}

/// What policies decided about a job.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum JobOutcome {
    /// No policy applies.
    NotAsked,
    /// No objection, perhaps with a reason.
    Accepted(Option<String>),
    /// Denied, by this policy, and why.
    Denied(Option<String>, String),
    /// This policy could not decide, and why.
    Failed(Option<String>, String),
}

impl JobJudgement {
    fn failed(why: String) -> Self {
        Self {
            outcome: JobOutcome::Failed(None, why),
            object: None,
            steps: Vec::new(),
            host_calls: Vec::new(),
            warnings: Vec::new(),
        }
    }
}

/// A job as policies are asked about it. `object` is the job as they see it.
pub fn job_request(
    object: Value,
    user_id: u64,
    uid: String,
    deadline: Option<Instant>,
) -> Attributes {
    let text = |pointer: &str| {
        let text = object.pointer(pointer).and_then(Value::as_str);
        text.unwrap_or_default().to_owned()
    };
    Attributes {
        door: Door::Ci,
        uid,
        operation: Operation::Create,
        kind: Kind {
            group: CI_GROUP.to_owned(),
            version: "v1".to_owned(),
            kind: CI_JOB.to_owned(),
        },
        resource: Resource {
            group: CI_GROUP.to_owned(),
            version: "v1".to_owned(),
            resource: "jobs".to_owned(),
        },
        subresource: String::new(),
        name: text("/metadata/name"),
        namespace: text("/project"),
        user: UserInfo {
            username: text("/user/username"),
            uid: user_id.to_string(),
            ..UserInfo::default()
        },
        object: Some(Document::from_value(object)),
        old_object: None,
        options: None,
        dry_run: false,
        received: clock::monotonic(),
        deadline,
        context: Arc::new(DoorContext {
            time: Some(clock::wall()),
            ..DoorContext::default()
        }),
    }
}

impl JobPolicies {
    pub(crate) fn new(
        configured: Option<Arc<PoliciesPlugin>>,
        policies: &config::Policies,
        limits: &Limits,
        around: PolicyEnvironment,
    ) -> Self {
        Self {
            configured,
            surroundings: policies.without_policies(),
            limits: limits.clone(),
            around: PolicyEnvironment {
                threads: Some(1),
                ..around
            },
            texts: Mutex::default(),
        }
    }

    /// Whether a policy of this name is configured.
    pub fn has(&self, name: &str) -> bool {
        let names = self.configured.iter().flat_map(|one| one.names());
        names.into_iter().any(|own| own == name)
    }

    /// The names of the policies for the door of CI.
    pub fn for_door(&self) -> Vec<String> {
        let Some(configured) = &self.configured else {
            return Vec::new();
        };
        let rules = configured.names().iter().zip(configured.rules.iter());
        let rules = rules.filter(|(_, rule)| rule.matcher.is_for(Door::Ci));
        rules.map(|(name, _)| name.clone()).collect()
    }

    /// Compiles a policy that is given as text.
    ///
    /// # Errors
    ///
    /// Everything that is wrong with it.
    pub fn check(&self, code: &str) -> Result<(), Vec<Fault>> {
        self.compiled(code).map(|_| ())
    }

    /// Asks policies about a job.
    pub async fn judge(&self, policy: JobPolicy<'_>, request: Attributes) -> JobJudgement {
        let (plugin, only) = match policy {
            JobPolicy::Code(code) => match self.compiled(code) {
                Ok(plugin) => (plugin, None),
                Err(faults) => {
                    return JobJudgement::failed(Faults(faults).on_one_line());
                }
            },
            JobPolicy::Named(name) => match self.configured.as_ref().filter(|_| self.has(name)) {
                Some(plugin) => (Arc::clone(plugin), Some(name)),
                None => return JobJudgement::failed(format!("there is no policy `{name}`")),
            },
            JobPolicy::Door => match &self.configured {
                Some(plugin) => (Arc::clone(plugin), None),
                None => return not_asked(Vec::new()),
            },
        };
        let plan = plugin.plan_for_job(&request, only);
        if plan.iter().all(|plan| *plan == Plan::Skip) {
            return not_asked(Vec::new());
        }
        match plugin.evaluate(request, plan).await {
            Ok(evaluation) => judgement(evaluation),
            Err(why) => JobJudgement::failed(why),
        }
    }

    fn compiled(&self, code: &str) -> Result<Arc<PoliciesPlugin>, Vec<Fault>> {
        let mut texts = self.texts.lock();
        texts.uses += 1;
        let uses = texts.uses;
        if let Some((plugin, used)) = texts.compiled.get_mut(code) {
            *used = uses;
            return Ok(Arc::clone(plugin));
        }
        drop(texts);
        let policies = self.surroundings.with_job_policy("policy", code);
        let policies = policies.map_err(|Faults(faults)| faults)?;
        let wrong = |why: String| vec![Fault::at("", why)];
        let compiled = Compiled::new(&policies)?;
        let built = compiled.build(&policies, &self.limits, self.around.clone());
        let (plugin, engine) = built.map_err(wrong)?;
        engine.start().map_err(wrong)?;
        let mut texts = self.texts.lock();
        if texts.compiled.len() >= MOST_TEXTS {
            let oldest = texts.compiled.iter().min_by_key(|(_, (_, used))| *used);
            if let Some(oldest) = oldest.map(|(code, _)| code.clone()) {
                texts.compiled.remove(&oldest);
            }
        }
        let kept = (Arc::clone(&plugin), uses);
        texts.compiled.insert(code.to_owned(), kept);
        Ok(plugin)
    }
}

fn not_asked(steps: Vec<PolicyStep>) -> JobJudgement {
    JobJudgement {
        outcome: JobOutcome::NotAsked,
        steps,
        ..JobJudgement::failed(String::new())
    }
}

/// What an evaluation means for a job: what no policy denies is accepted.
fn judgement(evaluation: Evaluation) -> JobJudgement {
    let said = |outcome: PolicyOutcome| {
        let mut steps = evaluation.steps.iter();
        steps.find(|step| step.outcome == outcome)
    };
    let outcome = match &evaluation.verdict {
        PolicyVerdict::Allow | PolicyVerdict::None => {
            let allowed = said(PolicyOutcome::Allow);
            JobOutcome::Accepted(allowed.and_then(|step| step.message.clone()))
        }
        PolicyVerdict::Deny(by) => {
            let named = evaluation.steps.iter();
            let mut named = named.filter(|step| Some(&step.name) == by.policy.as_ref());
            let own = named.find_map(|step| step.message.clone());
            let reason = own.unwrap_or_else(|| by.denial.message.clone());
            match by.failure {
                true => JobOutcome::Failed(by.policy.clone(), reason),
                false => JobOutcome::Denied(by.policy.clone(), reason),
            }
        }
    };
    let is_accepted = matches!(outcome, JobOutcome::Accepted(_));
    JobJudgement {
        outcome,
        object: evaluation.object.filter(|_| is_accepted),
        steps: evaluation.steps,
        host_calls: evaluation.host_calls,
        warnings: evaluation.warnings,
    }
}

#[cfg(test)]
mod tests;
