//! The guides of the graph show what the commands print, typed one after the other in one shell, and say
//! something of every flag.

use std::path::Path;
use std::process::{Command, Stdio};

use crate::eval::documentation::check_flags;
use crate::harness::{Folder, repository};

/// A copy of the examples, to run in.
fn examples() -> Folder {
    let folder = Folder::new();
    let copy = Command::new("cp")
        .arg("-r")
        .arg(repository().join("examples"))
        .arg(folder.root())
        .status();
    assert!(copy.unwrap().success());
    folder
}

/// Commands of a page, with the lines shown below each.
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

/// Types the commands of a page into one shell; each prints what is shown, and a failure is shown too.
#[track_caller]
fn check_page(page: &str, at_least: usize) {
    let folder = examples();
    let all = shown(&std::fs::read_to_string(repository().join(page)).unwrap());
    assert!(
        all.len() >= at_least,
        "hardly any command is shown: {all:?}"
    );
    let mut script = String::new();
    for (command, _) in &all {
        // What a command ends with is there for the next, and told.
        script += &format!(
            "{{ {command}\n}} 2>&1\ncode=$?; printf '\\n@%s@\\n' \"$code\"; (exit \"$code\")\n"
        );
    }
    let program = Path::new(env!("CARGO_BIN_EXE_portcullis"));
    let old = std::env::var("PATH").unwrap_or_default();
    let output = Command::new("bash")
        .args(["-c", &script])
        .current_dir(folder.root())
        .env_clear()
        .env(
            "PATH",
            format!("{}:{old}", program.parent().unwrap().display()),
        )
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let printed = String::from_utf8(output.stdout).unwrap();
    let mut rest = printed.as_str();
    for (number, (command, wanted)) in all.iter().enumerate() {
        let (output, after) = rest
            .split_once("\n@")
            .unwrap_or_else(|| panic!("{command}: {rest}"));
        let (code, after) = after.split_once("@\n").unwrap();
        rest = after;
        assert_eq!(output, wanted, "{page}: {command}");
        let is_told = all
            .get(number + 1)
            .is_some_and(|(next, _)| next == "echo $?");
        assert!(
            code == "0" || is_told,
            "{page}: {command} ended with {code}"
        );
    }
}

#[test]
fn pages_show_what_commands_print() {
    check_page("docs/graph.md", 12);
    check_page("docs/graph-commands.md", 8);
    check_page("examples/graph-gardener/README.md", 4);
    check_page("examples/graph-node/README.md", 4);
    check_page("examples/graph/README.md", 2);
}

#[test]
fn every_flag_is_described() {
    for command in [
        "graph path",
        "graph neighbors",
        "graph export",
        "graph check",
        "graph list",
    ] {
        check_flags("docs/graph.md", command);
    }
}
