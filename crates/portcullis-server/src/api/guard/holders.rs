//! Whether the caller may do something with what tenants hold: a project, a whole group, or all of the instance.
//!
//! A project may be held by several tenants, each with roles of its own: the permission in one of them is enough.
//! What concerns the whole instance takes the permission at the root of the API, and so does a project that no
//! tenant holds.

use portcullis_roles::{AccessDecision, Parameters, Permission, Project, Refusal, Roles, Scope};

use super::Authorized;
use crate::api::access::by_holder;
use crate::api::action::Action;
use crate::api::call::Call;
use crate::http::error::HttpError;

/// What a call is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Territory<'t> {
    /// The whole instance.
    Instance,
    /// Everything in the group of this path.
    Group(&'t str),
    /// The project of this path.
    Project(&'t str),
}

impl<'t> Territory<'t> {
    /// What is in the group or project of a path, or everywhere.
    pub(crate) fn of(is_group: bool, path: Option<&'t str>) -> Self {
        match (path, is_group) {
            (None, _) => Self::Instance,
            (Some(path), true) => Self::Group(path),
            (Some(path), false) => Self::Project(path),
        }
    }
}

/// Whoever may decide about a territory, and how they know the project.
pub(crate) type Holder<'a> = (&'a Scope, Option<Project>);

impl<'a> Call<'a> {
    /// Goes on only if the caller is known, and may do this somewhere at least on some condition: nothing of the
    /// body is read for others.
    pub(crate) fn admit_somewhere<A: Action>(&self) -> Result<(), HttpError> {
        self.is_declared(by_holder::<A>())?;
        let who = self.somebody()?;
        let roles = &self.gate.access.roles;
        let tenants = roles.tenants().map(portcullis_roles::Tenant::scope);
        let mut refusals = Vec::new();
        for scope in std::iter::once(roles.root()).chain(tenants) {
            match scope.check_ever(Some(who), A::PERMISSION) {
                AccessDecision::Allowed(_) => return self.check_forgery(),
                AccessDecision::Refused(refusal) => refusals.push(refusal),
            }
        }
        let about = (A::PERMISSION, &Parameters::new());
        Err(self.refused(None, about, together(A::PERMISSION, refusals)))
    }

    /// Goes on only if the caller may do exactly this in one of the tenants that hold the territory. The action is
    /// made of the project as that tenant knows it.
    pub(crate) async fn authorize_held<A: Action>(
        &self,
        territory: Territory<'_>,
        action: impl Fn(Option<Project>) -> A,
    ) -> Result<Authorized<A>, HttpError> {
        self.is_declared(by_holder::<A>())?;
        let who = self.somebody()?;
        self.check_forgery()?;
        let mut refusals = Vec::new();
        let holders = holders(&self.gate.access.roles, territory);
        let only = match holders.as_slice() {
            [(scope, _)] => Some(*scope),
            _ => None,
        };
        let mut asked = None;
        for (scope, project) in holders {
            let action = action(project);
            let parameters = action.parameters();
            let answer = scope.check(Some(who), A::PERMISSION, &parameters);
            match answer {
                AccessDecision::Refused(refusal) => {
                    refusals.push(refusal);
                    drop(parameters);
                    asked = Some(action);
                }
                AccessDecision::Allowed(_) => {
                    if !self.head.method.is_safe() {
                        let about = (A::PERMISSION, &parameters);
                        self.audit.note(Some(scope), who, about, answer)?;
                        self.audit.keep_before().await?;
                    }
                    drop(parameters);
                    return Ok(Authorized(action));
                }
            }
        }
        let parameters = asked.as_ref().map(Action::parameters);
        let about = (A::PERMISSION, &parameters.unwrap_or_default());
        Err(self.refused(only, about, together(A::PERMISSION, refusals)))
    }

    /// The same for something that is there already. A caller who may not even read it learns nothing of it.
    pub(crate) async fn authorize_existing<A: Action>(
        &self,
        territory: Territory<'_>,
        action: impl Fn(Option<Project>) -> A,
        unknown: impl FnOnce() -> HttpError,
    ) -> Result<Authorized<A>, HttpError> {
        let authorized = self.authorize_held(territory, action).await;
        authorized.map_err(|refusal| match self.may_see(territory) {
            true => refusal,
            false => unknown(),
        })
    }

    /// Whether the caller may read something.
    pub(crate) fn may_see(&self, territory: Territory<'_>) -> bool {
        let Some(who) = self.caller.identity() else {
            return false;
        };
        let may_read = |scope: &Scope| {
            let answer = scope.check(Some(who), Permission::Read, &Parameters::new());
            matches!(answer, AccessDecision::Allowed(_))
        };
        let holders = holders(&self.gate.access.roles, territory);
        holders.iter().any(|(scope, _)| may_read(scope))
    }
}

/// Who may decide about a territory.
pub(crate) fn holders<'a>(roles: &'a Roles, territory: Territory<'_>) -> Vec<Holder<'a>> {
    let tenants = roles.tenants();
    let found: Vec<Holder<'a>> = match territory {
        Territory::Instance => Vec::new(),
        Territory::Group(group) => {
            let tenants = tenants.filter(|tenant| tenant.holds_group(group));
            tenants.map(|tenant| (tenant.scope(), None)).collect()
        }
        Territory::Project(named) => {
            let held = |tenant: &'a portcullis_roles::Tenant| {
                Some((tenant.scope(), Some(tenant.project(named)?)))
            };
            tenants.filter_map(held).collect()
        }
    };
    if !found.is_empty() {
        return found;
    }
    let project = match territory {
        Territory::Project(named) => Some(Project {
            name: named.to_owned(),
            canonical: None,
        }),
        _ => None,
    };
    vec![(roles.root(), project)]
}

/// All that is missing.
fn together(permission: Permission, refusals: Vec<Refusal>) -> Refusal {
    let mut all = Refusal {
        permission,
        misses: Vec::new(),
        roles: Vec::new(),
        rules: Vec::new(),
    };
    for refusal in refusals {
        all.misses.extend(refusal.misses);
        all.roles.extend(refusal.roles);
        all.rules.extend(refusal.rules);
    }
    for names in [&mut all.roles, &mut all.rules] {
        names.sort_unstable();
        names.dedup();
    }
    all
}
