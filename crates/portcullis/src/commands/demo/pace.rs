//! Rates on the command line: `5/s`, `90/m`.

use std::time::Duration;

/// How much time lies between two requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Pace(Duration);

/// The most requests in a second.
const FASTEST: u64 = 1000;

impl Pace {
    pub(super) fn between(self) -> Duration {
        self.0
    }
}

/// Reads a rate; a number alone is a second's.
pub(super) fn pace(text: &str) -> Result<Pace, String> {
    let (number, unit) = text.split_once('/').unwrap_or((text, "s"));
    let seconds = match unit {
        "s" => 1,
        "m" => 60,
        "h" => 3600,
        _ => return Err("expected a number with /s, /m or /h".to_owned()),
    };
    let is_number = !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit());
    match number.parse::<u64>() {
        Ok(0) => Err("must be at least 1".to_owned()),
        Ok(number) if is_number && number <= FASTEST * seconds => Ok(Pace(
            Duration::from_secs(seconds) / u32::try_from(number).unwrap_or(u32::MAX),
        )),
        Ok(_) if is_number => Err(format!("must be at most {FASTEST}/s")),
        _ => Err("expected a number with /s, /m or /h".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_read() {
        for (text, milliseconds) in [("5/s", 200), ("5", 200), ("90/m", 666), ("1/h", 3_600_000)] {
            assert_eq!(
                pace(text).unwrap().between().as_millis(),
                milliseconds,
                "{text}"
            );
        }
    }

    #[test]
    fn others_are_refused() {
        for text in [
            "",
            "0/s",
            "-1",
            "+1",
            "5/d",
            "5 /s",
            "1001/s",
            "x",
            "99999999999999999999/s",
        ] {
            assert!(pace(text).is_err(), "{text}");
        }
    }
}
