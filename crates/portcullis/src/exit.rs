//! What the program's exit code says, whatever the output format.

use std::process::ExitCode;

/// How a command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exit {
    /// 0: yes.
    Yes,
    /// 3: invalid or missing policy or configuration.
    Invalid,
    /// 5: it could not be done: an address in use, a disk that is full.
    Failed,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        ExitCode::from(match exit {
            Exit::Yes => 0,
            Exit::Invalid => 3,
            Exit::Failed => 5,
        })
    }
}
