//! Completions that know more than the command line: decisions, tenants, policies, jobs and other names.
//!
//! A shell that has read `portcullis completions SHELL` calls the program with [`VARIABLE`] set and the words of the
//! command line. What is local comes from the configuration and the data directory that those words name, or that
//! are used without; what is on a server comes from there. Nothing takes longer than a person waits, and what can't be
//! had is not completed: nothing is printed but candidates.

mod arguments;
mod local;
mod remote;
mod words;

use std::ffi::{OsStr, OsString};
use std::sync::mpsc;
use std::time::Duration;

use clap::Command;
use clap_complete::Shell;
use clap_complete::engine::CompletionCandidate;
use clap_complete::env::Shells;

use self::words::Words;

/// The variable with which a script of [`script`] calls the program; its value is the shell.
const VARIABLE: &str = "PORTCULLIS_COMPLETE";

/// How long a person waits for a server at most.
const PATIENCE: Duration = Duration::from_millis(300);

/// How long for this machine, which reads a configuration or a store.
const LOCAL_PATIENCE: Duration = Duration::from_secs(3);

/// More than anybody reads.
const MOST: usize = 200;

/// What a shell reads to complete command lines: it calls this program, by the name that was typed.
pub(crate) fn script(shell: Shell, called: &OsStr) -> Vec<u8> {
    let mut text = Vec::new();
    let shells = Shells::builtins();
    if let Some(shell) = shells.completer(&shell.to_string()) {
        // Writing to memory does not fail.
        let _ = shell.write_registration(
            VARIABLE,
            "portcullis",
            "portcullis",
            &called.to_string_lossy(),
            &mut text,
        );
    }
    text
}

/// The candidates that a shell asks for; none if no shell asks.
pub(crate) fn answer(
    arguments: impl Iterator<Item = OsString>,
    program: fn() -> Command,
) -> Option<Vec<u8>> {
    let shell = std::env::var(VARIABLE)
        .ok()
        .filter(|shell| !shell.is_empty())?;
    let words: Vec<OsString> = arguments.skip_while(|word| word != "--").skip(1).collect();
    let shells = Shells::builtins();
    let mut found = Vec::new();
    if let Some(shell) = shells.completer(&shell) {
        let known = Words::new(&words);
        crate::contexts::choose(known.value(&["--context"]));
        let mut program = arguments::with_completers(program(), &known);
        program.build();
        let folder = std::env::current_dir().ok();
        if shell
            .write_complete(&mut program, words, folder.as_deref(), &mut found)
            .is_err()
        {
            found.clear();
        }
    }
    Some(found)
}

/// A candidate, and what it is.
type Candidate = (String, String);

/// Those that begin with what is typed, unless it takes too long to find out.
fn within_patience(
    typed: &OsStr,
    patience: Duration,
    find: impl FnOnce() -> Vec<Candidate> + Send + 'static,
) -> Vec<CompletionCandidate> {
    let (sender, receiver) = mpsc::channel();
    let begun = std::thread::Builder::new().spawn(move || sender.send(find()));
    let found = match begun {
        // A thread that goes on ends with the program.
        Ok(_) => receiver.recv_timeout(patience).unwrap_or_default(),
        Err(_) => Vec::new(),
    };
    let typed = typed.to_string_lossy();
    // Names of others go to a terminal and to a shell: what would be seen as something else is left out.
    let is_plain = |text: &str| {
        !text.is_empty()
            && !text.contains(|c: char| c.is_whitespace() || portcullis_core::text::is_odd(c))
    };
    let fitting = found
        .into_iter()
        .filter(|(value, _)| is_plain(value) && value.starts_with(&*typed));
    let candidate = |(value, help): Candidate| {
        let help = portcullis_core::text::printable(&help).into_owned();
        CompletionCandidate::new(value).help((!help.is_empty()).then(|| help.into()))
    };
    fitting.take(MOST).map(candidate).collect()
}
