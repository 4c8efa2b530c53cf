//! Admission controllers: how they are defined, to which jobs they apply, and in which order they are asked.

mod chain;
mod conditions;
mod definition;
mod words;

pub use chain::controller_chain;
pub use conditions::MatchConditions;
pub use definition::{
    Controller, ControllerBody, ControllerDefinition, ControllerId, PolicyCode, PolicySource,
    Transport,
};
pub use words::{ControllerKind, ControllerLevel, ControllerState, FailurePolicy};
