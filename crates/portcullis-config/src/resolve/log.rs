//! Checks of `log`, and the environment variables that win over it.
//!
//! `log.filter` is a level, or `TARGET=LEVEL` for a part of the program. The library that filters takes any
//! word as the name of a part, so that a misspelt level would silence the log.

use crate::{
    model::{Log, LogFormat},
    notes::Notes,
    options::LoadOptions,
};
use portcullis_document::{Document, Source};

const FORMAT_VARIABLE: &str = "PORTCULLIS_LOG_FORMAT";
/// Says what is logged, whatever the configuration says.
pub const LOG_FILTER_VARIABLE: &str = "PORTCULLIS_LOG";
const LEVELS: [&str; 6] = ["off", "error", "warn", "info", "debug", "trace"];

/// Checks what is logged, and how.
pub(crate) fn log(
    document: &Document,
    mut log: Log,
    options: &LoadOptions<'_>,
    notes: &mut Notes,
) -> Log {
    log.format = format(options, notes).unwrap_or(log.format);
    match options.variable(LOG_FILTER_VARIABLE) {
        Some(filter) => {
            if let Err(message) = check(&filter) {
                notes.fault(Source::named(LOG_FILTER_VARIABLE).fault(None, "", message));
            }
            log.filter = filter;
        }
        None => {
            if let Err(message) = check(&log.filter) {
                notes.fault(document.fault("log.filter", message));
            }
        }
    }
    log
}

fn format(options: &LoadOptions<'_>, notes: &mut Notes) -> Option<LogFormat> {
    let text = options.variable(FORMAT_VARIABLE)?;
    let found = LogFormat::ALL.iter().find(|(name, _)| *name == text);
    if found.is_none() {
        let message = format!("unknown value `{text}`");
        let fault = Source::named(FORMAT_VARIABLE).fault(None, "", message);
        let known = LogFormat::ALL.iter().map(|(name, _)| *name);
        notes.fault(fault.with_known("known values", &text, known));
    }
    found.map(|(_, format)| *format)
}

/// Whether every part of the filter is one of the two forms.
fn check(filter: &str) -> Result<(), String> {
    let is_level = |word: &str| LEVELS.contains(&word.to_ascii_lowercase().as_str());
    let is_target = |word: &str| {
        !word.is_empty()
            && word
                .bytes()
                .all(|b| b.is_ascii_alphanumeric() || b"_:-".contains(&b))
    };
    for part in filter.split(',').map(str::trim) {
        let is_good = match part.split_once('=') {
            None => is_level(part),
            Some((target, level)) => is_target(target) && is_level(level),
        };
        if !is_good {
            let levels = LEVELS.join(", ");
            return Err(format!(
                "invalid filter `{part}`: use a level ({levels}) or `TARGET=LEVEL`"
            ));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::check;

    #[test]
    fn levels_and_targets_with_levels_are_taken() {
        for filter in [
            "info",
            "WARN",
            "info,portcullis_server=debug",
            "off, hyper::proto=trace",
        ] {
            assert!(check(filter).is_ok(), "{filter}");
        }
        for filter in [
            "",
            "inof",
            "=====",
            "info,",
            "portcullis=loud",
            "=info",
            "a b=info",
        ] {
            assert!(check(filter).is_err(), "{filter}");
        }
    }
}
