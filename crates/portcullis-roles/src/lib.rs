//! What callers may do at the REST API: rules about their claims, roles with permissions, and tenants
//! that map one to the other.
//!
//! Nothing here knows HTTP, files or tokens: the document comes as a located tree, the caller as a verified
//! [`Identity`](portcullis_core::Identity).
//!
//! [`Roles::load`] makes everything from the tenants document at once; what it makes is never changed,
//! only replaced as a whole. A [`Scope`], a tenant or the root of the API, answers all questions: whether
//! a caller may do something, why, who else may, and which permissions there are.

mod answer;
mod claim;
mod index;
mod load;
mod parameters;
mod permission;
mod projects;
mod role;
mod rule;
mod scope;
mod template;
mod tenant;

pub use answer::{
    AccessDecision, Basis, Effective, Explanation, Grant, Holder, Matrix, MatrixRow, Miss,
    Permitted, Refusal, RuleMatch,
};
pub use load::{LeftOut, Load};
pub use parameters::Parameters;
pub use permission::{Condition, Permission};
pub use projects::Project;
pub use scope::Scope;
pub use tenant::{Roles, Tenant};
