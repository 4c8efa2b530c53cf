//! Recorded decisions in a store, or on a server.

use portcullis_gate::replay::Line;

use super::source::{Sink, Source};
use crate::arguments::Filter;
use crate::commands::text::progress::Total;
use crate::source::{DecisionSource, SourceError};

/// Decisions in a store.
pub(super) struct Stored {
    pub(super) source: Box<dyn DecisionSource>,
    pub(super) filter: Filter,
    pub(super) total: Total,
}

impl Source for Stored {
    fn read(mut self: Box<Self>, sink: Sink<'_>) -> Result<(), SourceError> {
        let mut number = 0;
        self.source.lines(&self.filter, &mut |batch| {
            self.total.set(batch.total);
            let numbered = batch.lines.into_iter().map(|text| {
                number += 1;
                Line { number, text }
            });
            sink(numbered.collect())
        })
    }
}
