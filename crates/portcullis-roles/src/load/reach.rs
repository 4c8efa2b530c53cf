//! Warnings of mappings that add nothing.

use std::sync::Arc;

use super::super::permission::Permission;
use super::super::role::{ADMIN, Right, Role};
use super::definitions::Definitions;
use super::findings::Findings;
use super::mapping::{Mapped, Place};

/// Warns of every role in a mapping that gives its rule nothing.
pub(super) fn warn_mappings(
    mappings: &[Mapped],
    place: &Place,
    anonymous_read: bool,
    definitions: &Definitions,
    findings: &mut Findings<'_>,
) {
    let whose = &place.whose;
    for mapped in mappings {
        let rule = &mapped.rule;
        if mapped.roles.is_empty() {
            findings.warn(
                &mapped.at,
                format!("{whose}: the rule `{rule}` has no role"),
            );
        }
        let is_admin = mapped.roles.iter().any(|(_, role)| role == ADMIN);
        let roles: Vec<&Arc<Role>> = mapped
            .roles
            .iter()
            .filter_map(|(_, name)| definitions.roles.get(name))
            .collect();
        for (at, name) in &mapped.roles {
            let Some(role) = definitions.roles.get(name) else {
                continue;
            };
            if is_admin {
                if name != ADMIN {
                    let message = format!(
                        "{whose}: the role `{name}` adds nothing: the rule `{rule}` has `{ADMIN}`"
                    );
                    findings.warn(at, message);
                }
                continue;
            }
            let mut permits = role.permits().peekable();
            let only_reads = permits.peek().is_some()
                && role
                    .permits()
                    .all(|(permission, _)| permission == Permission::Read);
            if anonymous_read && only_reads {
                let message = format!(
                    "{whose}: the role `{name}` adds nothing to the rule `{rule}`: anyone may read"
                );
                findings.warn(at, message);
                continue;
            }
            for (permission, right) in permits {
                let wider = roles.iter().find(|other| {
                    !right.always() && other.right(permission).is_some_and(Right::always)
                });
                if let Some(wider) = wider {
                    let message = format!(
                        "{whose}: the conditions of `{permission}` in the role `{name}` change nothing for the rule `{rule}`: its role `{}` has it without any",
                        wider.name
                    );
                    findings.warn(at, message);
                }
            }
        }
    }
}
