//! The groups in which help and manual list the commands.

/// The name of a group, and its commands in the order in which they are listed.
pub(crate) const GROUPS: &[(&str, &[&str])] = &[
    (
        "Author policies",
        &["init", "check", "lint", "eval", "test", "plugins", "schema"],
    ),
    (
        "Ask who may do what",
        &["can-i", "who-can", "access-matrix", "graph"],
    ),
    ("Decisions", &["decisions", "explain", "replay"]),
    (
        "CI jobs and operators",
        &[
            "job",
            "pipeline",
            "controller",
            "delivery",
            "runner",
            "autohold",
            "tenant",
        ],
    ),
    ("Run", &["serve", "health", "playground", "demo", "token"]),
    ("Operate", &["generate", "doctor"]),
    ("Sign in", &["login", "logout", "whoami", "context"]),
    ("Shell", &["completions", "man", "version", HELP]),
];

/// The command that clap adds by itself.
pub(crate) const HELP: &str = "help";

/// What it does.
pub(crate) const ABOUT_HELP: &str = "Print this message or the help of a command";

/// What a command does, in a line, as lists of commands show it.
pub(crate) fn about(program: &clap::Command, name: &str) -> Option<String> {
    if name == HELP {
        return Some(ABOUT_HELP.to_owned());
    }
    let about = program.find_subcommand(name)?.get_about()?;
    Some(about.to_string())
}
