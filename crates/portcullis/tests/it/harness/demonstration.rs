//! A running `portcullis serve` without a configuration.

use std::fs::File;
use std::process::Child;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use portcullis_core::sync::{Mutex, MutexGuard};

use super::{Folder, eventually, program};

/// All want the same ports, so there is one at a time.
static TURN: Mutex<()> = Mutex::new(());

/// The demonstration in a home of its own, killed when it goes.
#[derive(Debug)]
pub(crate) struct Demonstration {
    folder: Option<Folder>,
    child: Child,
    _turn: MutexGuard<'static, ()>,
    /// Where it takes reviews.
    pub(crate) hooks: u16,
    /// The port of health and metrics.
    pub(crate) ops: u16,
}

impl Demonstration {
    /// Starts it, and reads what it prints.
    #[track_caller]
    pub(crate) fn start() -> Self {
        Self::start_after(|| ()).0
    }

    /// The same, after something that no other one may see.
    #[track_caller]
    pub(crate) fn start_after<T>(prepare: impl FnOnce() -> T) -> (Self, T) {
        Self::start_with(&[], |_| prepare())
    }

    /// The same with flags, after something that concerns its home too.
    #[track_caller]
    pub(crate) fn start_with<T>(flags: &[&str], prepare: impl FnOnce(&Folder) -> T) -> (Self, T) {
        let turn = TURN.lock();
        let folder = Folder::new();
        let prepared = prepare(&folder);
        let file = |name: &str| File::create(folder.path(name)).unwrap();
        let mut command = program(folder.root());
        command
            .env("TMPDIR", folder.root())
            .arg("serve")
            .args(flags)
            .stdout(file("out"))
            .stderr(file("log"));
        let child = command.spawn().unwrap();
        let mut started = Self {
            folder: Some(folder),
            child,
            _turn: turn,
            hooks: 0,
            ops: 0,
        };
        (started.hooks, started.ops) = eventually("the addresses are printed", || {
            assert!(
                started.child.try_wait().unwrap().is_none(),
                "ended: {}",
                started.told()
            );
            let told = started.told();
            // The last line that is printed.
            told.contains("Ctrl-C")
                .then(|| (port(&told, "reviews at "), port(&told, "metrics at ")))
        });
        (started, prepared)
    }

    /// Everything it has printed to standard error.
    pub(crate) fn told(&self) -> String {
        self.read("log")
    }

    pub(crate) fn out(&self) -> String {
        self.read("out")
    }

    fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.folder.as_ref().unwrap().path(name)).unwrap()
    }

    /// The line to try.
    #[track_caller]
    pub(crate) fn curl(&self) -> String {
        let told = self.told();
        told.lines()
            .find(|line| line.starts_with("curl"))
            .expect("no line to try")
            .to_owned()
    }

    /// Ends it as a person would, and returns its home.
    #[track_caller]
    pub(crate) fn end(mut self) -> Folder {
        kill(
            Pid::from_raw(self.child.id().try_into().unwrap()),
            Signal::SIGINT,
        )
        .unwrap();
        let status = eventually("the end", || self.child.try_wait().unwrap());
        assert_eq!(status.code(), Some(0), "{}", self.told());
        self.folder.take().unwrap()
    }
}

fn port(told: &str, before: &str) -> u16 {
    let (_, after) = told
        .split_once(&format!("{before}http://127.0.0.1:"))
        .unwrap();
    let digits: String = after.chars().take_while(char::is_ascii_digit).collect();
    digits.parse().unwrap()
}

impl Drop for Demonstration {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
