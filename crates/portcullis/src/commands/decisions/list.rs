//! `portcullis decisions list`.

use std::ops::ControlFlow;

use clap::Args;

use super::page::Printer;
use crate::arguments::{Filter, Store};
use crate::commands::text::data::Output;
use crate::commands::text::plain::{counted, printable};
use crate::commands::text::terminal::Terminal;
use crate::exit::Exit;
use crate::output;
use crate::source::{self, DecisionSource, Followed, PAGE, SourceError};

#[derive(Debug, Args)]
pub(super) struct List {
    #[command(flatten)]
    filter: Filter,
    /// Print existing decisions, the oldest first, then new ones as they are made.
    #[arg(short, long, conflicts_with_all = ["after", "until"])]
    watch: bool,
    /// The maximum number of decisions to print; 0 for all.
    #[arg(long, value_name = "N", default_value_t = 100)]
    limit: usize,
    /// Continue after an earlier list: its `next`.
    #[arg(long, value_name = "NEXT")]
    after: Option<String>,
    /// Omit the header line.
    #[arg(long)]
    no_headers: bool,
    /// Output format.
    #[arg(short, long, value_enum, default_value_t = Output::Table)]
    output: Output,
    #[command(flatten)]
    store: Store,
}

/// Lists decisions, or follows them.
pub(super) fn run(list: &List) -> Result<(), SourceError> {
    if list.watch && !(1..=PAGE).contains(&list.limit) {
        return Err(SourceError::new(
            Exit::Usage,
            format!(
                "with --watch, --limit must be between 1 and {PAGE}: the number of earlier decisions to print"
            ),
        ));
    }
    let mut source = source::open(&list.store)?;
    match list.watch {
        true => watch(source.as_mut(), list),
        false => pages(source.as_mut(), list),
    }
}

/// Prints page by page, so that a list of any length needs little memory.
fn pages(source: &mut dyn DecisionSource, list: &List) -> Result<(), SourceError> {
    let mut left = if list.limit == 0 {
        usize::MAX
    } else {
        list.limit
    };
    let mut after = list.after.clone();
    let mut printer: Option<Printer> = None;
    let mut shown = 0;
    loop {
        let page = source.list(&list.filter, after.as_deref(), left.min(PAGE))?;
        // A server that gives more than it was asked for has lost the place in its list.
        if page.items.len() > left {
            return Err(SourceError::new(
                Exit::Failed,
                "the server returned more than was requested",
            ));
        }
        left -= page.items.len();
        shown += page.items.len();
        // Nothing is printed before there is something to print.
        let printer = printer.get_or_insert_with(|| Printer::new(list.output, !list.no_headers));
        if !printer.print(&page.items) {
            return Ok(());
        }
        after = page.next;
        if left == 0 || after.is_none() {
            printer.end(after.as_deref());
            break;
        }
    }
    if list.output == Output::Table {
        tell_rest(list, shown, after.as_deref());
    }
    Ok(())
}

fn tell_rest(list: &List, shown: usize, next: Option<&str>) {
    match next {
        Some(next) => output::hint(&format!(
            "only the newest {}: --limit 0 prints all, --after {} the next ones",
            counted(shown, "decision", "decisions"),
            printable(next)
        )),
        None if shown == 0 && list.after.is_none() => output::hint("no decisions found"),
        None => {}
    }
    // Who reads it on a terminal may want to go on.
    if shown > 0 && Terminal::of_output().width.is_some() {
        let place = list.store.flags();
        output::hint(&format!(
            "why: portcullis explain ID{place}, or portcullis explain --last{place}"
        ));
    }
}

fn watch(source: &mut dyn DecisionSource, list: &List) -> Result<(), SourceError> {
    let mut printer = Printer::following(list.output, !list.no_headers);
    source.follow(&list.filter, list.limit, &mut |followed| {
        let goes_on = match followed {
            Followed::Items(items) => printer.print(&items),
            Followed::Interrupted(why) => {
                output::tell(&format!("{}; reconnecting", printable(&why)));
                true
            }
        };
        match goes_on {
            true => ControlFlow::Continue(()),
            false => ControlFlow::Break(()),
        }
    })
}
