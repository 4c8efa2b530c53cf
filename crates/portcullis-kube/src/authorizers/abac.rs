//! ABAC: access by Kubernetes' attribute file, one policy a line.
//!
//! [`parse`] reads the file, strictly; [`AbacPolicies`] is the authorizer. The
//! first policy that matches allows; no match is no opinion, never a denial. `*`
//! as user or group means every authenticated user, and a policy that
//! names both a user and a group is for that user in that group. Names of
//! objects and subresources are ignored: the format can't express
//! them.

use portcullis_core::access::ResourceTarget;
use portcullis_core::{Access, Authorizer, AuthorizerError, Opinion, Target, UserInfo};

mod line;

pub use line::parse;

/// The policies of a file, in its order.
#[derive(Clone, Debug, Default)]
pub struct AbacPolicies {
    policies: Vec<Policy>,
}

impl AbacPolicies {
    /// Whether there are none, so that nothing will be allowed.
    pub fn is_empty(&self) -> bool {
        self.policies.is_empty()
    }
}

impl Authorizer for AbacPolicies {
    fn authorize(&self, access: &Access) -> Result<Opinion, AuthorizerError> {
        let matching = self.policies.iter().find(|policy| policy.matches(access));
        Ok(match matching {
            Some(policy) => Opinion::Allow(format!("ABAC policy, line {}", policy.line)),
            None => Opinion::NoOpinion("No policy matched.".to_owned()),
        })
    }
}

/// One policy, in the terms of the newest version of the format. Empty texts
/// match only what is empty, `*` (but for user and group) matches all.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Policy {
    line: usize,
    user: String,
    group: String,
    read_only: bool,
    api_group: String,
    resource: String,
    namespace: String,
    non_resource_path: String,
}

impl Policy {
    fn matches(&self, access: &Access) -> bool {
        self.matches_subject(&access.user)
            && (!self.read_only || access.is_read_only())
            && match &access.target {
                Target::Resource(target) => self.matches_resource(target),
                Target::Path(path) => self.matches_path(path),
            }
    }

    /// What the policy says of user and group must all hold, and it must say
    /// something.
    fn matches_subject(&self, user: &UserInfo) -> bool {
        let is_user = self.user.is_empty() || self.user == user.username;
        let in_group = self.group.is_empty() || user.groups.contains(&self.group);
        is_user && in_group && !(self.user.is_empty() && self.group.is_empty())
    }

    fn matches_resource(&self, target: &ResourceTarget) -> bool {
        let covers = |wanted: &str, found: &str| wanted == "*" || wanted == found;
        covers(&self.namespace, &target.namespace)
            && covers(&self.resource, &target.resource)
            && covers(&self.api_group, &target.group)
    }

    fn matches_path(&self, path: &str) -> bool {
        let wanted = self.non_resource_path.as_str();
        wanted == path || (wanted.ends_with('*') && path.starts_with(wanted.trim_end_matches('*')))
    }
}

#[cfg(test)]
mod tests;
