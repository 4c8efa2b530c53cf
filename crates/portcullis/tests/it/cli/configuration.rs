//! Which configuration is read: one rule for every command.

use serde_json::json;

use crate::harness::{Demonstration, Folder, Gate, Ran, free_port, pod, program, run_in};

/// A configuration that is recognized by its policy.
fn with_policy(name: &str) -> String {
    json!({"policies": [{"name": name, "code": "return 'no'"}], "defaultAction": "allow"})
        .to_string()
}

fn run_with(folder: &Folder, variable: Option<&str>, arguments: &[&str]) -> Ran {
    let mut command = program(folder.root());
    command.args(arguments);
    if let Some(file) = variable {
        command.env("PORTCULLIS_CONFIG", file);
    }
    let output = command.output().unwrap();
    Ran {
        code: output.status.code(),
        out: String::from_utf8(output.stdout).unwrap(),
        err: String::from_utf8(output.stderr).unwrap(),
    }
}

#[test]
fn the_flag_comes_before_the_variable_and_that_before_the_folder() {
    let folder = Folder::new();
    folder.write("pod.yaml", pod().to_string());
    for name in ["flag", "variable"] {
        folder.write(&format!("{name}.yaml"), with_policy(name));
    }
    folder.write("portcullis.yaml", with_policy("here"));
    for (variable, more, wanted) in [
        (None, &[][..], "here"),
        (Some(""), &[], "here"),
        (Some("variable.yaml"), &[], "variable"),
        (Some("variable.yaml"), &["--config", "flag.yaml"], "flag"),
        (Some("variable.yaml"), &["-c", "flag.yaml"], "flag"),
    ] {
        let ran = run_with(&folder, variable, &[&["eval", "pod.yaml"], more].concat());
        assert_eq!(ran.code, Some(1), "{}", ran.err);
        assert!(
            ran.out.contains(&format!("DENY   {wanted}  ")),
            "{}",
            ran.out
        );
        let ran = run_with(&folder, variable, &[&["check"], more].concat());
        let file = if wanted == "here" {
            "portcullis"
        } else {
            wanted
        };
        assert!(
            ran.err.ends_with(&format!("\n{file}.yaml is valid\n")),
            "{}",
            ran.err
        );
    }
    folder.write("policies/p.js", "return true");
    let alone = ["eval", "pod.yaml", "--policies", "policies"];
    assert_eq!(run_with(&folder, Some("nosuch.yaml"), &alone).code, Some(0));
}

#[test]
fn without_any_a_command_says_what_it_needs() {
    let folder = Folder::new();
    folder.write("pod.yaml", pod().to_string());
    let ran = run_in(&folder, &["eval", "pod.yaml"]);
    assert_eq!(ran.code, Some(2));
    ran.says(&[
        "error: no policies given",
        "--config FILE",
        "./portcullis.yaml",
    ]);
    for command in [
        "check",
        "token create --subject x",
        "access-matrix --root",
        "graph export --json",
    ] {
        let words: Vec<&str> = command.split(' ').collect();
        let ran = run_in(&folder, &words);
        assert_eq!(ran.code, Some(3), "{command}");
        ran.says(&["error: portcullis.yaml: ", "no such file"]);
    }
}

#[test]
fn serve_takes_the_configuration_of_the_folder() {
    let folder = Folder::new();
    let port = free_port();
    let listener = json!({"name": "all", "tcp": format!("127.0.0.1:{port}"), "serves": ["kubernetes", "health"]});
    let config = json!({"listeners": [listener], "admission": {"order": ["AlwaysDeny"]}});
    folder.write("portcullis.yaml", config.to_string());
    let mut command = program(folder.root());
    command.args(["serve", "--data-dir", "data"]);
    let gate = Gate::spawn(folder, port, command);
    gate.validate(&pod()).denied("");
    let log = gate.log();
    assert!(!log.contains("demonstration"), "{log}");
    // What runs is in one line.
    let line = log.lines().find(|line| line.contains("started")).unwrap();
    let version = format!("version=\"{}\"", env!("CARGO_PKG_VERSION"));
    for part in [
        version.as_str(),
        "configuration=\"portcullis.yaml\"",
        "data_dir=data",
        "AlwaysDeny",
        &port.to_string(),
    ] {
        assert!(line.contains(part), "no {part}: {line}");
    }
}

#[test]
fn a_configuration_that_cannot_be_read_is_never_replaced_by_the_demonstration() {
    let folder = Folder::new();
    folder.link("portcullis.yaml", "nowhere.yaml");
    let ran = run_in(&folder, &["serve", "--data-dir", "data"]);
    assert_eq!(ran.code, Some(3), "{}", ran.err);
    ran.says(&["error: portcullis.yaml: "]);
}

#[test]
fn the_demonstration_says_what_it_is_before_it_listens() {
    let gate = Demonstration::start();
    let told = gate.told();
    for text in [
        "warning: no configuration found",
        "Starting a demonstration",
        "a\ntoken that is allowed everything",
        "portcullis serve --config FILE",
    ] {
        let at = told
            .find(text)
            .unwrap_or_else(|| panic!("no {text}: {told}"));
        assert!(at < told.find("started").unwrap(), "{told}");
    }
}

#[test]
fn the_demonstration_runs_when_it_is_asked_for() {
    let (gate, ()) = Demonstration::start_with(&["--demo"], |folder| {
        folder.write("portcullis.yaml", "not: [a configuration");
    });
    let told = gate.told();
    assert!(told.contains("Starting a demonstration"), "{told}");
    assert!(!told.contains("no configuration found"), "{told}");
    let ran = run_in(&Folder::new(), &["serve", "--demo", "--config", "x.yaml"]);
    assert_eq!(ran.code, Some(2));
    ran.says(&["--demo", "--config"]);
}

#[test]
fn a_replay_has_to_be_told_the_new_set() {
    let folder = Folder::new();
    folder.write("portcullis.yaml", with_policy("here"));
    let ran = run_in(&folder, &["replay", "--file", "none.jsonl"]);
    assert_eq!(ran.code, Some(2));
    ran.says(&[
        "error: no policies given",
        "--policies DIR",
        "--config FILE",
    ]);
}
