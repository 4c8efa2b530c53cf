//! The interface of sources of recorded decisions.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use portcullis_gate::replay::Line;

use crate::source::SourceError;

/// Takes lines; says when it wants no more.
pub(super) type Sink<'a> = &'a mut dyn FnMut(Vec<Line>) -> ControlFlow<()>;

/// Recorded decisions, one line each.
pub(super) trait Source {
    /// Hands all of them over.
    fn read(self: Box<Self>, sink: Sink<'_>) -> Result<(), SourceError>;
}

/// How many decisions there are, once that is known.
#[derive(Debug, Clone, Default)]
pub(super) struct Total(Arc<AtomicU64>);

impl Total {
    pub(super) fn set(&self, total: u64) {
        self.0.store(total, Ordering::Relaxed);
    }

    pub(super) fn get(&self) -> Option<u64> {
        Some(self.0.load(Ordering::Relaxed)).filter(|total| *total > 0)
    }
}
