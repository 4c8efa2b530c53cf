//! The longer answers of a scope: all permissions of a caller, why, who else has one, and the matrix.

use super::super::answer::{
    AccessDecision, Effective, Explanation, Grant, Holder, Matrix, MatrixRow, Permitted, RuleMatch,
};
use super::super::parameters::Parameters;
use super::super::permission::Permission;
use super::{Mapping, Scope};
use portcullis_core::Identity;

impl Scope {
    /// Everything a caller may do here.
    pub fn effective(&self, who: Option<&Identity>) -> Effective {
        let matching = who.map(|who| self.rules_of(who));
        let mappings: Vec<_> = matching
            .iter()
            .flat_map(|matching| self.matching(matching))
            .collect();
        let is_admin = who.is_some_and(|who| self.is_overridden(who))
            || mappings.iter().any(|mapping| mapping.is_admin());
        let permissions = Permission::ALL.iter().filter_map(|permission| {
            let is_read_by_all = self.anonymous_read && *permission == Permission::Read;
            let permitted = if is_admin || is_read_by_all {
                Some(Permitted::Always)
            } else {
                permitted(&mappings, *permission)
            };
            Some((*permission, permitted?))
        });
        Effective {
            is_admin,
            permissions: permissions.collect(),
            roles: matching
                .as_ref()
                .map(|m| self.role_names(m))
                .unwrap_or_default(),
            rules: matching
                .as_ref()
                .map(|m| self.rule_names(m))
                .unwrap_or_default(),
        }
    }

    /// Whether a caller may do something, with everything that was considered.
    pub fn explain(
        &self,
        who: Option<&Identity>,
        permission: Permission,
        parameters: &Parameters<'_>,
    ) -> Explanation {
        let answer: AccessDecision = self.check(who, permission, parameters);
        let matching = who.map(|who| self.rules_of(who));
        let mut explanation = Explanation {
            answer,
            rules: Vec::new(),
            considered: Vec::new(),
            near: Vec::new(),
        };
        for (place, mapping) in self.mappings.iter().enumerate() {
            let matches = matching
                .as_ref()
                .is_some_and(|matching| matching.has(place));
            let rule = &mapping.rule.name;
            explanation.rules.push(RuleMatch {
                rule: rule.clone(),
                roles: mapping.role_names(),
                matches,
                missed: if matches {
                    Vec::new()
                } else {
                    mapping.rule.missed(who)
                },
            });
            for (role, right) in mapping.granting(permission) {
                if matches {
                    let misses = right.misses(rule, role, parameters);
                    explanation
                        .considered
                        .push((right.grant(rule, role), misses));
                } else if right.may_hold(parameters) {
                    explanation.near.push(right.grant(rule, role));
                }
            }
        }
        explanation
    }

    /// The rules whose callers may do something. A parameter that is not given may be anything; a grant
    /// is listed with its conditions on those. Anonymous readers and admins without a rule are not
    /// listed, nor are rules that can't match.
    pub fn who_can(&self, permission: Permission, parameters: &Parameters<'_>) -> Vec<Holder> {
        let mut holders = Vec::new();
        for mapping in &self.mappings {
            if mapping.rule.matches_nobody() {
                continue;
            }
            for (role, right) in mapping.granting(permission) {
                if right.may_hold(parameters) {
                    holders.push(Holder {
                        grant: right.rest(&mapping.rule.name, role, parameters),
                        asks: mapping.rule.asks(),
                    });
                }
            }
        }
        holders
    }

    /// Which rule has what.
    pub fn matrix(&self) -> Matrix {
        let rows = self.mappings.iter().map(|mapping| MatrixRow {
            rule: mapping.rule.name.clone(),
            asks: mapping.rule.asks(),
            roles: mapping.role_names(),
            permissions: Permission::ALL
                .iter()
                .filter_map(|permission| Some((*permission, permitted(&[mapping], *permission)?)))
                .collect(),
        });
        Matrix {
            rows: rows.collect(),
            anonymous_read: self.anonymous_read,
        }
    }
}

impl Mapping {
    fn role_names(&self) -> Vec<String> {
        let names = self.roles.iter().map(|role| role.name.clone());
        names.collect()
    }
}

/// How far these mappings permit something together.
fn permitted(mappings: &[&Mapping], permission: Permission) -> Option<Permitted> {
    let mut grants: Vec<Grant> = Vec::new();
    for mapping in mappings {
        for (role, right) in mapping.granting(permission) {
            if right.always() {
                return Some(Permitted::Always);
            }
            grants.push(right.grant(&mapping.rule.name, role));
        }
    }
    (!grants.is_empty()).then_some(Permitted::When(grants))
}
