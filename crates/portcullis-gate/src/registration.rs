//! What an API server must be told, so that it asks about everything that a configuration judges.
//!
//! Nothing here writes manifests: `portcullis generate` does, and `portcullis doctor` compares this with what is
//! registered. Where it can't be known what a plug-in judges, that is everything.

mod healing;
mod patterns;
mod rules;
#[cfg(test)]
mod tests;

use portcullis_config::{DefaultAction, Loaded};
use portcullis_core::{Door, FailureMode};
use portcullis_document::Faults;
use portcullis_kube::DependsOn;

use crate::policies::{self, Compiled};

pub use healing::{EXCLUSIONS, Exclusion, VITAL_NAMESPACES, VITAL_REQUESTS, VitalRequest};
use rules::Rules;
pub use rules::{Rule, RuleScope};

/// The path of each phase.
pub const MUTATING_PATH: &str = "/mutate";
/// The path of each phase.
pub const VALIDATING_PATH: &str = "/validate";
/// First parts of paths that are admission reviews.
pub const ADMISSION_PATHS: [&str; 3] = ["mutate", "validate", "admit"];

/// Between the end of a review and the end of the API server's patience: for the network, and for the answer.
const MARGIN_SECONDS: u64 = 3;
/// What Kubernetes permits.
const LONGEST_SECONDS: u64 = 30;

/// Words in policies that stand for something that outlives an evaluation.
const LASTING: [&str; 2] = ["GlobalContext", "forwardToAdmissionController"];

/// How the API server is to be told of a configuration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Registration {
    /// The requests that are judged; none if nothing is.
    pub rules: Vec<Rule>,
    /// Whether something may change objects.
    pub may_change: bool,
    /// Whether something may deny requests.
    pub may_deny: bool,
    /// Whether every plug-in lets requests pass that it can't decide.
    pub fails_open: bool,
    /// Whether a review may leave something behind that a dry run must not.
    pub has_side_effects: bool,
    /// How long the API server should wait, in seconds.
    pub timeout_seconds: u64,
    /// What is good to know of it.
    pub notes: Vec<String>,
}

impl Registration {
    /// What this configuration needs.
    ///
    /// # Errors
    ///
    /// When a policy is invalid.
    pub fn of(loaded: &Loaded) -> Result<Self, Faults> {
        let registry = crate::registry::registry();
        let mut rules = Rules::default();
        let mut made = Self {
            rules: Vec::new(),
            may_change: false,
            may_deny: false,
            fails_open: !loaded.plugins.is_empty(),
            has_side_effects: false,
            timeout_seconds: timeout(loaded),
            notes: Vec::new(),
        };
        for entry in &loaded.plugins {
            made.fails_open &= entry.failure == FailureMode::Open;
            if entry.name == policies::NAME {
                made.add_policies(loaded, &mut rules)?;
                continue;
            }
            let Some(descriptor) = registry.get(&entry.name) else {
                continue;
            };
            made.may_change |= descriptor.phases.admit;
            made.may_deny |= descriptor.phases.validate;
            let is_fixed = matches!(
                descriptor.depends_on,
                DependsOn::Nothing | DependsOn::Request
            );
            made.has_side_effects |= !is_fixed;
            let plugin = (descriptor.factory)(entry.configuration.as_ref()).ok();
            let operations: Vec<_> = descriptor.operations.iter().collect();
            match plugin.and_then(|plugin| plugin.resources()) {
                Some(resources) => {
                    for (group, resource) in resources {
                        rules.add(Rule::of(group, resource), &operations);
                    }
                }
                None => rules.add(Rule::of_everything(), &operations),
            }
        }
        made.rules = rules.finish();
        let left_out: Vec<_> = made.exclusions().map(|one| one.leaves_out).collect();
        if !left_out.is_empty() {
            made.notes.push(format!(
                "the rules cover what the cluster needs to heal, so matchConditions leave it out, and it is not judged: {}",
                left_out.join("; ")
            ));
        }
        Ok(made)
    }

    /// The conditions that it needs, so that the cluster can heal while the webhook can't be called.
    pub fn exclusions(&self) -> impl Iterator<Item = &'static Exclusion> {
        EXCLUSIONS
            .iter()
            .filter(|one| one.is_needed_by(&self.rules))
    }

    fn add_policies(&mut self, loaded: &Loaded, rules: &mut Rules) -> Result<(), Faults> {
        let compiled = Compiled::new(&loaded.policies).map_err(Faults)?;
        self.may_deny = true;
        self.may_change |= !compiled.only_read(Door::Kubernetes);
        if loaded.policies.default_action == DefaultAction::Reject {
            self.notes.push(
                "the default action of the policies is to reject, so every request is registered: set `defaultAction: \
                 allow` to register only what policies match"
                    .to_owned(),
            );
            rules.add(Rule::of_everything(), &[]);
        }
        for policy in &loaded.policies.list {
            let matcher = &policy.matcher;
            if !matcher.is_for(Door::Kubernetes) {
                continue;
            }
            let text = policy.text.text();
            self.has_side_effects |= LASTING.iter().any(|word| text.contains(word));
            let paths = [MUTATING_PATH, VALIDATING_PATH];
            if !paths.iter().all(|path| matcher.is_for_path(path)) {
                self.notes.push(format!(
                    "the policy `{}` applies to certain paths only: register them, too, if the API server is to ask \
                     there",
                    policy.name
                ));
            }
            patterns::add(matcher, rules);
        }
        Ok(())
    }
}

/// Longer than policies may take, so that the reason of a denial arrives.
fn timeout(loaded: &Loaded) -> u64 {
    let deadline: std::time::Duration = loaded.limits.deadline.into();
    let whole = deadline.as_secs() + u64::from(deadline.subsec_nanos() > 0);
    whole.saturating_add(MARGIN_SECONDS).min(LONGEST_SECONDS)
}
