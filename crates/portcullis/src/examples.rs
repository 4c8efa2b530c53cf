//! Examples of every command, which its help and its manual page show.
//!
//! Each is a line as it is typed, with what it does. A command of commands has none of its own: its help shows the
//! first example of each of them.

mod authors;
mod jobs;
mod operators;
mod questions;
mod shell;

/// What it does, and the line.
pub(crate) type Example = (&'static str, &'static str);

/// A command by its name without the program's, and its examples.
pub(crate) type OfCommand = (&'static str, &'static [Example]);

/// Commands with their examples.
pub(crate) fn all() -> impl Iterator<Item = &'static OfCommand> {
    let parts = [
        shell::EXAMPLES,
        authors::EXAMPLES,
        questions::EXAMPLES,
        jobs::EXAMPLES,
        operators::EXAMPLES,
    ];
    parts.into_iter().flatten()
}

/// The examples of a command; for a command of commands the first one of each.
pub(crate) fn of(name: &str) -> Vec<Example> {
    let own = all().find(|(command, _)| *command == name);
    if let Some((_, own)) = own {
        return own.to_vec();
    }
    let below = all().filter(|(command, _)| {
        let rest = command.strip_prefix(name);
        rest.is_some_and(|rest| rest.starts_with(' '))
    });
    below.filter_map(|(_, all)| all.first().copied()).collect()
}
