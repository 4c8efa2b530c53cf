//! Answers to access checks, with their reasons.

use serde_json::Value;

use super::permission::{Condition, Permission};

/// Whether something may happen.
#[derive(Debug, Clone, PartialEq)]
pub enum AccessDecision {
    /// It may.
    Allowed(Basis),
    /// It may not.
    Refused(Refusal),
}

/// Why something may happen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Basis {
    /// Anyone may read here.
    Anonymous,
    /// The caller is admin here without any rule.
    Override,
    /// A rule that matches the caller has a role that permits it.
    Grant {
        /// The rule.
        rule: String,
        /// The role.
        role: String,
    },
}

/// Why something may not happen.
#[derive(Debug, Clone, PartialEq)]
pub struct Refusal {
    /// What was needed.
    pub permission: Permission,
    /// The conditions that failed, of every grant of this permission that the caller has.
    pub misses: Vec<Miss>,
    /// The roles that the caller has here, sorted.
    pub roles: Vec<String>,
    /// The rules that match the caller here, sorted.
    pub rules: Vec<String>,
}

/// A condition that was not met.
#[derive(Debug, Clone, PartialEq)]
pub struct Miss {
    /// The rule and the role whose grant it belongs to.
    pub rule: String,
    /// The role.
    pub role: String,
    /// What it is about.
    pub condition: Condition,
    /// The expected value, as written: a string or a list of strings.
    pub wanted: Value,
    /// What the request has.
    pub got: Option<String>,
}

/// One grant of a permission.
#[derive(Debug, Clone, PartialEq)]
pub struct Grant {
    /// The rule.
    pub rule: String,
    /// The role.
    pub role: String,
    /// What must hold, as written: a text or a list of texts; nothing for an unconditional grant.
    pub conditions: Vec<(Condition, Value)>,
}

/// Everything a caller may do in one place.
#[derive(Debug, Clone, PartialEq)]
pub struct Effective {
    /// Whether the caller has everything here: by the role `admin` or without any rule.
    pub is_admin: bool,
    /// The roles that the caller has here, sorted.
    pub roles: Vec<String>,
    /// The rules that match the caller here, sorted.
    pub rules: Vec<String>,
    /// What is permitted, in the order of [`Permission::ALL`]; nothing that is not.
    pub permissions: Vec<(Permission, Permitted)>,
}

/// Whether an action is permitted, and on which conditions.
#[derive(Debug, Clone, PartialEq)]
pub enum Permitted {
    /// Always.
    Always,
    /// In any of these ways.
    When(Vec<Grant>),
}

/// Everything that was considered for an answer.
#[derive(Debug, Clone, PartialEq)]
pub struct Explanation {
    /// The answer.
    pub answer: AccessDecision,
    /// Every rule that is mapped here, in the order of the mapping: did it match, and if not, why.
    pub rules: Vec<RuleMatch>,
    /// The grants of the permission by rules that match, with what failed in each.
    pub considered: Vec<(Grant, Vec<Miss>)>,
    /// The grants that would apply if another rule matched.
    pub near: Vec<Grant>,
}

/// How a rule was compared with the caller.
#[derive(Debug, Clone, PartialEq)]
pub struct RuleMatch {
    /// The rule.
    pub rule: String,
    /// The roles it has here.
    pub roles: Vec<String>,
    /// Whether it matches.
    pub matches: bool,
    /// What the nearest alternative missed, in words, like "`preferred_username` is `bob`, not `alice`".
    pub missed: Vec<String>,
}

/// A rule whose people may do something.
#[derive(Debug, Clone, PartialEq)]
pub struct Holder {
    /// The rule and the role, and what must hold further.
    pub grant: Grant,
    /// What the rule asks of the caller's claims, in words, like "`preferred_username` is `alice`".
    pub asks: String,
}

/// Which rule has what.
#[derive(Debug, Clone, PartialEq)]
pub struct Matrix {
    /// One row a rule, in the order of the mapping.
    pub rows: Vec<MatrixRow>,
    /// Whether anyone may read.
    pub anonymous_read: bool,
}

/// What one rule has.
#[derive(Debug, Clone, PartialEq)]
pub struct MatrixRow {
    /// The rule.
    pub rule: String,
    /// What the rule asks of the caller's claims, in words.
    pub asks: String,
    /// Its roles.
    pub roles: Vec<String>,
    /// What they permit, in the order of [`Permission::ALL`]; nothing that they don't.
    pub permissions: Vec<(Permission, Permitted)>,
}
