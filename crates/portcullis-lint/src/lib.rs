//! Finds in policies what compiles but can't be meant.
//!
//! ```text
//! text -> portcullis_script::Tree -> walk (what values are) -> facts about the code -> rules -> Findings
//! match -> Scope ------------------------^-------------------------------------------^
//! ```
//!
//! The walk follows values from `object` through variables, loops and the methods of lists, and says what is known
//! of them; `kubernetes` knows kinds and fields. What can't be followed is unknown, and no rule says anything about
//! it: a finding that is wrong costs more than one that is missing. Each rule is a file in `rules`.
//! Nothing here reads files or runs code.

mod finding;
mod ignore;
mod kubernetes;
mod rule;
mod rules;
mod scope;
mod shape;
mod subject;
mod walk;

pub use finding::{Finding, Place};
pub use ignore::{Silenced, silence};
pub use kubernetes::{VERSION_OF_KUBERNETES, homes_of_kind};
pub use rule::Rule;
pub use rules::lint;
pub use scope::Scope;
pub use subject::{Role, Subject};
