//! What one run of a program came to, and what a test may demand of it.

use std::io::Write;
use std::process::{Command, Stdio};

use serde_json::Value;

/// What one run of `kubectl`, or of another program, came to.
#[derive(Clone, Debug)]
pub struct Answer {
    command: String,
    code: Option<i32>,
    /// Standard output.
    pub stdout: String,
    /// Standard error: refusals, and lines that start with `Warning: `.
    pub stderr: String,
}

const WARNING: &str = "Warning: ";

impl Answer {
    /// Runs a command to its end. `shown` is what it is called in messages.
    pub(crate) fn of(command: &mut Command, shown: String, input: &str) -> Self {
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap_or_else(|error| panic!("cannot run {command:?}: {error}"));
        let mut stdin = child.stdin.take().expect("its standard input is a pipe");
        let output = std::thread::scope(|scope| {
            // It may end without reading, which is its right.
            scope.spawn(move || stdin.write_all(input.as_bytes()));
            child.wait_with_output()
        })
        .expect("its output can be read");
        Self {
            command: shown,
            code: output.status.code(),
            stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }

    /// Whether the exit code was 0.
    #[must_use]
    pub fn is_success(&self) -> bool {
        self.code == Some(0)
    }

    /// Fails unless the exit code was 0.
    #[track_caller]
    pub fn succeeds(self) -> Self {
        assert!(self.is_success(), "should have succeeded: {self:#?}");
        self
    }

    /// Fails unless the exit code was another than 0.
    #[track_caller]
    pub fn fails(self) -> Self {
        assert!(!self.is_success(), "should have failed: {self:#?}");
        self
    }

    /// Fails unless the command failed and said exactly this, besides warnings.
    #[track_caller]
    pub fn fails_saying(self, text: &str) -> Self {
        let answer = self.fails();
        let lines: Vec<_> = answer
            .stderr
            .lines()
            .filter(|line| !line.starts_with(WARNING))
            .collect();
        assert_eq!(lines.join("\n"), text, "{}", answer.command);
        answer
    }

    /// The JSON on standard output of a command that succeeded.
    #[track_caller]
    #[must_use]
    pub fn json(self) -> Value {
        let answer = self.succeeds();
        serde_json::from_str(&answer.stdout)
            .unwrap_or_else(|error| panic!("no JSON, {error}: {answer:#?}"))
    }

    /// The warnings, as they stand after `Warning: `.
    #[must_use]
    pub fn warnings(&self) -> Vec<&str> {
        self.stderr
            .lines()
            .filter_map(|line| line.strip_prefix(WARNING))
            .collect()
    }
}
