//! Whether the caller may do what it requests.
//!
//! INVARIANT: an [`Authorized`] is made here only, after its parameters were checked, and handlers act
//! on nothing else. What an action needs is defined by its type, and is what its endpoint declares: the
//! guard denies every call of an endpoint that declares something else.

mod holders;

use portcullis_core::Identity;
use portcullis_roles::{AccessDecision, Parameters, Permission, Refusal, Scope, Tenant};

use super::access::Access;
use super::action::{Action, Read};
use super::call::Call;
use super::caller::Caller;
use crate::http::browser;
use crate::http::error::HttpError;

pub(crate) use holders::{Territory, holders};

/// An action that the caller may take.
#[derive(Debug)]
pub(crate) struct Authorized<A>(A);

impl<A> Authorized<A> {
    /// What was checked.
    pub(crate) fn into_inner(self) -> A {
        self.0
    }
}

impl<A> std::ops::Deref for Authorized<A> {
    type Target = A;

    fn deref(&self) -> &A {
        &self.0
    }
}

impl<'a> Call<'a> {
    /// The tenant that the path names. A caller who may not learn that it does not exist gets the same
    /// answer as for a private one.
    pub(crate) fn tenant(&self) -> Result<&'a Tenant, HttpError> {
        let roles = &self.gate.access.roles;
        let name = self.values.get("tenant");
        if let Some(tenant) = roles.tenant(name) {
            return Ok(tenant);
        }
        let root = roles.root();
        let who = self.caller.identity();
        let answer = root.check(who, Permission::Read, &Parameters::new());
        if let AccessDecision::Refused(_) = answer {
            let permission = self.access.permission().unwrap_or(Permission::Read);
            let refusal = Refusal {
                permission,
                misses: Vec::new(),
                roles: Vec::new(),
                rules: Vec::new(),
            };
            let about = (permission, &Parameters::new());
            return Err(self.refused(None, about, refusal));
        }
        Err(HttpError::not_found("unknown tenant"))
    }

    /// Goes on only if the caller may do this at least on some condition: nothing of the body is read
    /// for others.
    pub(crate) fn admit<A: Action>(&self, scope: &Scope) -> Result<(), HttpError> {
        self.declared::<A>(scope)?;
        match scope.check_ever(self.caller.identity(), A::PERMISSION) {
            AccessDecision::Allowed(_) => self.check_forgery(),
            AccessDecision::Refused(refusal) => {
                let about = (A::PERMISSION, &Parameters::new());
                Err(self.refused(Some(scope), about, refusal))
            }
        }
    }

    /// Goes on only if the caller may do exactly this.
    pub(crate) async fn authorize<A: Action>(
        &self,
        scope: &Scope,
        action: A,
    ) -> Result<Authorized<A>, HttpError> {
        self.declared::<A>(scope)?;
        self.check_forgery()?;
        let parameters = action.parameters();
        let answer = scope.check(self.caller.identity(), A::PERMISSION, &parameters);
        let about = (A::PERMISSION, &parameters);
        match answer {
            AccessDecision::Refused(refusal) => {
                return Err(self.refused(Some(scope), about, refusal));
            }
            AccessDecision::Allowed(_) if self.head.method.is_safe() => {}
            AccessDecision::Allowed(_) => {
                if let Some(who) = self.caller.identity() {
                    self.audit.note(Some(scope), who, about, answer)?;
                }
                self.audit.keep_before().await?;
            }
        }
        drop(parameters);
        Ok(Authorized(action))
    }

    /// Reads in the tenant that the path names.
    pub(crate) async fn reading(&self) -> Result<&'a Tenant, HttpError> {
        let tenant = self.tenant()?;
        self.authorize(tenant.scope(), Read).await?;
        Ok(tenant)
    }

    /// Whether the caller may read in a tenant.
    pub(crate) fn may_read(&self, tenant: &Tenant) -> bool {
        let who = self.caller.identity();
        let answer = tenant
            .scope()
            .check(who, Permission::Read, &Parameters::new());
        matches!(answer, AccessDecision::Allowed(_))
    }

    /// A tenant that the caller may read; one that is hidden looks as if it did not exist.
    pub(crate) fn readable_tenant(&self, name: &str) -> Result<&'a Tenant, HttpError> {
        let found = self.gate.access.roles.tenant(name);
        found
            .filter(|tenant| self.may_read(tenant))
            .ok_or_else(|| HttpError::not_found("unknown tenant"))
    }

    /// The identity, whichever it is.
    pub(crate) fn somebody(&self) -> Result<&Identity, HttpError> {
        let who = self.caller.identity();
        who.ok_or_else(|| self.caller.challenge(&self.gate.access))
    }

    /// Goes on for callers who may read the root of the API, or who have a role by which they may read a tenant: what is
    /// answered is only what they may read.
    pub(crate) fn admit_reader(&self) -> Result<(), HttpError> {
        let roles = &self.gate.access.roles;
        let (who, parameters) = (self.caller.identity(), Parameters::new());
        let is_member = |tenant: &Tenant| {
            who.is_some_and(|who| {
                let scope = tenant.scope();
                scope.permits_by_role(who, Permission::Read, &parameters)
            })
        };
        match roles.root().check(who, Permission::Read, &parameters) {
            AccessDecision::Allowed(_) => Ok(()),
            AccessDecision::Refused(refusal) => {
                let mut tenants = roles.tenants();
                match tenants.any(is_member) {
                    true => Ok(()),
                    false => Err(self.refused(
                        Some(roles.root()),
                        (Permission::Read, &parameters),
                        refusal,
                    )),
                }
            }
        }
    }

    /// An endpoint that declares something else than its handler requires is a bug, and
    /// denies every call.
    fn declared<A: Action>(&self, scope: &Scope) -> Result<(), HttpError> {
        self.is_declared(match scope.tenant() {
            Some(_) => Access::Tenant(A::PERMISSION, A::CONDITIONS),
            None => Access::Root(A::PERMISSION, A::CONDITIONS),
        })
    }

    pub(super) fn is_declared(&self, wanted: Access) -> Result<(), HttpError> {
        if self.access == wanted {
            return Ok(());
        }
        tracing::error!(
            endpoint = self.audit.endpoint(),
            "guarded otherwise than declared"
        );
        Err(HttpError::internal())
    }

    /// A browser shows cookies and certificates also when another site makes it: what changes
    /// something needs a proof that our own page asked.
    pub(crate) fn check_forgery(&self) -> Result<(), HttpError> {
        if self.head.method.is_safe() {
            return Ok(());
        }
        match &self.caller {
            Caller::Anonymous | Caller::Unproved(_) | Caller::Known(_) => Ok(()),
            Caller::Connected(_) => self.check_site(),
            Caller::SignedIn(session) => {
                self.check_site()?;
                let given = self.head.headers.get("x-csrf-token");
                let given = given.and_then(|value| value.to_str().ok()).unwrap_or("");
                self.check_csrf(session, given)
            }
        }
    }

    /// Browsers say which site made them ask.
    pub(crate) fn check_site(&self) -> Result<(), HttpError> {
        let public_url = self.gate.access.public_url.as_deref();
        if browser::is_foreign(self.head, public_url) {
            return Err(HttpError::forbidden(
                "csrf",
                "cross-site requests are not allowed",
            ));
        }
        Ok(())
    }

    /// Whether a proof belongs to a session.
    pub(crate) fn check_csrf(
        &self,
        session: &portcullis_authn::Session,
        given: &str,
    ) -> Result<(), HttpError> {
        let sessions = self.gate.access.sessions.as_ref();
        if sessions.is_some_and(|sessions| sessions.csrf_matches(session, given)) {
            return Ok(());
        }
        Err(HttpError::forbidden(
            "csrf",
            "a session needs the header X-CSRF-Token: GET /auth/session says which",
        ))
    }

    /// The denial: an anonymous caller has to sign in; others learn what is missing.
    pub(crate) fn refused(
        &self,
        scope: Option<&Scope>,
        about: (Permission, &Parameters<'_>),
        refusal: Refusal,
    ) -> HttpError {
        let Some(who) = self.caller.identity() else {
            return self.caller.challenge(&self.gate.access);
        };
        let said = self
            .audit
            .note(scope, who, about, AccessDecision::Refused(refusal));
        said.err().unwrap_or_else(HttpError::internal)
    }
}
