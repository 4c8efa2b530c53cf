//! A scope of permissions: a tenant, or the root of the API.
//!
//! [`Scope::check`] runs on every request: it finds the rules that match by an index and stops at the
//! first grant that holds, in the order of the mapping. The longer answers are in [`mod@overview`].

mod overview;

use std::sync::Arc;

use super::answer::{AccessDecision, Basis, Refusal};
use super::index::{Places, RuleIndex};
use super::parameters::Parameters;
use super::permission::Permission;
use super::role::{ADMIN, Right, Role};
use super::rule::RuleHere;
use portcullis_core::{AdminOf, Identity};

/// A scope of permissions.
#[derive(Debug)]
pub struct Scope {
    tenant: Option<String>,
    anonymous_read: bool,
    mappings: Vec<Mapping>,
    index: RuleIndex,
    /// The names of all roles that are mapped, sorted, each once.
    role_names: Vec<String>,
}

/// One rule and its roles.
#[derive(Debug)]
pub(super) struct Mapping {
    rule: RuleHere,
    roles: Vec<Arc<Role>>,
    /// The places of the roles that grant a permission, by the place of the permission.
    granting: Vec<Vec<usize>>,
    /// The places of the roles among the names of the scope.
    names: Vec<usize>,
}

impl Mapping {
    pub(super) fn new(rule: RuleHere, roles: Vec<Arc<Role>>) -> Self {
        let granting = Permission::ALL.iter().map(|permission| {
            let grants = roles.iter().enumerate();
            let grants = grants.filter(|(_, role)| role.right(*permission).is_some());
            grants.map(|(place, _)| place).collect()
        });
        Self {
            granting: granting.collect(),
            names: Vec::new(),
            rule,
            roles,
        }
    }

    /// The roles that grant something, and how far.
    fn granting(&self, permission: Permission) -> impl Iterator<Item = (&str, &Right)> {
        let places = self.granting.get(permission as usize).into_iter().flatten();
        places.filter_map(move |place| {
            let role = self.roles.get(*place)?;
            Some((role.name.as_str(), role.right(permission)?))
        })
    }

    fn is_admin(&self) -> bool {
        self.roles.iter().any(|role| role.name == ADMIN)
    }
}

impl Scope {
    pub(super) fn new(
        tenant: Option<&str>,
        anonymous_read: bool,
        mut mappings: Vec<Mapping>,
    ) -> Self {
        let roles = mappings.iter().flat_map(|mapping| &mapping.roles);
        let mut role_names: Vec<_> = roles.map(|role| role.name.clone()).collect();
        role_names.sort_unstable();
        role_names.dedup();
        for mapping in &mut mappings {
            let places = mapping.roles.iter();
            let places = places.filter_map(|role| role_names.binary_search(&role.name).ok());
            mapping.names = places.collect();
        }
        Self {
            role_names,
            tenant: tenant.map(str::to_owned),
            anonymous_read,
            index: RuleIndex::new(mappings.iter().map(|mapping| &mapping.rule)),
            mappings,
        }
    }

    /// The tenant; nothing for the root of the API.
    pub fn tenant(&self) -> Option<&str> {
        self.tenant.as_deref()
    }

    /// Whether anyone may read here.
    pub fn anonymous_read(&self) -> bool {
        self.anonymous_read
    }

    /// Whether a caller may do something. Without an identity only reading may be allowed.
    pub fn check(
        &self,
        who: Option<&Identity>,
        permission: Permission,
        parameters: &Parameters<'_>,
    ) -> AccessDecision {
        let matching = match self.before_rules(who, permission) {
            Ok(matching) => matching,
            Err(answer) => return answer,
        };
        if let Some(basis) = self.grant(&matching, permission, |right| right.holds(parameters)) {
            return AccessDecision::Allowed(basis);
        }
        let mut refusal = self.refusal(permission, &matching);
        for mapping in self.matching(&matching) {
            for (role, right) in mapping.granting(permission) {
                let missed = right.misses(&mapping.rule.name, role, parameters);
                refusal.misses.extend(missed);
            }
        }
        AccessDecision::Refused(refusal)
    }

    /// Whether a caller may do something at least on some condition.
    pub fn check_ever(&self, who: Option<&Identity>, permission: Permission) -> AccessDecision {
        match self.before_rules(who, permission) {
            Err(answer) => answer,
            Ok(matching) => match self.grant(&matching, permission, |_| true) {
                Some(basis) => AccessDecision::Allowed(basis),
                None => AccessDecision::Refused(self.refusal(permission, &matching)),
            },
        }
    }

    /// Whether the caller's own roles permit it, also where anyone may read.
    pub fn permits_by_role(
        &self,
        who: &Identity,
        permission: Permission,
        parameters: &Parameters<'_>,
    ) -> bool {
        let holds = |right: &Right| right.holds(parameters);
        self.is_overridden(who) || self.grant(&self.rules_of(who), permission, holds).is_some()
    }

    /// The rules that match, unless the answer doesn't depend on them.
    fn before_rules(
        &self,
        who: Option<&Identity>,
        permission: Permission,
    ) -> Result<Places, AccessDecision> {
        if who.is_some_and(|who| self.is_overridden(who)) {
            return Err(AccessDecision::Allowed(Basis::Override));
        }
        if self.anonymous_read && permission == Permission::Read {
            return Err(AccessDecision::Allowed(Basis::Anonymous));
        }
        match who {
            Some(who) => Ok(self.rules_of(who)),
            None => Err(AccessDecision::Refused(Refusal {
                permission,
                misses: Vec::new(),
                roles: Vec::new(),
                rules: Vec::new(),
            })),
        }
    }

    /// Whether the caller is admin here without any rule.
    fn is_overridden(&self, who: &Identity) -> bool {
        match &who.admin {
            AdminOf::Nothing => false,
            AdminOf::Everything => true,
            AdminOf::Tenants(tenants) => self
                .tenant()
                .is_some_and(|here| tenants.iter().any(|tenant| tenant == here)),
        }
    }

    fn rules_of(&self, who: &Identity) -> Places {
        let rule = |place: usize| Some(&self.mappings.get(place)?.rule);
        self.index.matching(who, rule)
    }

    fn matching(&self, matching: &Places) -> impl Iterator<Item = &Mapping> {
        matching.iter().filter_map(|place| self.mappings.get(place))
    }

    /// The first grant that is good enough.
    fn grant(
        &self,
        matching: &Places,
        permission: Permission,
        good: impl Fn(&Right) -> bool,
    ) -> Option<Basis> {
        self.matching(matching).find_map(|mapping| {
            let (role, _) = mapping
                .granting(permission)
                .find(|(_, right)| good(right))?;
            Some(Basis::Grant {
                rule: mapping.rule.name.clone(),
                role: role.to_owned(),
            })
        })
    }

    fn refusal(&self, permission: Permission, matching: &Places) -> Refusal {
        Refusal {
            permission,
            misses: Vec::new(),
            roles: self.role_names(matching),
            rules: self.rule_names(matching),
        }
    }

    fn role_names(&self, matching: &Places) -> Vec<String> {
        let mut had = Places::none_of(self.role_names.len());
        for mapping in self.matching(matching) {
            mapping.names.iter().for_each(|place| had.add(*place));
        }
        let names = had.iter().filter_map(|place| self.role_names.get(place));
        names.cloned().collect()
    }

    fn rule_names(&self, matching: &Places) -> Vec<String> {
        let rules = self.matching(matching).map(|mapping| &mapping.rule);
        let mut names: Vec<_> = rules.map(|rule| rule.name.clone()).collect();
        names.sort_unstable();
        names
    }
}
