//! Roles: what they permit, and on which conditions.

use portcullis_core::Glob;
use regex::{Regex, RegexBuilder};
use serde_json::Value;

use super::answer::{Grant, Miss};
use super::parameters::Parameters;
use super::permission::{Condition, Permission};

/// The name of the built-in role that permits everything.
pub(super) const ADMIN: &str = "admin";

/// The name of the built-in role that permits reading.
pub(super) const READ: &str = "read";

/// The longest text that patterns are tried on. No name or reference is longer.
const LONGEST_TEXT: usize = 4096;

/// How large a compiled regular expression may be.
const REGEX_SIZE: usize = 1 << 20;

/// A role.
#[derive(Debug)]
pub(super) struct Role {
    pub(super) name: String,
    /// What it permits, by the place of the permission in [`Permission::ALL`].
    rights: Vec<Option<Right>>,
}

/// How far something is permitted by one role: always, or when all requirements are met.
#[derive(Debug, Default)]
pub(super) struct Right {
    requirements: Vec<Requirement>,
}

/// What one parameter must be.
#[derive(Debug)]
pub(super) struct Requirement {
    pub(super) condition: Condition,
    /// As written: a text or a list of texts.
    pub(super) written: Value,
    /// Any of these.
    pub(super) any_of: Vec<Pattern>,
}

/// What a parameter is compared with, always whole.
#[derive(Debug)]
pub(super) enum Pattern {
    /// This text.
    Exact(Box<str>),
    /// `glob:`
    Glob {
        glob: Glob,
        /// What stands before its first wildcard: most values fail here already.
        prefix: Box<str>,
    },
    /// `regex:`
    Regex(Regex),
}

impl Role {
    /// A role that permits these.
    pub(super) fn new(name: &str, permits: Vec<(Permission, Right)>) -> Self {
        let mut rights: Vec<_> = Permission::ALL.iter().map(|_| None).collect();
        for (permission, right) in permits {
            if let Some(place) = rights.get_mut(permission as usize) {
                *place = Some(right);
            }
        }
        Self {
            name: name.to_owned(),
            rights,
        }
    }

    /// The built-in role `admin`: every permission, also those that come later.
    pub(super) fn admin() -> Self {
        let every = Permission::ALL.iter();
        Self::new(ADMIN, every.map(|p| (*p, Right::default())).collect())
    }

    /// The built-in role `read`.
    pub(super) fn read() -> Self {
        Self::new(READ, vec![(Permission::Read, Right::default())])
    }

    /// How far it permits something.
    pub(super) fn right(&self, permission: Permission) -> Option<&Right> {
        self.rights.get(permission as usize)?.as_ref()
    }

    /// What it permits.
    pub(super) fn permits(&self) -> impl Iterator<Item = (Permission, &Right)> {
        let every = Permission::ALL.iter();
        every.filter_map(|permission| Some((*permission, self.right(*permission)?)))
    }
}

impl Right {
    /// A right with conditions.
    pub(super) fn when(mut requirements: Vec<Requirement>) -> Self {
        requirements.sort_by_key(|requirement| requirement.condition);
        Self { requirements }
    }

    /// Whether it has no conditions.
    pub(super) fn always(&self) -> bool {
        self.requirements.is_empty()
    }

    /// Whether all conditions are met.
    pub(super) fn holds(&self, parameters: &Parameters<'_>) -> bool {
        self.requirements.iter().all(|r| r.is_met(parameters))
    }

    /// Whether no parameter that is given breaks a condition.
    pub(super) fn may_hold(&self, parameters: &Parameters<'_>) -> bool {
        self.requirements
            .iter()
            .all(|r| !r.is_given(parameters) || r.is_met(parameters))
    }

    /// The conditions that are not met.
    pub(super) fn misses(&self, rule: &str, role: &str, parameters: &Parameters<'_>) -> Vec<Miss> {
        let missed = self.requirements.iter().filter(|r| !r.is_met(parameters));
        missed
            .map(|requirement| Miss {
                rule: rule.to_owned(),
                role: role.to_owned(),
                condition: requirement.condition,
                wanted: requirement.written.clone(),
                got: parameters.get(requirement.condition).map(str::to_owned),
            })
            .collect()
    }

    /// The grant of a permission, with all of its conditions.
    pub(super) fn grant(&self, rule: &str, role: &str) -> Grant {
        self.grant_with(rule, role, |_| true)
    }

    /// The grant of a permission, with the conditions on what is not given.
    pub(super) fn rest(&self, rule: &str, role: &str, parameters: &Parameters<'_>) -> Grant {
        self.grant_with(rule, role, |requirement| !requirement.is_given(parameters))
    }

    fn grant_with(&self, rule: &str, role: &str, keep: impl Fn(&Requirement) -> bool) -> Grant {
        let kept = self
            .requirements
            .iter()
            .filter(|requirement| keep(requirement));
        Grant {
            rule: rule.to_owned(),
            role: role.to_owned(),
            conditions: kept.map(|r| (r.condition, r.written.clone())).collect(),
        }
    }
}

impl Requirement {
    fn is_given(&self, parameters: &Parameters<'_>) -> bool {
        self.values(parameters).next().is_some()
    }

    fn is_met(&self, parameters: &Parameters<'_>) -> bool {
        self.values(parameters)
            .any(|value| self.any_of.iter().any(|p| p.matches(value)))
    }

    /// The values of the parameter; a project may have two names.
    fn values<'p>(&self, parameters: &'p Parameters<'_>) -> impl Iterator<Item = &'p str> {
        let other = match self.condition {
            Condition::Project => parameters.canonical_project(),
            _ => None,
        };
        parameters.get(self.condition).into_iter().chain(other)
    }
}

impl Pattern {
    /// Reads a text, with or without `glob:` or `regex:` before it.
    ///
    /// # Errors
    ///
    /// What is wrong with a regular expression.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        if let Some(glob) = text.strip_prefix("glob:") {
            let prefix = glob.split(['*', '?']).next().unwrap_or_default();
            return Ok(Self::Glob {
                glob: Glob::new(glob),
                prefix: prefix.into(),
            });
        }
        match text.strip_prefix("regex:") {
            Some(expression) => whole_regex(expression).map(Self::Regex),
            None => Ok(Self::Exact(text.into())),
        }
    }

    fn matches(&self, value: &str) -> bool {
        match self {
            Self::Exact(wanted) => **wanted == *value,
            Self::Glob { glob, prefix } => {
                value.len() <= LONGEST_TEXT && value.starts_with(&**prefix) && glob.matches(value)
            }
            Self::Regex(regex) => value.len() <= LONGEST_TEXT && regex.is_match(value),
        }
    }
}

/// A regular expression for a whole text.
fn whole_regex(expression: &str) -> Result<Regex, String> {
    let compile = |text: &str| {
        RegexBuilder::new(text)
            .size_limit(REGEX_SIZE)
            .dfa_size_limit(REGEX_SIZE)
            .nest_limit(64)
            .build()
    };
    // By itself first: `a)|(b` must not become right by what is put around it.
    compile(expression).map_err(|error| match error {
        regex::Error::CompiledTooBig(_) => "it is too large".to_owned(),
        // The last line says what is wrong, those before it draw where.
        other => other
            .to_string()
            .lines()
            .last()
            .unwrap_or_default()
            .trim()
            .to_owned(),
    })?;
    // A comment at the end would swallow the closing bracket; then it gets a line of its own.
    compile(&format!("\\A(?:{expression})\\z"))
        .or_else(|_| compile(&format!("\\A(?:{expression}\n)\\z")))
        .map_err(|_| "it is too large".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn permissions_are_numbered_as_they_are_listed() {
        for (place, permission) in Permission::ALL.iter().enumerate() {
            assert_eq!(*permission as usize, place, "{permission}");
        }
    }

    #[test]
    fn admin_has_every_permission_and_read_one() {
        let (admin, read) = (Role::admin(), Role::read());
        for permission in Permission::ALL {
            assert!(admin.right(*permission).is_some_and(Right::always));
            assert_eq!(
                read.right(*permission).is_some(),
                *permission == Permission::Read
            );
        }
    }

    #[test]
    fn values_are_compared_whole() {
        for (pattern, value, fits) in [
            ("foo", "foo", true),
            ("foo", "Foo", false),
            ("foo", "foo ", false),
            ("foo*", "foobar", false),
            ("glob:foo*", "foobar", true),
            ("glob:org/*", "org/a/b", false),
            ("glob:org/**", "org/a/b", true),
            ("glob:*/b", "a/b", true),
            ("glob:a?c", "abc", true),
            ("glob:abc", "abc", true),
            ("glob:abc", "abcd", false),
            ("glob:", "", true),
            ("regex:fo+", "fooo", true),
            ("regex:fo+", "food", false),
            ("regex:fo+", "afoo", false),
            ("regex:a|b", "a", true),
            ("regex:a|b", "ab", false),
            ("regex:(?m)^a$", "a\nb", false),
            ("regex:a", "a\n", false),
            ("regex:(?x) a # or so", "a", true),
            ("regex:(?x) a # or so", "ab", false),
            ("regex:", "", true),
            ("regex:", "a", false),
            ("Regex:a", "a", false),
        ] {
            let parsed = Pattern::parse(pattern).unwrap();
            assert_eq!(parsed.matches(value), fits, "{pattern} {value:?}");
        }
        let long = "a".repeat(LONGEST_TEXT + 1);
        assert!(!Pattern::parse("glob:**").unwrap().matches(&long));
        assert!(Pattern::parse(&long).unwrap().matches(&long));
    }

    #[test]
    fn wrong_and_huge_expressions_are_refused() {
        for (pattern, word) in [
            ("regex:a)|(b", "unopened"),
            ("regex:[", "unclosed"),
            ("regex:\\w{1000}{1000}", "too large"),
        ] {
            let message = Pattern::parse(pattern).unwrap_err();
            assert!(message.contains(word), "{pattern}: {message}");
        }
        assert!(Pattern::parse(&format!("regex:{}{}", "(".repeat(500), ")".repeat(500))).is_err());
    }
}
