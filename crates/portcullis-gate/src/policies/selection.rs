//! Which policies are asked about a request: those whose `match` fits it.
//!
//! A `match` may depend on labels of the namespace. If they can't be had, it isn't known whether the policy applies: that
//! counts as an error of the policy, never as a request that it isn't for.

use portcullis_config::Matcher;
use portcullis_core::{Attributes, PolicyMode, PolicyOutcome, PolicyStep};
use portcullis_js::Plan;
use portcullis_kube::Namespaces;

use super::author::AuthorsWords;

/// Which requests a policy is asked about, and what its denial means.
#[derive(Debug, Clone)]
pub(crate) struct Rule {
    pub(super) matcher: Matcher,
    pub(super) mode: PolicyMode,
    pub(super) words: AuthorsWords,
}

/// Whether a policy is asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Selected {
    /// It is.
    Asked,
    /// It is not, and why.
    Skipped(&'static str),
    /// It isn't known whether it applies, and why.
    Unknown(String),
}

/// Which policies are asked about a request, one entry for each of them.
#[derive(Debug, Clone)]
pub(super) struct Selection(Vec<Selected>);

/// The namespace whose labels must be looked up to select policies, if there is one.
pub(super) fn namespace_of<'r>(rules: &[Rule], request: &'r Attributes) -> Option<&'r str> {
    let mut rules = rules.iter();
    rules.find_map(|rule| rule.matcher.namespace_of(request))
}

impl Selection {
    /// Selects, after the namespace was read if it had to be.
    pub(super) fn of(
        rules: &[Rule],
        request: &Attributes,
        namespaces: &dyn Namespaces,
        read: &Result<(), String>,
    ) -> Self {
        let unknown = |why: &str| {
            let namespace = &request.namespace;
            let why = format!("the labels of the namespace `{namespace}` are not known: {why}");
            Selected::Unknown(why)
        };
        let selected = |rule: &Rule| match (rule.matcher.namespace_of(request), read) {
            (Some(_), Err(why)) => unknown(why),
            _ => match rule.matcher.mismatch(request, namespaces) {
                Ok(None) => Selected::Asked,
                Ok(Some(why)) => Selected::Skipped(why),
                Err(why) => unknown(&why.to_string()),
            },
        };
        Self(rules.iter().map(selected).collect())
    }

    /// Whether no policy is asked.
    pub(super) fn is_empty(&self) -> bool {
        !self.0.contains(&Selected::Asked)
    }

    /// Whether it isn't known of a policy whether it applies.
    pub(super) fn is_uncertain(&self) -> bool {
        let mut all = self.0.iter();
        all.any(|selected| matches!(selected, Selected::Unknown(_)))
    }

    /// What becomes of each policy.
    pub(super) fn iter(&self) -> impl Iterator<Item = &Selected> {
        self.0.iter()
    }

    /// What becomes of this policy.
    pub(super) fn get(&self, index: usize) -> Option<&Selected> {
        self.0.get(index)
    }

    /// What is evaluated.
    pub(super) fn plan(&self, rules: &[Rule]) -> Vec<Plan> {
        let plan = rules.iter().zip(&self.0);
        plan.map(|(rule, selected)| match selected {
            Selected::Asked => Plan::Run(rule.mode),
            Selected::Skipped(_) | Selected::Unknown(_) => Plan::Skip,
        })
        .collect()
    }

    /// Says in the step of a policy that wasn't asked why.
    pub(super) fn explain(&self, index: usize, step: &mut PolicyStep) {
        match self.get(index) {
            Some(Selected::Skipped(why)) if step.outcome == PolicyOutcome::Skip => {
                step.message.get_or_insert_with(|| (*why).to_owned());
            }
            Some(Selected::Unknown(why)) => {
                step.outcome = PolicyOutcome::Error;
                step.message = Some(why.clone());
            }
            _ => {}
        }
    }

    /// The policies in this mode of which it isn't known whether they apply, each with the reason, as `NAME: why`.
    pub(super) fn unknown(
        &self,
        names: &[String],
        rules: &[Rule],
        mode: PolicyMode,
    ) -> Vec<String> {
        let all = names.iter().zip(rules).zip(&self.0);
        let unknown = all.filter_map(|((name, rule), selected)| match selected {
            Selected::Unknown(why) if rule.mode == mode => Some(format!("{name}: {why}")),
            _ => None,
        });
        unknown.collect()
    }
}
