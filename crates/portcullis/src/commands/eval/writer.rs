//! The interface of what writes results: one outcome after the other, and what can only be known at the end.
//!
//! None of them keeps outcomes. What each keeps is said in its module.

use std::io::{self, Write};

use super::outcome::Outcome;
use super::totals::Totals;

/// Writes results in some format.
pub(super) trait Writer {
    /// Writes an outcome, or what can be written of it already.
    fn add(&mut self, outcome: &Outcome, out: &mut String);

    /// Writes the rest.
    ///
    /// # Errors
    ///
    /// When it can't be written, or what was put aside can't be read back.
    fn end(&mut self, totals: &Totals, out: &mut dyn Write) -> io::Result<()>;
}
