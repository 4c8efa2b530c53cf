//! `portcullis decisions export`.

use std::ops::ControlFlow;

use clap::Args;

use crate::arguments::{Filter, Store};
use crate::commands::text::json;
use crate::commands::text::plain::counted;
use crate::output;
use crate::source::{self, SourceError};

#[derive(Debug, Args)]
pub(super) struct Export {
    #[command(flatten)]
    filter: Filter,
    /// Output format: one whole decision per line.
    #[arg(short, long, value_name = "FORMAT", default_value = "jsonl", value_parser = ["jsonl"])]
    output: String,
    #[command(flatten)]
    store: Store,
}

/// Writes whole decisions, one a line.
pub(super) fn run(export: &Export) -> Result<(), SourceError> {
    let mut source = source::open(&export.store)?;
    let (mut written, mut is_whole) = (0, true);
    source.lines(&export.filter, &mut |batch| {
        let mut text = String::with_capacity(batch.lines.iter().map(|l| l.len() + 1).sum());
        for line in &batch.lines {
            text.push_str(&json::escaped(line));
            text.push('\n');
        }
        is_whole = output::piece(&text);
        match is_whole {
            true => {
                written += batch.lines.len();
                ControlFlow::Continue(())
            }
            false => ControlFlow::Break(()),
        }
    })?;
    // The count is printed only for a complete export.
    if is_whole {
        output::tell(&counted(written, "decision", "decisions"));
    }
    Ok(())
}
