//! Rules: what is required of the claims of a caller.
//!
//! A rule is a list of alternatives, one of which must hold; an alternative is a list of terms, all of
//! which must hold; a term says what one claim must be.

use super::claim::{self, Scalar};
use super::template::Template;
use portcullis_core::Identity;

/// A rule as it is written.
#[derive(Debug)]
pub(super) struct Rule {
    pub(super) name: String,
    pub(super) alternatives: Vec<Alternative<Template>>,
}

/// A rule as it is in one place: with the name of the tenant put in.
#[derive(Debug)]
pub(super) struct RuleHere {
    pub(super) name: String,
    /// Empty where the rule names the tenant and there is none.
    pub(super) alternatives: Vec<Alternative<Box<str>>>,
    /// Whether it names the tenant and there is none, so that it can't match.
    pub(super) wants_tenant: bool,
}

/// Terms that must all hold.
#[derive(Debug)]
pub(super) struct Alternative<T> {
    pub(super) terms: Vec<Term<T>>,
}

/// What one claim must be.
#[derive(Debug)]
pub(super) struct Term<T> {
    /// The key of the claim, dotted.
    pub(super) claim: Box<str>,
    /// Any of these.
    pub(super) any_of: Vec<ExpectedValue<T>>,
}

/// What a claim, or something in a list of it, must be.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum ExpectedValue<T> {
    /// This text.
    Text(T),
    /// Yes or no.
    Flag(bool),
    /// This number.
    Number(i128),
}

impl Rule {
    /// Whether it names the tenant.
    pub(super) fn names_tenant(&self) -> bool {
        self.alternatives
            .iter()
            .flat_map(|alternative| &alternative.terms)
            .flat_map(|term| &term.any_of)
            .any(|wanted| matches!(wanted, ExpectedValue::Text(text) if text.names_tenant()))
    }

    /// It in a tenant, or at the root of the API, where a rule that names the tenant never matches.
    pub(super) fn here(&self, tenant: Option<&str>) -> RuleHere {
        let wants_tenant = tenant.is_none() && self.names_tenant();
        let alternatives = if wants_tenant {
            Vec::new()
        } else {
            let tenant = tenant.unwrap_or_default();
            self.alternatives
                .iter()
                .map(|alternative| alternative.expand(tenant))
                .collect()
        };
        RuleHere {
            name: self.name.clone(),
            alternatives,
            wants_tenant,
        }
    }
}

impl Alternative<Template> {
    fn expand(&self, tenant: &str) -> Alternative<Box<str>> {
        let terms = self.terms.iter().map(|term| Term {
            claim: term.claim.clone(),
            any_of: term
                .any_of
                .iter()
                .map(|wanted| match wanted {
                    ExpectedValue::Text(text) => ExpectedValue::Text(text.expand(tenant)),
                    ExpectedValue::Flag(flag) => ExpectedValue::Flag(*flag),
                    ExpectedValue::Number(number) => ExpectedValue::Number(*number),
                })
                .collect(),
        });
        Alternative {
            terms: terms.collect(),
        }
    }
}

impl RuleHere {
    /// Whether no caller can match.
    pub(super) fn matches_nobody(&self) -> bool {
        self.alternatives.is_empty()
    }

    /// What it asks, in words.
    pub(super) fn asks(&self) -> String {
        if self.wants_tenant {
            return "names the tenant, but there is none here: never matches".to_owned();
        }
        if self.alternatives.is_empty() {
            return "no caller".to_owned();
        }
        let alternatives: Vec<_> = self.alternatives.iter().map(Alternative::words).collect();
        alternatives.join(", or ")
    }

    /// What the nearest alternative misses, in words; nothing if the rule matches.
    pub(super) fn missed(&self, who: Option<&Identity>) -> Vec<String> {
        if self.wants_tenant {
            return vec!["the rule names the tenant, but there is none here".to_owned()];
        }
        let Some(who) = who else {
            return vec!["the caller is not authenticated".to_owned()];
        };
        self.alternatives
            .iter()
            .map(|alternative| alternative.missed(who))
            .min_by_key(Vec::len)
            .unwrap_or_else(|| vec!["the rule has no condition that can be met".to_owned()])
    }
}

impl Alternative<Box<str>> {
    /// Whether all of it holds.
    pub(super) fn matches(&self, who: &Identity) -> bool {
        self.terms.iter().all(|term| term.matches(who))
    }

    fn words(&self) -> String {
        if self.terms.is_empty() {
            return "any authenticated caller".to_owned();
        }
        let terms: Vec<_> = self.terms.iter().map(Term::words).collect();
        terms.join(" and ")
    }

    fn missed(&self, who: &Identity) -> Vec<String> {
        let missed = self.terms.iter().filter(|term| !term.matches(who));
        missed.map(|term| term.missed(who)).collect()
    }
}

impl Term<Box<str>> {
    fn matches(&self, who: &Identity) -> bool {
        claim::find(who, &self.claim)
            .is_some_and(|found| found.any(|has| self.any_of.iter().any(|wanted| wanted.is(has))))
    }

    fn words(&self) -> String {
        format!("{} is {}", self.claim, self.wanted())
    }

    fn missed(&self, who: &Identity) -> String {
        match claim::find(who, &self.claim) {
            None => format!("{} is missing, expected {}", self.claim, self.wanted()),
            Some(found) => format!("{} {}, not {}", self.claim, found.words(), self.wanted()),
        }
    }

    /// What it wants, in words: "`a`", "one of `a`, `b`".
    fn wanted(&self) -> String {
        let values: Vec<_> = self.any_of.iter().map(ExpectedValue::words).collect();
        let one_of = if values.len() > 1 { "one of " } else { "" };
        format!("{one_of}{}", values.join(", "))
    }
}

impl ExpectedValue<Box<str>> {
    fn is(&self, has: Scalar<'_>) -> bool {
        match (self, has) {
            (Self::Text(wanted), Scalar::Text(text)) => **wanted == *text,
            (Self::Flag(wanted), Scalar::Flag(flag)) => *wanted == flag,
            (Self::Number(wanted), Scalar::Number(number)) => *wanted == number,
            _ => false,
        }
    }

    fn words(&self) -> String {
        match self {
            Self::Text(text) => format!("`{text}`"),
            Self::Flag(flag) => format!("`{flag}`"),
            Self::Number(number) => format!("`{number}`"),
        }
    }
}
