//! Durations on the command line: `600`, which is seconds, or `10m`.

use std::time::Duration;

use portcullis_document::Duration as Written;

/// Reads seconds or a duration like `10m`; at least a second, and whole ones.
pub(crate) fn span(text: &str) -> Result<Duration, String> {
    let is_number = !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    let written = if is_number {
        format!("{text}s")
    } else {
        text.to_owned()
    };
    let span = written
        .parse::<Written>()
        .map_err(|error| match is_number {
            true => "too long".to_owned(),
            false => error.to_string(),
        })?;
    let span = span.get();
    match span.as_secs() {
        0 => Err("must be at least 1s".to_owned()),
        seconds => Ok(Duration::from_secs(seconds)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_and_durations_are_read() {
        let seconds = |text: &str| span(text).unwrap().as_secs();
        assert_eq!(
            ["600", "10m", "1s", "2h", "1500ms"].map(seconds),
            [600, 600, 1, 7200, 1]
        );
        for text in [
            "",
            "0",
            "0s",
            "10ms",
            "-1",
            "1.5",
            "m",
            "ten",
            "99999999999999999999",
        ] {
            assert!(span(text).is_err(), "{text}");
        }
    }
}
