//! Where recorded decisions come from.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use portcullis_gate::replay::Line;

use super::Replay;
use super::file::File;
use crate::arguments::Filter;
use crate::source::{self, DecisionSource, SourceError};

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

/// The source the command line names. A store leaves out what is older than asked for.
pub(super) fn open_source(replay: &Replay, total: &Total) -> Result<Box<dyn Source>, SourceError> {
    match &replay.file {
        Some(file) => Ok(Box::new(File::open(file, total)?)),
        None => Ok(Box::new(Stored {
            source: source::open(&replay.store)?,
            filter: Filter {
                since: replay.since.clone(),
                ..Filter::default()
            },
            total: total.clone(),
        })),
    }
}

/// Decisions in a store.
struct Stored {
    source: Box<dyn DecisionSource>,
    filter: Filter,
    total: Total,
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
