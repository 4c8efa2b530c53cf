//! A `JUnit` report: one suite for each plug-in or policy, one case for each object.
//!
//! Each suite says first how many cases it has, and has the cases of all objects. So their text is put aside until the
//! end: of each suite some KiB are in memory, and where the rest is.

use std::fmt::Write;
use std::io;
use std::ops::Range;

use portcullis_core::PolicyOutcome;
use portcullis_gate::offline::Judge;

use super::outcome::{DocumentPosition, JudgeResult, Judgement, Outcome, Unread, UnreadPart};
use super::totals::Totals;
use super::writer::Writer;
use crate::commands::text::spool::Spool;
use crate::commands::text::xml::escaped;

/// So much of a suite stays in memory.
const KEPT: usize = 16 << 10;

/// The suite of manifests that could not be read.
const UNREAD: &str = "manifests";

/// The report, as far as it is known.
pub(super) struct Junit {
    suites: Vec<Suite>,
    /// Of manifests that could not be read; it comes last.
    unread: Suite,
    spool: Spool,
}

impl Junit {
    /// An empty suite for each who judges.
    pub(super) fn new(judges: &[Judge]) -> Self {
        Self {
            suites: judges.iter().map(|judge| Suite::new(&judge.name)).collect(),
            unread: Suite::new(UNREAD),
            spool: Spool::default(),
        }
    }
}

impl Writer for Junit {
    fn add(&mut self, outcome: &Outcome, _: &mut String) {
        match outcome {
            Outcome::Judged(judged) => {
                for part in &judged.parts {
                    let known = self.suites.iter().position(|suite| suite.name == part.name);
                    let place = known.unwrap_or_else(|| {
                        self.suites.push(Suite::new(&part.name));
                        self.suites.len() - 1
                    });
                    if let Some(suite) = self.suites.get_mut(place) {
                        suite.case(judged, part);
                        suite.spill(&mut self.spool);
                    }
                }
            }
            Outcome::Unread(one) => {
                self.unread.unread(one);
                self.unread.spill(&mut self.spool);
            }
        }
    }

    fn end(&mut self, _: &Totals, out: &mut dyn io::Write) -> io::Result<()> {
        let unread = Some(&self.unread).filter(|suite| suite.tests > 0);
        let suites = || self.suites.iter().chain(unread);
        let total = |count: fn(&Suite) -> usize| suites().map(count).sum::<usize>();
        writeln!(
            out,
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"portcullis eval\" tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"{}\">",
            total(|s| s.tests),
            total(|s| s.failures),
            total(|s| s.errors),
            total(|s| s.skipped),
        )?;
        suites().try_for_each(|suite| suite.write(&self.spool, out))?;
        writeln!(out, "</testsuites>")
    }
}

/// A suite under construction.
struct Suite {
    name: String,
    tests: usize,
    failures: usize,
    errors: usize,
    skipped: usize,
    /// The last cases.
    cases: String,
    /// Where those before are.
    spilled: Vec<Range<u64>>,
}

impl Suite {
    fn new(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            tests: 0,
            failures: 0,
            errors: 0,
            skipped: 0,
            cases: String::new(),
            spilled: Vec::new(),
        }
    }

    /// Puts the cases aside when they have become many.
    fn spill(&mut self, spool: &mut Spool) {
        if self.cases.len() >= KEPT {
            self.spilled.push(spool.push(&self.cases));
            self.cases.clear();
        }
    }

    fn case(&mut self, judged: &Judgement, part: &JudgeResult) {
        let message = escaped(&part.message);
        let seconds = part.duration.as_secs_f64();
        let inner = match part.said {
            // A denial that does not count is a remark.
            PolicyOutcome::Deny | PolicyOutcome::Error if !part.counts() => {
                format!("<system-out>{}: {message}</system-out>", part.mode.as_str())
            }
            PolicyOutcome::Deny => {
                self.failures += 1;
                format!("<failure type=\"deny\" message=\"{message}\">{message}</failure>")
            }
            PolicyOutcome::Error => {
                self.errors += 1;
                format!("<error type=\"error\" message=\"{message}\">{message}</error>")
            }
            PolicyOutcome::Skip => {
                self.skipped += 1;
                format!("<skipped message=\"{message}\"/>")
            }
            PolicyOutcome::Warn => format!("<system-out>warning: {message}</system-out>"),
            PolicyOutcome::Pass | PolicyOutcome::Allow => String::new(),
        };
        self.push(&judged.title, &judged.spot, seconds, &inner);
    }

    fn unread(&mut self, unread: &Unread) {
        self.errors += 1;
        let message = escaped(&unread.fault.to_string());
        let inner = format!("<error type=\"unreadable\" message=\"{message}\">{message}</error>");
        let name = match unread.part == UnreadPart::File {
            true => "file".to_owned(),
            false => format!("document {}", unread.spot.index),
        };
        self.push(&name, &unread.spot, 0.0, &inner);
    }

    fn push(&mut self, name: &str, spot: &DocumentPosition, seconds: f64, inner: &str) {
        self.tests += 1;
        let (name, file, line) = (escaped(name), escaped(&spot.file), spot.line);
        let _ = writeln!(
            self.cases,
            "    <testcase name=\"{name}\" classname=\"{file}\" file=\"{file}\" line=\"{line}\" time=\"{seconds:.6}\">{inner}</testcase>",
        );
    }

    fn write(&self, spool: &Spool, out: &mut dyn io::Write) -> io::Result<()> {
        writeln!(
            out,
            "  <testsuite name=\"{}\" tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"{}\">",
            escaped(&self.name),
            self.tests,
            self.failures,
            self.errors,
            self.skipped,
        )?;
        for part in &self.spilled {
            spool.copy_range(part.clone(), out)?;
        }
        writeln!(out, "{}  </testsuite>", self.cases)
    }
}
