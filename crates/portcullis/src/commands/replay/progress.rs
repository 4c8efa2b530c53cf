//! Progress, on one line of a terminal that is overwritten.

use std::fmt::Write;
use std::time::Duration;

use portcullis_core::clock::Stopwatch;
use portcullis_gate::replay::Progress;

use super::source::Total;
use crate::output;

/// How long a line stays at least.
const PAUSE: Duration = Duration::from_millis(100);

/// Cells of the bar.
const WIDTH: u64 = 24;

/// The line.
pub(super) struct Bar {
    is_shown: bool,
    total: Total,
    started: Stopwatch,
    written: Option<Stopwatch>,
}

impl Bar {
    /// A line about so many decisions, shown on a terminal only.
    pub(super) fn new(is_shown: bool, total: Total) -> Self {
        Self {
            is_shown,
            total,
            started: Stopwatch::start(),
            written: None,
        }
    }

    /// Writes it, if it is time.
    pub(super) fn show(&mut self, now: Progress) {
        if !self.is_shown || self.written.is_some_and(|last| last.elapsed() < PAUSE) {
            return;
        }
        self.written = Some(Stopwatch::start());
        let line = line(now, self.total.get(), self.started.elapsed());
        output::redraw(&line);
    }

    /// Takes it away.
    pub(super) fn end(&mut self) {
        if self.written.take().is_some() {
            output::redraw("");
        }
    }
}

fn line(now: Progress, total: Option<u64>, elapsed: Duration) -> String {
    let mut line = String::new();
    if let Some(total) = total.filter(|total| *total > 0) {
        let full = (now.done.min(total)).saturating_mul(WIDTH) / total;
        for cell in 0..WIDTH {
            line.push(if cell < full { '#' } else { '.' });
        }
        let percent = now.done.min(total).saturating_mul(100) / total;
        let _ = write!(line, " {percent:>3} %  {} of {total}", now.done);
    } else {
        let _ = write!(line, "{} decisions", now.done);
    }
    let milliseconds = u64::try_from(elapsed.as_millis())
        .unwrap_or(u64::MAX)
        .max(1);
    let speed = now.done.saturating_mul(1000) / milliseconds;
    let _ = write!(line, "  {} would change  {speed}/s", now.changed);
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bar_fills() {
        let now = |done| Progress { done, changed: 3 };
        let second = Duration::from_secs(1);
        assert_eq!(
            line(now(50), Some(100), second),
            "############............  50 %  50 of 100  3 would change  50/s"
        );
        assert_eq!(
            line(now(7), None, second),
            "7 decisions  3 would change  7/s"
        );
        assert!(line(now(200), Some(100), second).starts_with(&"#".repeat(24)));
    }
}
