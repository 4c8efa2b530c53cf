//! `portcullis decisions export`.

use std::ops::ControlFlow;

use crate::cli::Export;
use crate::commands::text::json;
use crate::commands::text::plain::counted;
use crate::output;
use crate::source::{self, SourceError};

/// Writes whole decisions, one a line.
pub(super) fn run(export: &Export) -> Result<(), SourceError> {
    let mut source = source::open(&export.store)?;
    let mut written = 0;
    source.lines(&export.filter, &mut |batch| {
        let mut text = String::with_capacity(batch.lines.iter().map(|l| l.len() + 1).sum());
        for line in &batch.lines {
            text.push_str(&json::escaped(line));
            text.push('\n');
        }
        written += batch.lines.len();
        match output::piece(&text) {
            true => ControlFlow::Continue(()),
            false => ControlFlow::Break(()),
        }
    })?;
    output::tell(&counted(written, "decision", "decisions"));
    Ok(())
}
