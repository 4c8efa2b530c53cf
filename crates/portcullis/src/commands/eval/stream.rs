//! The stream of documents: read on one thread, judged on several, written on the first, in order.
//!
//! Where what is said of a document may depend on those before it, one thread judges all of them.

use std::io::IsTerminal;
use std::num::NonZero;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use portcullis_core::sync::Mutex;
use portcullis_gate::offline::{Blueprint, Offline};

use super::input::{self, Input};
use super::judge::{Bench, Work};
use super::lanes::{self, Deal};
use super::outcome::Outcome;
use super::results::Results;
use super::totals::Totals;
use super::{Eval, namespace};
use crate::commands::text::progress::{self, Bar, Total};
use crate::commands::text::terminal::Terminal;
use crate::exit::Exit;

/// Documents in a batch, at most.
const BATCH: usize = 16;

/// More threads would wait for what is read.
const LANES: usize = 8;

/// How it ended.
pub(super) struct Done {
    pub(super) exit: Exit,
    /// Why requests for access were not evaluated, if there were any.
    pub(super) not_evaluated: Option<String>,
}

/// Judges everything. `offline` is the first chain; others are built when there is much to do.
pub(super) fn run(blueprint: &Blueprint, bench: &Bench<'_>, offline: Offline, eval: &Eval) -> Done {
    let inputs = eval.inputs().map(|path| path.display().to_string());
    let mut totals = Totals::new(inputs.collect(), bench.judges().to_vec());
    let total = Total::default();
    let passed_over = AtomicUsize::default();
    let mut results = results(bench, eval, &total);
    let lanes = match blueprint.depends_on_earlier() {
        true => 1,
        false => thread::available_parallelism()
            .map_or(1, NonZero::get)
            .min(LANES),
    };
    let first = Mutex::new(Some(offline));
    lanes::in_order(
        lanes,
        |deal| read(bench, eval, (&total, &passed_over), deal),
        |number| {
            let first = || first.lock().take();
            let mut chain = (number == 0).then(first).flatten().map(Ok);
            move |batch: Vec<Work>| {
                let chain = chain.get_or_insert_with(|| {
                    let built = blueprint.build(namespace(eval), &blueprint.memory());
                    built.map_err(|faults| faults.on_one_line())
                });
                let judged = batch.into_iter().map(|work| match chain {
                    Ok(offline) => bench.judge(offline, work),
                    Err(why) => bench.not_judged(work, why),
                });
                judged.collect::<Vec<Outcome>>()
            }
        },
        |outcomes| results.add(&outcomes, &mut totals),
    );
    totals.add_judges(bench.authorizers());
    totals.pass_over(passed_over.load(Ordering::Relaxed));
    Done {
        exit: results.end(&totals),
        not_evaluated: totals.not_evaluated(),
    }
}

/// Where the command line wants results.
fn results(bench: &Bench<'_>, eval: &Eval, total: &Total) -> Results {
    let writer = |format: super::format::Format, terminal| {
        format.writer(bench.judges(), eval.explain, terminal)
    };
    // On a terminal the results themselves show how far it is.
    let is_seen = std::io::stdout().is_terminal() && eval.output.is_immediate();
    let bar = Bar::new(progress::is_shown() && !is_seen, "objects", total.clone());
    let printed = writer(eval.output, Terminal::of_output());
    let mut results = Results::new(eval.output, printed, bar);
    for report in &eval.report {
        results.add_report(
            report.file.clone(),
            writer(report.kind, Terminal::default()),
        );
    }
    results
}

/// Deals everything that is read, in batches.
fn read(
    bench: &Bench<'_>,
    eval: &Eval,
    (total, passed_over): (&Total, &AtomicUsize),
    deal: &mut Deal<'_, Vec<Work>>,
) {
    let mut batches = Batches {
        deal,
        batch: Vec::with_capacity(BATCH),
        count: 0,
        held: None,
        holds: bench.has_one_old(),
    };
    let read = input::read(eval, total, passed_over, &mut |input| batches.push(input));
    if read.is_continue() {
        batches.end();
    }
}

/// Documents on their way to those who judge.
struct Batches<'a, 'b> {
    deal: &'a mut Deal<'b, Vec<Work>>,
    batch: Vec<Work>,
    count: usize,
    /// The first one, until it is known whether it is the only one.
    held: Option<Input>,
    holds: bool,
}

impl Batches<'_, '_> {
    fn push(&mut self, input: Input) -> ControlFlow<()> {
        if self.holds && self.count == 0 && self.held.is_none() {
            self.held = Some(input);
            return ControlFlow::Continue(());
        }
        if let Some(held) = self.held.take() {
            self.add(held, false)?;
        }
        self.add(input, false)
    }

    fn add(&mut self, input: Input, is_alone: bool) -> ControlFlow<()> {
        let number = self.count;
        self.count += 1;
        self.batch.push(Work {
            number,
            is_alone,
            input,
        });
        match self.batch.len() {
            BATCH => self.flush(),
            _ => ControlFlow::Continue(()),
        }
    }

    fn flush(&mut self) -> ControlFlow<()> {
        let batch = std::mem::replace(&mut self.batch, Vec::with_capacity(BATCH));
        (self.deal)(batch)
    }

    /// What is left.
    fn end(&mut self) {
        let held = self.held.take().map(|held| self.add(held, true));
        if held.is_none_or(|added| added.is_continue()) && !self.batch.is_empty() {
            // Whether more is wanted does not matter any more.
            let _ = self.flush();
        }
    }
}
