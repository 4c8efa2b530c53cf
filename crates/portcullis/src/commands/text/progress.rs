//! Progress, on one line of a terminal that is overwritten, for work that takes a while.
//!
//! Nothing is shown for the first half second, nor where standard error is not a terminal. What is printed meanwhile
//! must be preceded by [`Bar::hide`].

use std::fmt::Write;
use std::io::IsTerminal;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use portcullis_core::clock::Stopwatch;

use crate::output;

/// Work that is done sooner needs no line.
const PATIENCE: Duration = Duration::from_millis(500);

/// How long a line stays at least.
const PAUSE: Duration = Duration::from_millis(100);

/// Cells of the bar.
const WIDTH: u64 = 24;

/// Whether progress is shown at all: only to a person who sees standard error, on a terminal that can overwrite a line.
pub(in crate::commands) fn is_shown() -> bool {
    std::io::stderr().is_terminal() && output::can_redraw()
}

/// How much there is to do, once that is known. It may be set by another thread.
#[derive(Debug, Clone, Default)]
pub(in crate::commands) struct Total(Arc<Amounts>);

#[derive(Debug, Default)]
struct Amounts {
    /// What is counted.
    total: AtomicU64,
    /// Of something else, like files, how many are done and how many there are.
    part: AtomicU64,
    whole: AtomicU64,
}

impl Total {
    /// There is so much in all of what is counted.
    pub(in crate::commands) fn set(&self, total: u64) {
        self.0.total.store(total, Ordering::Relaxed);
    }

    /// How much there is of what is counted is not known, but so many of so many pieces of work are done.
    pub(in crate::commands) fn set_share(&self, part: usize, whole: usize) {
        let of = |count: usize| u64::try_from(count).unwrap_or(u64::MAX);
        self.0.whole.store(of(whole), Ordering::Relaxed);
        self.0.part.store(of(part), Ordering::Relaxed);
    }

    /// The total, unless it was wrong.
    fn get(&self, done: u64) -> Option<u64> {
        Some(self.0.total.load(Ordering::Relaxed)).filter(|total| *total > 0 && *total >= done)
    }

    /// What is done, and of how much.
    fn share(&self, done: u64) -> Option<(u64, u64)> {
        let of = |amount: &AtomicU64| amount.load(Ordering::Relaxed);
        let files = Some((of(&self.0.part), of(&self.0.whole))).filter(|(_, whole)| *whole > 1);
        self.get(done).map(|total| (done, total)).or(files)
    }
}

/// The line.
#[derive(Debug)]
pub(in crate::commands) struct Bar {
    is_shown: bool,
    /// What is counted: `objects`.
    noun: &'static str,
    total: Total,
    started: Stopwatch,
    looked: Option<Stopwatch>,
    is_written: bool,
}

impl Bar {
    /// A line about what is counted, if any is shown.
    pub(in crate::commands) fn new(is_shown: bool, noun: &'static str, total: Total) -> Self {
        Self {
            is_shown,
            noun,
            total,
            started: Stopwatch::start(),
            looked: None,
            is_written: false,
        }
    }

    /// Writes it, if it is time. `note` says more, or nothing.
    pub(in crate::commands) fn show(&mut self, done: u64, note: &str) {
        let is_soon = || self.looked.is_some_and(|last| last.elapsed() < PAUSE);
        if !self.is_shown || self.started.elapsed() < PATIENCE || is_soon() {
            return;
        }
        self.looked = Some(Stopwatch::start());
        self.is_written = true;
        let line = self.line(done, note, self.started.elapsed());
        // A line that wraps could not be overwritten.
        let width = terminal_size::terminal_size().map_or(80, |(width, _)| usize::from(width.0));
        let line: String = line.chars().take(width.saturating_sub(1)).collect();
        output::redraw(&line);
    }

    /// Takes it away, until it is shown again.
    pub(in crate::commands) fn hide(&mut self) {
        if std::mem::take(&mut self.is_written) {
            output::redraw("");
        }
    }

    fn line(&self, done: u64, note: &str, elapsed: Duration) -> String {
        let mut line = String::new();
        if let Some((part, whole)) = self.total.share(done) {
            let full = part.min(whole).saturating_mul(WIDTH) / whole;
            for cell in 0..WIDTH {
                line.push(if cell < full { '#' } else { '.' });
            }
            let percent = part.min(whole).saturating_mul(100) / whole;
            let _ = write!(line, " {percent:>3} %  ");
        }
        let _ = match self.total.get(done) {
            Some(total) => write!(line, "{done} of {total}"),
            None => write!(line, "{done} {}", self.noun),
        };
        if !note.is_empty() {
            let _ = write!(line, "  {note}");
        }
        let milliseconds = u64::try_from(elapsed.as_millis()).unwrap_or(u64::MAX);
        let speed = done.saturating_mul(1000) / milliseconds.max(1);
        let _ = write!(line, "  {speed}/s");
        line
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        self.hide();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bar_fills() {
        let total = Total::default();
        let bar = Bar::new(true, "decisions", total.clone());
        let line = |done, note| bar.line(done, note, Duration::from_secs(1));
        assert_eq!(
            line(7, "3 would change"),
            "7 decisions  3 would change  7/s"
        );
        total.set(100);
        assert_eq!(
            line(50, "3 would change"),
            "############............  50 %  50 of 100  3 would change  50/s"
        );
        assert!(line(100, "").starts_with(&"#".repeat(24)));
        // There were more than was said.
        assert_eq!(line(200, ""), "200 decisions  200/s");
    }

    #[test]
    fn other_work_says_how_far_it_is() {
        let total = Total::default();
        let bar = Bar::new(true, "objects", total.clone());
        total.set_share(0, 1);
        let second = Duration::from_secs(1);
        assert_eq!(bar.line(9, "", second), "9 objects  9/s");
        total.set_share(3, 4);
        assert_eq!(
            bar.line(12, "", second),
            "##################......  75 %  12 objects  12/s"
        );
    }

    #[test]
    fn short_work_shows_nothing() {
        let mut bar = Bar::new(true, "objects", Total::default());
        bar.show(1, "");
        assert!(!bar.is_written);
    }
}
