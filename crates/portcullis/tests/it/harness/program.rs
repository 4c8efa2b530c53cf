//! The program itself, run once.

use std::fs::File;
use std::path::Path;
use std::process::{Command, Stdio};

use super::{Folder, eventually};

/// What a run left: exit code and both outputs.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) code: Option<i32>,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Ran {
    /// Asserts that an error names all of this, on standard error.
    #[track_caller]
    pub(crate) fn says(&self, needles: &[&str]) {
        for needle in needles {
            assert!(
                self.err.contains(needle),
                "`{needle}` is not named: {}",
                self.err
            );
        }
        assert_eq!(self.out, "", "standard output carries data only");
    }
}

/// The program with nothing inherited but the path, and another home.
pub(crate) fn program(home: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_portcullis"));
    let path = std::env::var_os("PATH").unwrap_or_default();
    command
        .env_clear()
        .env("PATH", path)
        .env("HOME", home)
        .current_dir(home);
    command.stdin(Stdio::null());
    command
}

/// Runs it in a folder of its own.
pub(crate) fn run<A: AsRef<str>>(arguments: &[A]) -> Ran {
    run_in(&Folder::new(), arguments)
}

/// Runs it in this folder. A run that does not end is a failure.
#[track_caller]
pub(crate) fn run_in<A: AsRef<str>>(folder: &Folder, arguments: &[A]) -> Ran {
    run_at(folder, folder.root(), arguments)
}

/// The same in a folder inside of it.
#[track_caller]
pub(crate) fn run_at<A: AsRef<str>>(folder: &Folder, inside: &Path, arguments: &[A]) -> Ran {
    let outputs = Folder::new();
    let file = |name: &str| File::create(outputs.path(name)).unwrap();
    let read = |name: &str| std::fs::read_to_string(outputs.path(name)).unwrap();
    let mut child = program(folder.root())
        .current_dir(inside)
        .args(arguments.iter().map(AsRef::as_ref))
        .stdout(file("out"))
        .stderr(file("err"))
        .spawn()
        .unwrap();
    let ended = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        eventually("the end of the program", || child.try_wait().unwrap())
    }));
    let Ok(status) = ended else {
        child.kill().unwrap();
        child.wait().unwrap();
        panic!("the program goes on: {}{}", read("out"), read("err"));
    };
    Ran {
        code: status.code(),
        out: read("out"),
        err: read("err"),
    }
}
