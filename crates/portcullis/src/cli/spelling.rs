//! Spellings of the command line that clap alone would misread: the one-dash flag of acjs, and common
//! variants of it.

use std::ffi::OsString;

use clap::CommandFactory;
use clap::error::ErrorKind;

use super::Cli;
use crate::colors::Color;

/// The flag as acjs spells it.
const ONE_DASH: &str = "-config-file";

/// The arguments, with the one-dash spelling of acjs replaced.
///
/// # Errors
///
/// When a flag is misspelt so that clap would take it for `-c` with a value, or stands where a command
/// should.
pub(super) fn arguments(
    given: impl Iterator<Item = OsString>,
) -> Result<Vec<OsString>, clap::Error> {
    let mut all: Vec<OsString> = Vec::new();
    let mut is_over = false;
    for argument in given {
        let text = argument.to_str().unwrap_or_default();
        is_over = is_over || text == "--";
        if is_over {
            all.push(argument);
            continue;
        }
        let is_first = all.len() == 1;
        let is_config = |flag: &str| text == flag || text.starts_with(&format!("{flag}="));
        if is_first && (is_config(ONE_DASH) || is_config("--config") || text == "-c") {
            return Err(unexpected(format!(
                "a command is missing before '{text}'\n\n  tip: to start the server: portcullis serve {ONE_DASH} FILE"
            )));
        }
        if let Some(rest) = text.strip_prefix(ONE_DASH).filter(|_| is_config(ONE_DASH)) {
            all.push(format!("--config{rest}").into());
        } else if text.starts_with("-co") {
            return Err(unexpected(format!(
                "unexpected argument '{text}' found\n\n  tip: the flag is '--config FILE', '-c FILE' or '{ONE_DASH} FILE'"
            )));
        } else {
            all.push(argument);
        }
    }
    Ok(all)
}

/// What `--color` says, as far as that can be seen where the rest can't be understood.
pub(super) fn color(arguments: &[OsString]) -> Color {
    let words: Vec<&str> = arguments.iter().filter_map(|a| a.to_str()).collect();
    let inline = words
        .iter()
        .filter_map(|word| word.strip_prefix("--color="));
    let apart = words.windows(2).filter_map(|pair| match pair {
        ["--color", value] => Some(*value),
        _ => None,
    });
    let mut given = inline.chain(apart);
    let named = given.find_map(|value| clap::ValueEnum::from_str(value, false).ok());
    named.unwrap_or(Color::Auto)
}

fn unexpected(message: String) -> clap::Error {
    Cli::command().error(ErrorKind::UnknownArgument, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(words: &[&str]) -> Result<Vec<OsString>, clap::Error> {
        arguments(["portcullis"].iter().chain(words).map(OsString::from))
    }

    #[test]
    fn the_one_dash_spelling_is_replaced() {
        for (given, wanted) in [
            (
                &["serve", "-config-file", "a"][..],
                &["serve", "--config", "a"][..],
            ),
            (&["serve", "-config-file=a"], &["serve", "--config=a"]),
            (&["serve", "-c", "a"], &["serve", "-c", "a"]),
            (
                &["test", "--", "-config-file"],
                &["test", "--", "-config-file"],
            ),
        ] {
            let read = read(given).unwrap();
            let wanted: Vec<OsString> = wanted.iter().map(OsString::from).collect();
            assert_eq!(read.get(1..), Some(&wanted[..]));
        }
    }

    #[test]
    fn what_is_nearly_it_is_refused_by_its_own_name() {
        for wrong in [
            "-config-fil",
            "-config",
            "-config-files",
            "-conf=x",
            "-config-fil=x",
        ] {
            let error = read(&["check", wrong, "x"]).unwrap_err();
            assert_eq!(error.exit_code(), 2);
            let text = error.to_string();
            assert!(text.contains(&format!("'{wrong}'")), "{text}");
            assert!(text.contains("-config-file FILE"), "{text}");
        }
        for flag in ["-config-file", "--config", "--config=x", "-c"] {
            let error = read(&[flag, "x"]).unwrap_err();
            let text = error.to_string();
            assert!(
                text.contains("portcullis serve -config-file FILE"),
                "{text}"
            );
        }
    }

    #[test]
    fn colours_are_chosen_before_the_rest_is_understood() {
        let of = |words: &[&str]| {
            let words: Vec<OsString> = words.iter().map(OsString::from).collect();
            color(&words)
        };
        assert_eq!(of(&["x", "--color=never"]), Color::Never);
        assert_eq!(of(&["x", "--color", "always", "--nonsense"]), Color::Always);
        assert_eq!(of(&["x", "--color", "pink"]), Color::Auto);
    }
}
