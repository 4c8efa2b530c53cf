//! Who may hold back pipelines.

use std::fmt;

/// Says whether the pipelines of a project go on. Asked whenever something could start; who lets them go on again
/// calls [`Service::resume`](crate::Service::resume).
pub trait Gate: Send + Sync + fmt::Debug {
    /// Whether new pipelines start. If not, their jobs stay `created`.
    fn lets_start(&self, project: &str) -> bool;

    /// Whether finished jobs start the next stage.
    fn lets_continue(&self, project: &str) -> bool;
}

/// Holds back nothing.
#[derive(Debug, Clone, Copy, Default)]
pub struct OpenGate;

impl Gate for OpenGate {
    fn lets_start(&self, _: &str) -> bool {
        true
    }

    fn lets_continue(&self, _: &str) -> bool {
        true
    }
}
