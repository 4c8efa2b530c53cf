//! Where results go, as they come: messages to standard error, data to standard output, reports to files.

use std::path::PathBuf;

use super::format::Format;
use super::outcome::{Outcome, UnreadPart};
use super::totals::Totals;
use super::writer::Writer;
use crate::commands::text::plain;
use crate::commands::text::progress::Bar;
use crate::commands::text::spool::Spool;
use crate::commands::text::{error, report};
use crate::exit::Exit;
use crate::output;

/// What is done with outcomes.
pub(super) struct Results {
    format: Format,
    printed: Box<dyn Writer>,
    /// What is to be printed.
    text: String,
    reports: Vec<Report>,
    bar: Bar,
}

/// A report under construction. Its file is written when it is complete.
struct Report {
    file: PathBuf,
    writer: Box<dyn Writer>,
    text: String,
    spool: Spool,
}

impl Results {
    /// Prints by a writer, and shows by `bar` how far it is.
    pub(super) fn new(format: Format, printed: Box<dyn Writer>, bar: Bar) -> Self {
        Self {
            format,
            printed,
            text: String::new(),
            reports: Vec::new(),
            bar,
        }
    }

    /// Writes a report too.
    pub(super) fn add_report(&mut self, file: PathBuf, writer: Box<dyn Writer>) {
        self.reports.push(Report {
            file,
            writer,
            text: String::new(),
            spool: Spool::default(),
        });
    }

    /// Writes what is known with these outcomes, and counts them.
    pub(super) fn add(&mut self, outcomes: &[Outcome], totals: &mut Totals) {
        for outcome in outcomes {
            totals.add(outcome);
            self.tell(outcome);
            self.printed.add(outcome, &mut self.text);
            for report in &mut self.reports {
                report.writer.add(outcome, &mut report.text);
                report.spool.push(&report.text);
                report.text.clear();
            }
        }
        self.print();
        let done = u64::try_from(totals.outcomes()).unwrap_or(u64::MAX);
        self.bar.show(done, "");
    }

    /// What goes to standard error, after what is said of the outcomes before.
    fn tell(&mut self, outcome: &Outcome) {
        match outcome {
            Outcome::Judged(judged) if judged.written.is_empty() => {}
            Outcome::Judged(judged) => {
                self.print();
                self.bar.hide();
                let lines = judged.written.iter();
                lines.for_each(|line| output::tell(&plain::written(line)));
            }
            // Said once for all, at the end.
            Outcome::Unread(unread) if unread.part == UnreadPart::Access => {}
            // The table has those of documents.
            Outcome::Unread(unread) if unread.is_apart() || self.format != Format::Table => {
                self.print();
                self.bar.hide();
                error::faults([&*unread.fault]);
            }
            Outcome::Unread(_) => {}
        }
    }

    fn print(&mut self) {
        if !self.text.is_empty() {
            self.bar.hide();
            output::data(&self.text);
            self.text.clear();
        }
    }

    /// Writes the rest, and says what it comes to. Whether everything could be written is in the exit code.
    pub(super) fn end(mut self, totals: &Totals) -> Exit {
        self.bar.hide();
        let mut exit = totals.exit();
        if let Err(wrong) = self.printed.end(totals, &mut output::Data) {
            error::tell(&format!(
                "cannot print the results: {}",
                output::reason(&wrong)
            ));
            exit = Exit::Failed;
        }
        if let Some(line) = totals.closing_line() {
            output::hint(&line);
        }
        for Report {
            file,
            mut writer,
            spool,
            ..
        } in self.reports
        {
            let is_written = report::write_by(&file, &mut |out| {
                spool.copy(out)?;
                writer.end(totals, out)
            });
            if !is_written {
                exit = Exit::Failed;
            }
        }
        exit
    }
}
