//! What the author of a policy says of it, in messages and steps. It decides nothing.

use portcullis_config as config;
use portcullis_core::text::start;
use portcullis_core::{PolicyOutcome, PolicyStep};

/// Longer warnings would be cut.
const WARNING_CHARACTERS: usize = 120;
/// Each record of a denial repeats no more of a description.
const RECORDED_CHARACTERS: usize = 500;

/// What is repeated of what the author says.
#[derive(Debug, Clone, Default)]
pub(super) struct AuthorsWords {
    description: Option<String>,
    category: Option<String>,
    severity: Option<&'static str>,
    link: Option<String>,
    /// Whether answers name the link.
    is_named: bool,
}

impl AuthorsWords {
    pub(super) fn of(policy: &config::Policy, policies: &config::Policies) -> Self {
        Self {
            description: policy.about.description.as_deref().map(recorded),
            category: policy.about.category.as_deref().map(recorded),
            severity: policy.about.severity.map(config::Severity::as_str),
            link: policy.about.link.clone(),
            is_named: policies.names_links,
        }
    }

    /// Adds them to the step of a policy that found something.
    pub(super) fn note(&self, step: &mut PolicyStep) {
        if matches!(
            step.outcome,
            PolicyOutcome::Deny | PolicyOutcome::Error | PolicyOutcome::Warn
        ) {
            step.description.clone_from(&self.description);
            step.category.clone_from(&self.category);
            step.severity = self.severity.map(str::to_owned);
            step.link.clone_from(&self.link);
        }
    }

    /// What a denial is followed by: its own message stays the text of the policy, which scripts compare.
    pub(super) fn after_denial(&self, policy: &str) -> Option<String> {
        let link = self.link.as_ref().filter(|_| self.is_named)?;
        Some(format!("{policy}: see {link}")).filter(|warning| fits(warning))
    }

    /// Ends a warning with the link, if nothing is cut for it.
    pub(super) fn end_warning(&self, warning: &mut String) {
        let Some(link) = self.link.as_ref().filter(|_| self.is_named) else {
            return;
        };
        let longer = format!("{warning} (see {link})");
        if fits(&longer) {
            *warning = longer;
        }
    }
}

/// As much as every record has of it.
fn recorded(text: &str) -> String {
    start(text.trim(), RECORDED_CHARACTERS).to_owned()
}

fn fits(warning: &str) -> bool {
    warning.chars().count() <= WARNING_CHARACTERS
}

#[cfg(test)]
mod tests {
    use portcullis_core::PolicyMode;

    use super::*;

    fn words() -> AuthorsWords {
        AuthorsWords {
            description: Some("Pods have an owner.".to_owned()),
            category: Some("ownership".to_owned()),
            severity: Some("high"),
            link: Some("https://example.org/a".to_owned()),
            is_named: true,
        }
    }

    #[test]
    fn only_findings_have_them() {
        for (outcome, is_finding) in [
            (PolicyOutcome::Deny, true),
            (PolicyOutcome::Error, true),
            (PolicyOutcome::Warn, true),
            (PolicyOutcome::Allow, false),
            (PolicyOutcome::Pass, false),
            (PolicyOutcome::Skip, false),
        ] {
            let mut step = PolicyStep::skipped("p", PolicyMode::Enforce);
            step.outcome = outcome;
            words().note(&mut step);
            assert_eq!(step.severity.is_some(), is_finding, "{outcome}");
            assert_eq!(step.link.is_some(), is_finding, "{outcome}");
            assert_eq!(step.category.is_some(), is_finding, "{outcome}");
            assert_eq!(step.description.is_some(), is_finding, "{outcome}");
        }
    }

    #[test]
    fn warnings_are_not_cut_for_a_link() {
        for (length, fits) in [(10, true), (92, true), (93, false), (200, false)] {
            let text = "w".repeat(length);
            let mut warning = text.clone();
            words().end_warning(&mut warning);
            let wanted = match fits {
                true => format!("{text} (see https://example.org/a)"),
                false => text,
            };
            assert_eq!(warning, wanted, "{length}");
        }
    }

    #[test]
    fn a_denial_is_followed_by_the_link() {
        let after = words().after_denial("p");
        assert_eq!(after.as_deref(), Some("p: see https://example.org/a"));
        assert_eq!(words().after_denial(&"p".repeat(120)), None);
    }

    #[test]
    fn texts_stay_as_they_are_where_links_are_not_named() {
        for words in [
            AuthorsWords {
                is_named: false,
                ..words()
            },
            AuthorsWords {
                link: None,
                ..words()
            },
        ] {
            let mut message = "p: no".to_owned();
            assert_eq!(words.after_denial("p"), None);
            words.end_warning(&mut message);
            assert_eq!(message, "p: no");
        }
    }
}
