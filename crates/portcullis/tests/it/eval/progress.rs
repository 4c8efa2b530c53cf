//! Progress on a terminal, and nowhere else.

use std::process::Command;

use crate::harness::{Folder, program, run_in};

/// Takes its time for each object.
const SLOW: &str = "const end = Date.now() + 40; while (Date.now() < end); ";

fn folder() -> Folder {
    let folder = Folder::new();
    folder.write("policies/slow.js", SLOW);
    let pod = |n| format!("{{apiVersion: v1, kind: Pod, metadata: {{name: p{n}}}}}\n");
    let pods: Vec<String> = (0..96).map(pod).collect();
    folder.write("all.yaml", pods.join("---\n"));
    folder
}

const ARGUMENTS: [&str; 6] = ["eval", "all.yaml", "--policies", "policies", "-o", "junit"];

/// Runs the program on a terminal of its own; what that showed.
fn on_terminal(folder: &Folder, terminal: &str) -> String {
    let typed = format!(
        "{} {}",
        env!("CARGO_BIN_EXE_portcullis"),
        ARGUMENTS.join(" ")
    );
    let shell = program(folder.root());
    let mut script = Command::new("script");
    script
        .current_dir(folder.root())
        .env_clear()
        .env("TERM", terminal);
    script.envs(
        shell
            .get_envs()
            .filter_map(|(key, value)| Some((key, value?))),
    );
    let status = script
        .args(["-qefc", &format!("{typed} >out.xml"), "seen"])
        .stdin(std::process::Stdio::null())
        .stdout(std::process::Stdio::null())
        .status()
        .expect("`script` of util-linux");
    assert_eq!(status.code(), Some(0));
    std::fs::read_to_string(folder.path("seen")).unwrap()
}

#[test]
fn a_terminal_sees_how_far_it_is_and_nothing_stays() {
    let folder = folder();
    let seen = on_terminal(&folder, "xterm");
    let erase = "\r\u{1b}[2K";
    let lines: Vec<&str> = seen.split(erase).collect();
    let shown = |line: &&&str| line.contains("96 objects") || line.contains(" objects  ");
    assert!(lines.iter().filter(shown).count() > 0, "{seen:?}");
    assert!(seen.contains("/s"), "{seen:?}");
    let last = lines.last().unwrap();
    assert!(
        last.starts_with("96 objects, 1 policy: 96 allowed"),
        "{seen:?}"
    );
}

#[test]
fn a_terminal_that_can_not_overwrite_a_line_sees_none() {
    let seen = on_terminal(&folder(), "dumb");
    assert!(!seen.contains("/s") && !seen.contains('\u{1b}'), "{seen:?}");
}

#[test]
fn a_file_gets_only_messages() {
    let ran = run_in(&folder(), &ARGUMENTS);
    assert_eq!(
        ran.err,
        "96 objects, 1 policy: 96 allowed, 0 denied, 0 errors, 0 skipped\n"
    );
}
