//! The interface of sources of recorded decisions.

use std::ops::ControlFlow;

use portcullis_gate::replay::Line;

use crate::source::SourceError;

/// Takes lines; says when it wants no more.
pub(super) type Sink<'a> = &'a mut dyn FnMut(Vec<Line>) -> ControlFlow<()>;

/// Recorded decisions, one line each.
pub(super) trait Source {
    /// Hands all of them over.
    fn read(self: Box<Self>, sink: Sink<'_>) -> Result<(), SourceError>;
}
