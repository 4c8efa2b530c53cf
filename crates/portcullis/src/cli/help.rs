//! Help as a terminal shows it: commands in groups, and examples below the options.

use std::fmt::Write;

use clap::Command;
use clap::builder::StyledStr;

use crate::commands::wrapped;
use crate::{examples, groups};

/// Help is no wider than this, which is what clap takes for its own part of it.
const WIDEST: usize = 100;

/// The definition of the command line with everything that its help shows.
pub(super) fn with_help(program: Command) -> Command {
    let template = template(&program, width());
    with_examples(program, "").help_template(template)
}

/// Adds the examples to a command, and to all below it.
fn with_examples(command: Command, name: &str) -> Command {
    let mut text = examples(&command, name);
    if let Some(more) = command.get_after_help() {
        let _ = write!(text, "\n\n{}", more.ansi());
    }
    let command = command.after_help(StyledStr::from(text));
    command.mut_subcommands(|inner| {
        let name = format!("{name} {}", inner.get_name());
        with_examples(inner, name.trim_start())
    })
}

fn examples(command: &Command, name: &str) -> String {
    let header = command.get_styles().get_header();
    let mut text = format!("{header}Examples:{header:#}");
    for (about, line) in examples::of(name) {
        let _ = write!(text, "\n  # {about}\n  {line}");
    }
    text
}

/// The help of the program, with its commands in groups.
fn template(program: &Command, width: usize) -> StyledStr {
    let styles = program.get_styles();
    let (header, literal) = (styles.get_header(), styles.get_literal());
    let names = groups::GROUPS.iter().flat_map(|(_, names)| *names);
    let widest = names.map(|name| name.len()).max().unwrap_or(0);
    let mut text = "{about-with-newline}\n{usage-heading} {usage}\n\n".to_owned();
    for (group, names) in groups::GROUPS {
        let _ = writeln!(text, "{header}{group}:{header:#}");
        for name in *names {
            let Some(about) = groups::about(program, name) else {
                continue;
            };
            let about = wrapped(&about, widest + 4, Some(width));
            let padding = widest - name.len();
            let _ = writeln!(text, "  {literal}{name}{literal:#}{:padding$}  {about}", "");
        }
        text.push('\n');
    }
    let _ = write!(
        text,
        "{header}Options:{header:#}\n{{options}}{{after-help}}"
    );
    StyledStr::from(text)
}

fn width() -> usize {
    let size = terminal_size::terminal_size();
    size.map_or(WIDEST, |(width, _)| usize::from(width.0).min(WIDEST))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::cli::program;

    /// Every command with its whole name, like `graph path`.
    fn all(command: &Command, above: &str, found: &mut Vec<(String, Command)>) {
        for inner in command.get_subcommands() {
            let name = format!("{above} {}", inner.get_name());
            let name = name.trim_start().to_owned();
            all(inner, &name, found);
            found.push((name, inner.clone()));
        }
    }

    #[test]
    fn every_command_is_in_one_group() {
        let program = program();
        let commands: BTreeSet<&str> = program.get_subcommands().map(Command::get_name).collect();
        let grouped: Vec<&str> = groups::GROUPS
            .iter()
            .flat_map(|(_, names)| *names)
            .copied()
            .collect();
        let once: BTreeSet<&str> = grouped.iter().copied().collect();
        assert_eq!(grouped.len(), once.len(), "a command is in two groups");
        let mut wanted = commands;
        wanted.insert(groups::HELP);
        assert_eq!(once, wanted, "add the command to a group in groups.rs");
    }

    #[test]
    fn every_command_has_examples_that_its_help_shows() {
        let mut found = Vec::new();
        all(&program(), "", &mut found);
        let names: BTreeSet<&str> = found.iter().map(|(name, _)| name.as_str()).collect();
        for (name, mut command) in found.clone() {
            let examples = examples::of(&name);
            assert!(
                !examples.is_empty(),
                "add examples of `{name}` to examples.rs"
            );
            for help in [command.render_help(), command.render_long_help()] {
                let help = help.to_string();
                // Long lines are wrapped.
                let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
                for (about, line) in &examples {
                    let (help, line) = (words(&help), words(line));
                    assert!(
                        help.contains(&line) && help.contains(about),
                        "{name}: {help}"
                    );
                }
            }
        }
        for (name, _) in examples::all() {
            assert!(
                name.is_empty() || names.contains(name),
                "there is no command `{name}`"
            );
        }
    }

    /// The words of an example that a shell would give to the program, for each time that it is called.
    fn calls(line: &str) -> Vec<Vec<String>> {
        let mut words: Vec<String> = Vec::new();
        let (mut word, mut is_quoted) = (String::new(), false);
        let line = line
            .replace("$(", " ; ")
            .replace("<(", " ; ")
            .replace(')', " ; ");
        for c in line.chars().chain([' ']) {
            match c {
                '\'' => is_quoted = !is_quoted,
                ' ' if !is_quoted => {
                    words.extend(Some(std::mem::take(&mut word)).filter(|word| !word.is_empty()))
                }
                c => word.push(c),
            }
        }
        let ends = |word: &String| matches!(word.as_str(), "&&" | "|" | ">" | ";");
        let parts = words.split(ends);
        let of_program = |part: &[String]| {
            let part = part.iter().skip_while(|word| *word != "portcullis");
            part.cloned().collect::<Vec<_>>()
        };
        parts
            .map(of_program)
            .filter(|part| !part.is_empty())
            .collect()
    }

    #[test]
    fn every_example_is_understood() {
        for (name, examples) in examples::all() {
            for (_, line) in *examples {
                let calls = calls(line);
                assert!(!calls.is_empty(), "{name}: {line}");
                let mut is_own = name.is_empty();
                for call in calls {
                    is_own |= call[1..].join(" ").starts_with(name);
                    let parsed = program().try_get_matches_from(&call);
                    assert!(parsed.is_ok(), "{line}: {}", parsed.unwrap_err());
                }
                assert!(is_own, "`{line}` is no example of `{name}`");
            }
        }
    }

    #[test]
    fn the_list_of_commands_fits_the_terminal() {
        for width in [60, 80, 100] {
            let text = template(&program(), width).to_string();
            for line in text.lines() {
                assert!(line.chars().count() <= width, "{width}: {line}");
            }
        }
    }
}
