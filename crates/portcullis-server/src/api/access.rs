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
    /// A permission in the tenant that the path names.
    Tenant(Permission, &'static [Condition]),
    /// A permission at the root of the API.
    Root(Permission, &'static [Condition]),
}

/// Says what there is.
pub(crate) const DESCRIBES: Access = Access::Public("lists what exists, not its contents");

/// What an action in a tenant needs.
pub(crate) const fn in_tenant<A: Action>() -> Access {
    Access::Tenant(A::PERMISSION, A::CONDITIONS)
}

/// What an action on the whole instance needs.
pub(crate) const fn at_root<A: Action>() -> Access {
    Access::Root(A::PERMISSION, A::CONDITIONS)
}
