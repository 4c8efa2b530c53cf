//! Durations like `500ms` and sizes like `32Mi`.
//!
//! Both are whole numbers with a unit. Nothing here can overflow: a duration
//! ends at a hundred years, a size at what a 64-bit machine can address.

use std::{borrow::Cow, fmt, str::FromStr};

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{
    Deserialize, Deserializer, Serialize, Serializer,
    de::{Error as DeError, Visitor},
};

const DURATION_UNITS: &[(&str, u64)] = &[
    ("d", 86_400_000),
    ("h", 3_600_000),
    ("m", 60_000),
    ("s", 1000),
    ("ms", 1),
];
const SIZE_UNITS: &[(&str, u64)] = &[
    ("Ti", 1 << 40),
    ("T", 1_000_000_000_000),
    ("Gi", 1 << 30),
    ("G", 1_000_000_000),
    ("Mi", 1 << 20),
    ("M", 1_000_000),
    ("Ki", 1 << 10),
    ("k", 1000),
    ("", 1),
];
const LONGEST_MS: u64 = 36_500 * 86_400_000;
const LARGEST_BYTES: u64 = 1 << 62;

/// A duration: a whole number and `ms`, `s`, `m`, `h` or `d`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Duration(u64);

/// A duration: a whole number of seconds, or a duration.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Seconds(std::time::Duration);

/// A number of bytes: a whole number, alone or with `Ki`, `Mi`, `Gi`, `Ti`, `k`, `M`, `G` or `T`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Size(u64);

/// A string that is not a duration or size.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum UnitError {
    /// Not a duration at all.
    #[error("`{0}` is not a duration: use a number and ms, s, m, h or d, like `500ms` or `2s`")]
    NotADuration(String),
    /// More than a hundred years.
    #[error("`{0}` is too long: a duration is at most 36500d")]
    TooLong(String),
    /// Not a size at all.
    #[error(
        "`{0}` is not a size: use a number of bytes, or a number and Ki, Mi, Gi, k, M or G, like `32Mi`"
    )]
    NotASize(String),
    /// More than can be addressed.
    #[error("`{0}` is too large for a size")]
    TooLarge(String),
}

impl Duration {
    /// So many milliseconds, at most a hundred years.
    pub const fn from_millis(milliseconds: u64) -> Self {
        Self(if milliseconds > LONGEST_MS {
            LONGEST_MS
        } else {
            milliseconds
        })
    }

    /// So many seconds, at most a hundred years.
    pub const fn from_secs(seconds: u64) -> Self {
        Self::from_millis(seconds.saturating_mul(1000))
    }

    /// The same for the standard library.
    pub const fn get(self) -> std::time::Duration {
        std::time::Duration::from_millis(self.0)
    }

    /// Whether it is zero.
    pub const fn is_zero(self) -> bool {
        self.0 == 0
    }
}

impl Size {
    /// So many bytes.
    pub const fn from_bytes(bytes: u64) -> Self {
        Self(if bytes > LARGEST_BYTES {
            LARGEST_BYTES
        } else {
            bytes
        })
    }

    /// The number of bytes.
    pub const fn bytes(self) -> u64 {
        self.0
    }

    /// The number of bytes as an index of this machine.
    pub fn as_usize(self) -> usize {
        usize::try_from(self.0).unwrap_or(usize::MAX)
    }
}

impl From<Seconds> for std::time::Duration {
    fn from(seconds: Seconds) -> Self {
        seconds.0
    }
}

impl From<Duration> for std::time::Duration {
    fn from(duration: Duration) -> Self {
        duration.get()
    }
}

/// The value of `number + unit`: nothing if it is invalid, the largest number if it is too large.
fn read(text: &str, units: &[(&str, u64)]) -> Option<u64> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let (number, unit) = text.split_at_checked(digits)?;
    let (_, factor) = units.iter().find(|(name, _)| *name == unit)?;
    if number.is_empty() {
        return None;
    }
    // Only digits are left, so the only fault is too large a number.
    let number: u64 = number.parse().unwrap_or(u64::MAX);
    Some(number.saturating_mul(*factor))
}

/// The value in the largest unit that divides it.
fn write(value: u64, units: &[(&str, u64)], formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
    let fitting = units
        .iter()
        .find(|(_, factor)| value > 0 && value.is_multiple_of(*factor));
    match (fitting, units.last()) {
        (Some((name, factor)), _) => formatter.pad(&format!("{}{name}", value / factor)),
        (None, Some((name, _))) => formatter.pad(&format!("{value}{name}")),
        (None, None) => Ok(()),
    }
}

impl FromStr for Duration {
    type Err = UnitError;

    fn from_str(text: &str) -> Result<Self, UnitError> {
        match read(text, DURATION_UNITS) {
            None => Err(UnitError::NotADuration(text.to_owned())),
            Some(value) if value > LONGEST_MS => Err(UnitError::TooLong(text.to_owned())),
            Some(value) => Ok(Self(value)),
        }
    }
}

impl FromStr for Size {
    type Err = UnitError;

    fn from_str(text: &str) -> Result<Self, UnitError> {
        match read(text, SIZE_UNITS) {
            None => Err(UnitError::NotASize(text.to_owned())),
            Some(value) if value > LARGEST_BYTES => Err(UnitError::TooLarge(text.to_owned())),
            Some(value) => Ok(Self(value)),
        }
    }
}

impl fmt::Display for Duration {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write(self.0, DURATION_UNITS, formatter)
    }
}

impl fmt::Display for Size {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write(self.0, SIZE_UNITS, formatter)
    }
}

impl Serialize for Duration {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl Serialize for Size {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Duration {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(DurationVisitor)
    }
}

struct DurationVisitor;

impl Visitor<'_> for DurationVisitor {
    type Value = Duration;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a duration like `500ms` or `2s`")
    }

    fn visit_str<E: DeError>(self, text: &str) -> Result<Duration, E> {
        text.parse().map_err(E::custom)
    }
}

impl<'de> Deserialize<'de> for Seconds {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(SecondsVisitor)
    }
}

struct SecondsVisitor;

impl Visitor<'_> for SecondsVisitor {
    type Value = Seconds;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a number of seconds, or a duration like `1h`")
    }

    fn visit_str<E: DeError>(self, text: &str) -> Result<Seconds, E> {
        text.parse::<Duration>()
            .map(|duration| Seconds(duration.get()))
            .map_err(E::custom)
    }

    fn visit_u64<E: DeError>(self, seconds: u64) -> Result<Seconds, E> {
        if seconds > LONGEST_MS / 1000 {
            return Err(E::custom(UnitError::TooLong(seconds.to_string())));
        }
        Ok(Seconds(std::time::Duration::from_secs(seconds)))
    }
}

impl<'de> Deserialize<'de> for Size {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(SizeVisitor)
    }
}

struct SizeVisitor;

impl Visitor<'_> for SizeVisitor {
    type Value = Size;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a size like `32Mi`")
    }

    fn visit_str<E: DeError>(self, text: &str) -> Result<Size, E> {
        text.parse().map_err(E::custom)
    }

    fn visit_u64<E: DeError>(self, bytes: u64) -> Result<Size, E> {
        if bytes > LARGEST_BYTES {
            return Err(E::custom(UnitError::TooLarge(bytes.to_string())));
        }
        Ok(Size(bytes))
    }
}

impl JsonSchema for Duration {
    fn schema_name() -> Cow<'static, str> {
        "Duration".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "A duration: a whole number and ms, s, m, h or d.",
            "type": "string",
            "pattern": "^[0-9]+(ms|s|m|h|d)$",
            "examples": ["500ms", "2s", "5m", "1h", "7d"],
        })
    }
}

impl JsonSchema for Seconds {
    fn schema_name() -> Cow<'static, str> {
        "Seconds".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "A duration: a whole number of seconds, or one with ms, s, m, h or d.",
            "type": ["string", "integer"],
            "pattern": "^[0-9]+(ms|s|m|h|d)$",
            "minimum": 0,
            "examples": [600, "10m"],
        })
    }
}

impl JsonSchema for Size {
    fn schema_name() -> Cow<'static, str> {
        "Size".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "A number of bytes: a whole number, alone or with Ki, Mi, Gi, Ti, k, M, G or T.",
            "type": ["string", "integer"],
            "pattern": "^[0-9]+(Ki|Mi|Gi|Ti|k|M|G|T)?$",
            "minimum": 0,
            "examples": ["32Mi", "64Ki", 1024],
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn millis(text: &str) -> Option<u128> {
        text.parse::<Duration>()
            .ok()
            .map(|duration| duration.get().as_millis())
    }

    fn bytes(text: &str) -> Option<u64> {
        text.parse::<Size>().ok().map(Size::bytes)
    }

    #[test]
    fn every_unit_of_a_duration_counts() {
        assert_eq!(
            ["500ms", "2s", "5m", "1h", "7d", "0s"].map(millis),
            [500, 2000, 300_000, 3_600_000, 604_800_000, 0].map(Some)
        );
    }

    #[test]
    fn what_is_no_duration_is_refused() {
        for text in [
            "", "s", "5", "1.5s", "-1s", "+1s", "2 s", " 2s", "2S", "1h30m", "banana", "٣s", "2sé",
            "2ms2",
        ] {
            assert!(
                matches!(text.parse::<Duration>(), Err(UnitError::NotADuration(_))),
                "{text}"
            );
        }
    }

    #[test]
    fn a_duration_ends_at_a_hundred_years() {
        assert!("36500d".parse::<Duration>().is_ok());
        for text in [
            "36501d",
            "18446744073709551615ms",
            "18446744073709551616ms",
            "99999999999999999999999d",
        ] {
            assert!(
                matches!(text.parse::<Duration>(), Err(UnitError::TooLong(_))),
                "{text}"
            );
        }
        assert_eq!(
            Duration::from_secs(u64::MAX),
            Duration::from_millis(LONGEST_MS)
        );
    }

    #[test]
    fn every_unit_of_a_size_counts() {
        assert_eq!(
            ["12", "64Ki", "32Mi", "1Gi", "1Ti", "1k", "2M", "3G", "0"].map(bytes),
            [
                12,
                65_536,
                33_554_432,
                1 << 30,
                1 << 40,
                1000,
                2_000_000,
                3_000_000_000,
                0
            ]
            .map(Some)
        );
    }

    #[test]
    fn what_is_no_size_is_refused() {
        for text in [
            "",
            "Mi",
            "3Mibibytes",
            "3MiB",
            "3MB",
            "-1",
            "1.5Mi",
            "3 Mi",
            "3K",
            "0x10",
            "1e3",
        ] {
            assert!(
                matches!(text.parse::<Size>(), Err(UnitError::NotASize(_))),
                "{text}"
            );
        }
        for text in [
            "9999999Ti",
            "18446744073709551616",
            "99999999999999999999999Gi",
        ] {
            assert!(
                matches!(text.parse::<Size>(), Err(UnitError::TooLarge(_))),
                "{text}"
            );
        }
    }

    #[test]
    fn they_are_written_in_the_largest_unit_that_fits() {
        let durations = [0, 1, 1500, 2000, 90_000, 7_200_000, 604_800_000];
        assert_eq!(
            durations.map(|value| Duration::from_millis(value).to_string()),
            ["0ms", "1ms", "1500ms", "2s", "90s", "2h", "7d"]
        );
        let sizes = [0, 1, 1024, 65_536, 3_145_728, 1000, 1_000_001];
        assert_eq!(
            sizes.map(|value| Size::from_bytes(value).to_string()),
            ["0", "1", "1Ki", "64Ki", "3Mi", "1k", "1000001"]
        );
    }
}
