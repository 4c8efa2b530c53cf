//! The exit codes of the program, whatever the output format.

use std::process::ExitCode;

/// How a command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exit {
    /// 0: yes.
    Yes,
    /// 1: no.
    No,
    /// 2: the command line makes no sense.
    Usage,
    /// 3: invalid or missing policy, configuration or manifest.
    Invalid,
    /// 4: the server doesn't know who asks, or doesn't let them.
    NotSignedIn,
    /// 5: it could not be done or decided: an address in use, a disk that is full, a limit.
    Failed,
    /// 6: nothing matched.
    Nothing,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        ExitCode::from(match exit {
            Exit::Yes => 0,
            Exit::No => 1,
            Exit::Usage => 2,
            Exit::Invalid => 3,
            Exit::NotSignedIn => 4,
            Exit::Failed => 5,
            Exit::Nothing => 6,
        })
    }
}
