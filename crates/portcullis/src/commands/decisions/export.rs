//! `portcullis decisions export`.

use std::io::IsTerminal;
use std::ops::ControlFlow;

use clap::Args;

use crate::arguments::{Filter, Store};
use crate::commands::text::json;
use crate::commands::text::plain::counted;
use crate::commands::text::progress::{self, Bar, Total};
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
    let total = Total::default();
    // On a terminal the decisions themselves are what is seen.
    let is_seen = std::io::stdout().is_terminal();
    let mut bar = Bar::new(progress::is_shown() && !is_seen, "decisions", total.clone());
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
                total.set(batch.total);
                bar.show(u64::try_from(written).unwrap_or(u64::MAX), "");
                ControlFlow::Continue(())
            }
            false => ControlFlow::Break(()),
        }
    })?;
    drop(bar);
    // The count is printed only for a complete export.
    if is_whole {
        output::hint(&counted(written, "decision", "decisions"));
    }
    Ok(())
}
