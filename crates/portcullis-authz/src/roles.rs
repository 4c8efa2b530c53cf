//! Rules, roles, and tenants that map one to the other.
//!
//! [`Roles::load`] makes everything from the tenants document at once; what it makes is never changed,
//! only replaced whole. A [`Scope`], a tenant or the root of the API, answers all questions: whether
//! somebody may do something, why, who else may, and what there is to be had.

mod answer;
mod claim;
mod identity;
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
    Answer, Basis, Effective, Explanation, Grant, Holder, Matrix, MatrixRow, Miss, Permitted,
    Refusal, RuleMatch,
};
pub use identity::{AdminOf, Identity};
pub use load::{Fault, Known, LeftOut, Load, Warning};
pub use parameters::Parameters;
pub use permission::{Condition, Permission};
pub use scope::Scope;
pub use tenant::{Project, Roles, Tenant};
