//! Amounts of resources, as Kubernetes reads, compares, adds and prints them: `500m`, `1.5Gi`, `12e6`.
//!
//! All forms are one number of billionths, so comparing and adding lose nothing. How an amount is printed
//! depends on the form it was written in; what Kubernetes prints as it was written is printed so here.
//! Amounts far beyond 64 bits (from 10^29) are rejected: no resource has them, and Kubernetes miscounts them.

mod list;
mod parse;

#[cfg(test)]
mod tests;

use std::cmp::Ordering;
use std::fmt;

pub(crate) use list::ResourceList;

/// Billionths in one.
const NANO: i128 = 1_000_000_000;
/// Billionths in a thousandth.
const MILLI: i128 = 1_000_000;
/// The largest amount of which Kubernetes counts thousandths in 64 bits.
const MAX_IN_MILLI: i128 = (i64::MAX / 1000) as i128;

/// The form an amount is printed in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Format {
    /// `12M`.
    DecimalSuffix,
    /// `12Mi`.
    BinarySuffix,
    /// `12e6`.
    Exponent,
}

/// An amount of a resource.
#[derive(Clone, Debug)]
pub(crate) struct Quantity {
    /// How many billionths.
    nano: i128,
    format: Format,
    /// The text it was read from, if it is printed as it was written.
    text: Option<Box<str>>,
}

/// A text that is not an amount.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum InvalidQuantity {
    /// It isn't written like one.
    #[error("not a quantity")]
    Syntax,
    /// It is 10^29 or more.
    #[error("too large for a quantity")]
    TooLarge,
}

impl Quantity {
    /// Nothing.
    pub(crate) const ZERO: Self = Self::of(0);

    /// This many objects, as Kubernetes counts them.
    pub(crate) const fn of(count: u32) -> Self {
        Self::new(count as i128 * NANO, Format::DecimalSuffix)
    }

    const fn new(nano: i128, format: Format) -> Self {
        Self {
            nano,
            format,
            text: None,
        }
    }

    /// Reads an amount.
    ///
    /// # Errors
    ///
    /// When the text is not an amount.
    pub(crate) fn parse(text: &str) -> Result<Self, InvalidQuantity> {
        parse::parse(text)
    }

    /// Whether it is nothing.
    pub(crate) fn is_zero(&self) -> bool {
        self.nano == 0
    }

    /// Whether it is more than nothing.
    pub(crate) fn is_positive(&self) -> bool {
        self.nano > 0
    }

    /// Whether it is less than nothing.
    pub(crate) fn is_negative(&self) -> bool {
        self.nano < 0
    }

    /// The sum. It is printed in the form of the first that is not zero.
    #[must_use]
    pub(crate) fn plus(&self, other: &Self) -> Self {
        let sum = self.nano.saturating_add(other.nano);
        Self::new(sum, self.format_beside(other))
    }

    /// What is left after taking the other away.
    #[must_use]
    pub(crate) fn minus(&self, other: &Self) -> Self {
        let rest = self.nano.saturating_sub(other.nano);
        Self::new(rest, self.format_beside(other))
    }

    fn format_beside(&self, other: &Self) -> Format {
        if self.is_zero() {
            other.format
        } else {
            self.format
        }
    }

    /// Rounded up, away from zero, to whole thousandths: the API server stores no smaller parts.
    #[must_use]
    pub(crate) fn in_milli(self) -> Self {
        self.rounded(MILLI)
    }

    /// Rounded up, away from zero, to a whole number.
    #[must_use]
    pub(crate) fn in_whole(self) -> Self {
        self.rounded(NANO)
    }

    fn rounded(self, unit: i128) -> Self {
        if self.nano % unit == 0 {
            return self;
        }
        let nano = units(self.nano, unit).saturating_mul(unit);
        Self::new(nano, self.format)
    }

    /// Its whole number, rounded up away from zero.
    pub(crate) fn whole(&self) -> i128 {
        units(self.nano, NANO)
    }

    /// Its thousandths, rounded up away from zero.
    pub(crate) fn thousandths(&self) -> i128 {
        units(self.nano, MILLI)
    }

    /// Whether Kubernetes compares it by thousandths; larger amounts are compared by whole numbers.
    pub(crate) fn counts_in_thousandths(&self) -> bool {
        self.whole() <= MAX_IN_MILLI
    }
}

/// How many units there are, rounded up away from zero.
fn units(nano: i128, unit: i128) -> i128 {
    let whole = nano / unit;
    match nano % unit {
        0 => whole,
        rest => whole.saturating_add(rest.signum()),
    }
}

impl PartialEq for Quantity {
    /// Amounts are equal whatever form they are printed in.
    fn eq(&self, other: &Self) -> bool {
        self.nano == other.nano
    }
}

impl Eq for Quantity {}

impl PartialOrd for Quantity {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Quantity {
    fn cmp(&self, other: &Self) -> Ordering {
        self.nano.cmp(&other.nano)
    }
}

impl fmt::Display for Quantity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(text) = &self.text {
            return f.write_str(text);
        }
        if self.is_zero() {
            return f.write_str("0");
        }
        match self.format {
            Format::BinarySuffix if self.has_binary_form() => self.print_binary(f),
            Format::BinarySuffix | Format::DecimalSuffix => self.print_decimal(f),
            Format::Exponent => match self.decimal(None) {
                (number, 0) => write!(f, "{number}"),
                (number, exponent) => write!(f, "{number}e{exponent}"),
            },
        }
    }
}

impl Quantity {
    /// Whether it can be printed with a binary suffix and no fraction, and is large enough for that.
    fn has_binary_form(&self) -> bool {
        self.nano % NANO == 0 && (self.nano / NANO).unsigned_abs() >= 1024
    }

    fn print_binary(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut number = self.nano / NANO;
        let mut suffixes = parse::BINARY.iter();
        let mut suffix = "";
        while number % 1024 == 0
            && let Some((larger, _)) = suffixes.next()
        {
            number /= 1024;
            suffix = larger;
        }
        write!(f, "{number}{suffix}")
    }

    fn print_decimal(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (number, exponent) = self.decimal(Some(18));
        let known = parse::DECIMAL.iter().find(|(_, e)| *e == exponent);
        let suffix = known.map_or("", |(suffix, _)| *suffix);
        write!(f, "{number}{suffix}")
    }

    /// The number and the exponent of ten it is printed with: as large as possible, and a multiple of three.
    fn decimal(&self, max: Option<i32>) -> (i128, i32) {
        let (mut number, mut exponent) = (self.nano, -9);
        while number != 0 && number % 1000 == 0 && max.is_none_or(|max| exponent < max) {
            number /= 1000;
            exponent += 3;
        }
        (number, exponent)
    }
}
