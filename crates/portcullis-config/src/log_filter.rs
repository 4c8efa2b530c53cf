//! What may stand in `log.filter`: a level, or `TARGET=LEVEL` for a part of the program.
//!
//! The library that filters takes any word as the name of a part, so that a misspelt level would
//! silence the log.

const LEVELS: [&str; 6] = ["off", "error", "warn", "info", "debug", "trace"];

/// Whether every part of the filter is one of the two forms.
pub(super) fn check(filter: &str) -> Result<(), String> {
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
