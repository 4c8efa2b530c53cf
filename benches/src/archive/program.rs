//! The program as somebody at a terminal uses it: exporting and replaying what was kept.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::clock;
use crate::failure::{Context, Failure, Result};
use crate::proc;

/// The program, and a directory for what it says.
pub(super) struct Program<'a> {
    pub(super) path: &'a Path,
    pub(super) dir: PathBuf,
}

/// What one replay took, and what came of it.
pub(super) struct Replayed {
    pub(super) decisions: u64,
    pub(super) same: u64,
    pub(super) seconds: f64,
    pub(super) cpu_seconds: f64,
}

/// How much came out of the store.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Exported {
    pub(super) lines: u64,
    pub(super) bytes: u64,
}

impl Program<'_> {
    /// Reads every decision, as lines.
    pub(super) fn export(&self, data: &Path) -> Result<Exported> {
        let mut command = Command::new(self.path);
        command
            .args(["decisions", "export", "--data-dir"])
            .arg(data);
        self.run(&mut command, |out| count(out))
    }

    /// Replays every decision against this set, which must change nothing.
    pub(super) fn replay(&self, with: &str, set: &Path, data: &Path) -> Result<Replayed> {
        let mut command = Command::new(self.path);
        command.arg("replay").arg(with).arg(set);
        command.arg("--data-dir").arg(data).args(["-o", "json"]);
        let (cpu_before, began) = (proc::ended_children_time()?, clock::now());
        let text = self.run(&mut command, |out| {
            let mut text = String::new();
            out.read_to_string(&mut text).map(|_| text)
        })?;
        let took = clock::now().saturating_duration_since(began);
        let cpu = proc::ended_children_time()?.saturating_sub(cpu_before);
        let (decisions, same) = counted(&text).context("`replay` printed something else")?;
        Ok(Replayed {
            decisions,
            same,
            seconds: took.as_secs_f64(),
            cpu_seconds: cpu.as_secs_f64(),
        })
    }

    /// Runs it to its end, which must be a good one.
    fn run<T>(
        &self,
        command: &mut Command,
        read: impl FnOnce(&mut dyn Read) -> std::io::Result<T>,
    ) -> Result<T> {
        let said = self.dir.join("said");
        let file = File::create(&said).context(said.display())?;
        command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(file);
        let mut child = command.spawn().context(self.path.display())?;
        let mut out = child.stdout.take().context("no output")?;
        let found = read(&mut out);
        drop(out);
        let status = child.wait().context("waiting for the program")?;
        if !status.success() {
            let said = std::fs::read_to_string(&said).unwrap_or_default();
            let words: Vec<_> = command
                .get_args()
                .map(|word| word.to_string_lossy())
                .collect();
            let words = words.join(" ");
            return Err(Failure::new(format!(
                "`{words}` ended with {status}; it said:\n{said}"
            )));
        }
        found.context("reading what the program printed")
    }
}

/// How many decisions a report is about, and how many are the same.
fn counted(report: &str) -> Option<(u64, u64)> {
    let report: Value = serde_json::from_str(report).ok()?;
    let number = |pointer: &str| report.pointer(pointer)?.as_u64();
    Some((number("/summary/decisions")?, number("/summary/same")?))
}

fn count(out: &mut dyn Read) -> std::io::Result<Exported> {
    let (mut found, mut part) = (Exported::default(), vec![0_u8; 64 << 10]);
    loop {
        let count = out.read(&mut part)?;
        let read = part.get(..count).unwrap_or_default();
        if read.is_empty() {
            return Ok(found);
        }
        found.bytes += read.len() as u64;
        found.lines += read.iter().filter(|byte| **byte == b'\n').count() as u64;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(script: &str) -> Result<Exported> {
        let dir = tempfile::tempdir().unwrap();
        let program = Program {
            path: Path::new("sh"),
            dir: dir.path().to_owned(),
        };
        program.run(Command::new("sh").args(["-c", script]), |out| count(out))
    }

    #[test]
    fn lines_and_bytes_are_counted_to_the_end() {
        let found = run("i=0; while [ $i -lt 9000 ]; do echo 123456789; i=$((i + 1)); done");
        let expected = Exported {
            lines: 9_000,
            bytes: 90_000,
        };
        assert_eq!(found, Ok(expected));
    }

    #[test]
    fn a_report_says_how_many_are_the_same() {
        let report = r#"{"summary": {"decisions": 20, "same": 19, "unknown": 1}, "changes": []}"#;
        assert_eq!(counted(report), Some((20, 19)));
        assert_eq!(counted(r#"{"summary": {}}"#), None);
        assert_eq!(counted("nothing would change"), None);
    }

    #[test]
    fn a_bad_end_is_a_failure_with_what_was_said() {
        let failure = run("echo one; echo it would change >&2; exit 1").unwrap_err();
        let failure = failure.to_string();
        assert!(
            failure.contains("exit status: 1") && failure.contains("it would change"),
            "{failure}"
        );
    }
}
