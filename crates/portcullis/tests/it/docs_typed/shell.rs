//! A shell that is typed into.

use std::io::{PipeReader, Read, Write, pipe};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;

use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;
use portcullis_core::clock::Stopwatch;

use crate::harness::PATIENCE;

/// What a command is followed by in the output, before its exit code.
const MARK: &str = "\n\u{1}ended with ";

/// Where the programs of the system are.
const SYSTEM: &str = "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin";

/// A shell, ended with everything it started when it goes.
#[derive(Debug)]
pub(super) struct Shell {
    child: Child,
    keyboard: ChildStdin,
    screen: Receiver<Vec<u8>>,
}

impl Shell {
    /// A shell with the program in its path, and a home of its own.
    pub(super) fn start(folder: &Path, home: &Path) -> Self {
        let bin = home.join("bin");
        std::fs::create_dir(&bin).unwrap();
        let program = env!("CARGO_BIN_EXE_portcullis");
        std::os::unix::fs::symlink(program, bin.join("portcullis")).unwrap();
        let (screen, terminal) = pipe().unwrap();
        // Commands come from a file that is not the standard input of what is run.
        let mut child = in_own_network()
            .args(["bash", "--noprofile", "--norc", "/dev/stdin"])
            .current_dir(folder)
            .env_clear()
            .env("HOME", home)
            .env("USER", "reader")
            .env("LC_ALL", "C.UTF-8")
            .env("PATH", format!("{}:{SYSTEM}", bin.display()))
            .stdin(Stdio::piped())
            .stdout(terminal.try_clone().unwrap())
            .stderr(terminal)
            .process_group(0)
            .spawn()
            .unwrap();
        let mut shell = Self {
            keyboard: child.stdin.take().unwrap(),
            screen: watched(screen),
            child,
        };
        let mark = MARK.escape_default();
        let mark = mark.to_string().replace("\\u{1}", "\\001");
        // Keeps the exit code for `echo $?`.
        let ended = format!(
            "exec </dev/null; ended() {{ local code=$?; printf '{mark}%d\\n' $code; return $code; }}"
        );
        shell.type_in(&ended, "start");
        shell
    }

    /// Types a command; what appears, and how the command ends.
    #[track_caller]
    pub(super) fn type_in(&mut self, command: &str, place: &str) -> (String, i32) {
        let typed = format!("{command}\nended\n");
        self.keyboard.write_all(typed.as_bytes()).unwrap();
        let waiting = Stopwatch::start();
        let mut seen = Vec::new();
        loop {
            let text = String::from_utf8_lossy(&seen);
            let end = text.split_once(MARK);
            if let Some((output, code)) = end.and_then(|(o, c)| Some((o, c.strip_suffix('\n')?))) {
                return (output.to_owned(), code.parse().unwrap());
            }
            let left = PATIENCE.saturating_sub(waiting.elapsed());
            match self.screen.recv_timeout(left) {
                Ok(bytes) => seen.extend(bytes),
                Err(error) => panic!("{place}: {command}: {error}: {text}"),
            }
        }
    }

    /// Ends what the page has left running.
    pub(super) fn end(mut self) {
        self.type_in("kill $(jobs -p) 2>/dev/null; wait", "the end");
    }
}

impl Drop for Shell {
    fn drop(&mut self) {
        // What it started is in its group. A group that is gone already is fine.
        if let Ok(group) = i32::try_from(self.child.id()) {
            let _ = killpg(Pid::from_raw(group), Signal::SIGKILL);
        }
        let _ = self.child.wait();
    }
}

/// What starts a program where all ports of loopback are free, if the system lets us; where it doesn't,
/// they must be free on this machine.
fn in_own_network() -> Command {
    const PREPARED: &str = "ip link set lo up && exec \"$@\"";
    for flags in [&["--net"][..], &["--map-root-user", "--net"]] {
        let command = |program: &[&str]| {
            let mut command = Command::new("unshare");
            let words = flags.iter().chain(&["sh", "-c", PREPARED, "sh"]);
            command.args(words.chain(program));
            command
        };
        let mut attempt = command(&["true"]);
        attempt.env("PATH", SYSTEM).stderr(Stdio::null());
        if attempt.status().is_ok_and(|status| status.success()) {
            return command(&[]);
        }
    }
    Command::new("env")
}

/// What appears, as it appears.
fn watched(mut screen: PipeReader) -> Receiver<Vec<u8>> {
    let (sender, receiver) = channel();
    thread::spawn(move || {
        let mut buffer = [0; 4096];
        while let Ok(read @ 1..) = screen.read(&mut buffer) {
            if sender.send(buffer[..read].to_vec()).is_err() {
                return;
            }
        }
    });
    receiver
}

#[test]
fn one_shell_keeps_its_state_and_tells_exit_codes() {
    let (folder, home) = (crate::harness::Folder::new(), crate::harness::Folder::new());
    let mut shell = Shell::start(folder.root(), home.root());
    let mut typed = |command: &str| shell.type_in(command, "test");
    assert_eq!(typed("mkdir a && cd a && x=1"), (String::new(), 0));
    assert_eq!(typed("false"), (String::new(), 1));
    assert_eq!(typed("echo $? $x >&2"), ("1 1\n".to_owned(), 0));
    assert_eq!(typed("basename \"$PWD\"; cat"), ("a\n".to_owned(), 0));
    assert_eq!(typed("cat <<E\nb\nE"), ("b\n".to_owned(), 0));
    assert_eq!(typed("printf c"), ("c".to_owned(), 0));
    assert_eq!(typed("sleep 600 &"), (String::new(), 0));
    assert_eq!(typed("portcullis version >&-; echo $?").1, 0);
    shell.end();
}
