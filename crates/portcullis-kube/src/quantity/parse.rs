//! Reading amounts.
//!
//! Like Kubernetes, this takes unusual forms (`+`, `.5`, `007`, `1e-3`), rounds up what is
//! smaller than a billionth, and caps amounts with a binary suffix at 2^63-1.

use super::{Format, InvalidQuantity, NANO, Quantity};

/// Decimal suffixes with their exponents of ten.
pub(super) const DECIMAL: [(&str, i32); 10] = [
    ("n", -9),
    ("u", -6),
    ("m", -3),
    ("", 0),
    ("k", 3),
    ("M", 6),
    ("G", 9),
    ("T", 12),
    ("P", 15),
    ("E", 18),
];

/// Binary suffixes with their exponents of two, the smallest first.
pub(super) const BINARY: [(&str, u32); 6] = [
    ("Ki", 10),
    ("Mi", 20),
    ("Gi", 30),
    ("Ti", 40),
    ("Pi", 50),
    ("Ei", 60),
];

/// The largest amount with a binary suffix.
const MAX_BINARY: i128 = i64::MAX as i128;

/// Longer texts are printed in canonical form.
const MAX_KEPT: usize = 64;

/// The parts of an amount: `-`, `1`, `5`, `Gi`.
struct Parts<'a> {
    is_negative: bool,
    /// Without zeros in front; empty if there is nothing else.
    integer: &'a str,
    fraction: &'a str,
    suffix: &'a str,
}

#[derive(Clone, Copy)]
enum Scale {
    /// An exponent of ten.
    Ten(i32),
    /// An exponent of two.
    Two(u32),
}

pub(super) fn parse(text: &str) -> Result<Quantity, InvalidQuantity> {
    if text.is_empty() {
        return Err(InvalidQuantity::Syntax);
    }
    let parts = split(text);
    let (scale, format) = scale(parts.suffix).ok_or(InvalidQuantity::Syntax)?;
    let amount = match scale {
        Scale::Ten(exponent) => decimal(&parts, exponent),
        Scale::Two(exponent) => Some(binary(&parts, exponent)),
    };
    let amount = amount.ok_or(InvalidQuantity::TooLarge)?;
    let format = match format {
        // Kubernetes prints parts of one with a decimal suffix from then on.
        Format::BinarySuffix if (1..NANO).contains(&amount) => Format::DecimalSuffix,
        format => format,
    };
    let nano = if parts.is_negative { -amount } else { amount };
    let is_kept = text.len() <= MAX_KEPT && is_printed_as_written(&parts, scale);
    Ok(Quantity {
        nano,
        format,
        text: is_kept.then(|| text.into()),
    })
}

fn split(text: &str) -> Parts<'_> {
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    let (integer, rest) = digits(unsigned.trim_start_matches('0'));
    let (fraction, suffix) = match rest.strip_prefix('.') {
        Some(rest) => digits(rest),
        None => ("", rest),
    };
    Parts {
        is_negative: text.starts_with('-'),
        integer,
        fraction,
        suffix,
    }
}

/// The digits that the text begins with, and what follows them.
fn digits(text: &str) -> (&str, &str) {
    let end = text.find(|c: char| !c.is_ascii_digit());
    text.split_at_checked(end.unwrap_or(text.len()))
        .unwrap_or((text, ""))
}

fn scale(suffix: &str) -> Option<(Scale, Format)> {
    if let Some((_, exponent)) = DECIMAL.iter().find(|(name, _)| *name == suffix) {
        return Some((Scale::Ten(*exponent), Format::DecimalSuffix));
    }
    if let Some((_, exponent)) = BINARY.iter().find(|(name, _)| *name == suffix) {
        return Some((Scale::Two(*exponent), Format::BinarySuffix));
    }
    let exponent: i64 = suffix.strip_prefix(['e', 'E'])?.parse().ok()?;
    // Kubernetes looks at the lower half only.
    let [a, b, c, d, ..] = exponent.to_le_bytes();
    let exponent = i32::from_le_bytes([a, b, c, d]);
    Some((Scale::Ten(exponent), Format::Exponent))
}

/// The billionths of a decimal amount, without its sign; none if there are too many.
fn decimal(parts: &Parts<'_>, exponent: i32) -> Option<i128> {
    // This many digits stand before the point, once the number is one of billionths.
    let whole = length(parts.integer) + i64::from(exponent) + 9;
    let mut nano: i128 = 0;
    let mut rounds_up = false;
    let mut place = 0;
    for digit in parts.integer.bytes().chain(parts.fraction.bytes()) {
        let digit = i128::from(digit.wrapping_sub(b'0'));
        if place < whole {
            nano = nano.checked_mul(10)?.checked_add(digit)?;
        } else {
            rounds_up |= digit != 0;
        }
        place += 1;
    }
    while place < whole && nano != 0 {
        nano = nano.checked_mul(10)?;
        place += 1;
    }
    nano.checked_add(i128::from(rounds_up))
}

/// The billionths of an amount with a binary suffix, without its sign.
fn binary(parts: &Parts<'_>, exponent: u32) -> i128 {
    let unit = 1_i128 << exponent;
    let mut integer: i128 = 0;
    for digit in parts.integer.bytes() {
        integer = integer * 10 + i128::from(digit.wrapping_sub(b'0'));
        if integer > MAX_BINARY / unit {
            return MAX_BINARY * NANO;
        }
    }
    // From the last digit to the first, each ten times as much as the one before.
    let mut fraction: i128 = 0;
    let mut rounds_up = false;
    for digit in parts.fraction.bytes().rev() {
        let sum = fraction + i128::from(digit.wrapping_sub(b'0')) * unit * NANO;
        rounds_up |= sum % 10 != 0;
        fraction = sum / 10;
    }
    let nano = integer * unit * NANO + fraction + i128::from(rounds_up);
    nano.min(MAX_BINARY * NANO)
}

/// Whether Kubernetes prints the amount as it was written. It does where it believes it to be in canonical form,
/// which is more often than it is.
fn is_printed_as_written(parts: &Parts<'_>, scale: Scale) -> bool {
    let integer = if parts.integer.is_empty() {
        "0"
    } else {
        parts.integer
    };
    let (before, after) = (length(integer), length(parts.fraction));
    match scale {
        Scale::Ten(exponent) => {
            let exponent = i64::from(exponent) - after;
            before + after <= 18
                && exponent >= -9
                && exponent % 3 == 0
                && !format!("{integer}{}", parts.fraction).ends_with("000")
                && !integer.starts_with('0')
        }
        Scale::Two(exponent) => {
            let odd = integer.parse().is_ok_and(|n: i64| n & 7 != 0);
            after == 0 && before + i64::from(exponent) * 3 / 10 < 15 && odd
        }
    }
}

fn length(text: &str) -> i64 {
    i64::try_from(text.len()).unwrap_or(i64::MAX)
}
