//! What guides are checked for: that they say something of every flag, and that commands print what is shown.
//! Pages whose commands are typed in order are checked by `docs_typed`.

use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::harness::{Folder, repository, run};

/// Runs a line as a person would; both outputs and the exit code.
fn shell(folder: &Folder, line: &str) -> (String, i32) {
    let program = Path::new(env!("CARGO_BIN_EXE_portcullis"));
    let old = std::env::var("PATH").unwrap_or_default();
    let path = format!("{}:{old}", program.parent().unwrap().display());
    let output = Command::new("sh")
        .args(["-c", &format!("{{ {line}\n}} 2>&1")])
        .current_dir(folder.root())
        .env_clear()
        .env("PATH", path)
        .stdin(Stdio::null())
        .output()
        .unwrap();
    assert!(output.status.signal().is_none(), "{line}");
    (
        String::from_utf8(output.stdout).unwrap(),
        output.status.code().unwrap(),
    )
}

/// Commands with the lines shown below them.
fn shown(text: &str) -> Vec<(String, String)> {
    let mut found: Vec<(String, String)> = Vec::new();
    let mut is_console = false;
    for line in text.lines() {
        match line.strip_prefix("```") {
            Some(language) => is_console = language == "console",
            None if !is_console => {}
            None => match (line.strip_prefix("$ "), found.last_mut()) {
                (Some(command), _) => found.push((command.to_owned(), String::new())),
                (None, Some((_, output))) => *output += &format!("{line}\n"),
                (None, None) => panic!("output before any command: {line}"),
            },
        }
    }
    found
}

/// Runs every command of a guide in this folder, in order.
#[track_caller]
pub(crate) fn check_guide(name: &str, folder: &Folder, at_least: usize) {
    let text = std::fs::read_to_string(repository().join(name)).unwrap();
    let all = shown(&text);
    assert!(
        all.len() >= at_least,
        "hardly any command is shown: {all:?}"
    );
    let mut last = 0;
    for (command, wanted) in all {
        if command == "echo $?" {
            assert_eq!(
                wanted,
                format!("{last}\n"),
                "exit code of the command before"
            );
            continue;
        }
        let (output, code) = shell(folder, &command);
        assert_eq!(output, wanted, "{command}");
        last = code;
    }
}

/// Asserts that a guide says something of every flag of a command.
#[track_caller]
pub(crate) fn check_flags(name: &str, command: &str) {
    let text = std::fs::read_to_string(repository().join(name)).unwrap();
    let words: Vec<&str> = command.split(' ').chain(["--help"]).collect();
    let help = run(&words).out;
    let flags = help
        .split_whitespace()
        .filter(|word| word.starts_with("--"));
    let flags = flags.map(|word| word.trim_end_matches([',', '.', ';', ':', ')']));
    for flag in flags.filter(|flag| !matches!(*flag, "--help" | "--filename" | "--color")) {
        assert!(text.contains(flag), "{name} says nothing of {flag}");
    }
}

#[test]
fn every_flag_is_described() {
    check_flags("docs/eval.md", "eval");
}
