//! What a caller needs for a call, as endpoints declare it and the guard checks it.

use portcullis_roles::{Condition, Permission};

use super::action::Action;

/// What a caller needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Access {
    /// Nothing: says why.
    Public(&'static str),
    /// An identity; the answer depends on which.
    SignedIn(&'static str),
    /// To read at the root of the API, or in a tenant by a role there; the answer depends on who asks.
    Reader(&'static str),
    /// A permission in the tenant that the path names.
    Tenant(Permission, &'static [Condition]),
    /// A permission at the root of the API.
    Root(Permission, &'static [Condition]),
    /// A permission in one of the tenants that hold what the call is about: a project, or a whole group. For the
    /// whole instance, the permission at the root of the API.
    Holder(Permission, &'static [Condition]),
    /// No identity, but a credential for this one thing.
    Credential(Credential),
}

/// Credentials that are no identities.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Credential {
    /// The token of one delivery, in the path.
    Callback,
    /// The secret of a controller, as a bearer token.
    Controller,
    /// The token of a runner, in the body or the header `RUNNER-TOKEN`.
    Runner,
    /// The token of a job, in the header `JOB-TOKEN` or the body.
    Job,
}

impl Access {
    /// The permission it takes, if it takes one.
    pub(crate) fn permission(self) -> Option<Permission> {
        match self {
            Self::Tenant(permission, _)
            | Self::Root(permission, _)
            | Self::Holder(permission, _) => Some(permission),
            Self::Public(_) | Self::SignedIn(_) | Self::Reader(_) | Self::Credential(_) => None,
        }
    }
}

/// Says what there is.
pub(crate) const DESCRIBES: Access = Access::Public("lists what exists, not its contents");

/// What an action in a tenant needs.
pub(crate) const fn in_tenant<A: Action>() -> Access {
    Access::Tenant(A::PERMISSION, A::CONDITIONS)
}

/// What an action on something that tenants hold needs.
pub(crate) const fn by_holder<A: Action>() -> Access {
    Access::Holder(A::PERMISSION, A::CONDITIONS)
}

/// What an action on the whole instance needs.
pub(crate) const fn at_root<A: Action>() -> Access {
    Access::Root(A::PERMISSION, A::CONDITIONS)
}
