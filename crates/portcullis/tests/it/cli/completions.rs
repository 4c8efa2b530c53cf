//! Completions, as shells ask for them: in a real bash, and in zsh and fish where they are installed.

use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::json;

use crate::decisions::{fill, ids, samples};
use crate::harness::{Folder, Rest, RestCall, run, until};

/// What bash does when a person types a line and presses Tab.
const BASH: &str = r#"
source <(portcullis completions bash)
[[ "$(complete -p portcullis)" =~ -F\ ([^ ]+) ]] && complete_with=${BASH_REMATCH[1]}
COMP_WORDS=("$@")
COMP_CWORD=$(( $# - 1 ))
COMP_TYPE=9
"$complete_with" portcullis "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD-1]}"
printf '%s\n' "${COMPREPLY[@]}"
"#;

fn bash(folder: &Folder) -> Command {
    let mut bash = Command::new("bash");
    bash.args(["--norc", "--noprofile"]);
    prepare(&mut bash, folder);
    bash
}

/// The program is in the path, and nothing else is inherited.
fn prepare(shell: &mut Command, folder: &Folder) {
    let bin = Path::new(env!("CARGO_BIN_EXE_portcullis"))
        .parent()
        .unwrap();
    let path = std::env::var("PATH").unwrap();
    shell
        .env_clear()
        .env("PATH", format!("{}:{path}", bin.display()))
        .env("HOME", folder.root())
        .current_dir(folder.root())
        .stdin(Stdio::null());
}

/// The candidates for the last word of this line.
#[track_caller]
fn completed(folder: &Folder, line: &str) -> Vec<String> {
    let mut bash = bash(folder);
    bash.args(["-c", BASH, "bash"]).args(line.split(' '));
    let ran = bash.output().unwrap();
    let err = String::from_utf8_lossy(&ran.stderr);
    assert_eq!(err, "", "{line}");
    let out = String::from_utf8(ran.stdout).unwrap();
    let found = out.lines().filter(|line| !line.is_empty());
    found.map(|line| line.trim_end().to_owned()).collect()
}

fn folder() -> Folder {
    let folder = Folder::new();
    let config = json!({
        "policyDirs": ["policies"],
        "tenants": {"file": "tenants.yaml"},
        "graph": {"profiles": [{"name": "mine", "profile": "node", "objects": "objects"}]},
    });
    folder.write("portcullis.yaml", config.to_string());
    folder.write("tenants.yaml", include_str!("../access/tenants.yaml"));
    folder.write("policies/no-latest.js", "return true");
    folder.write("policies/owners.js", "return true");
    folder.write("objects/none.yaml", "");
    fill(&folder, ".local/share/portcullis", &samples());
    folder
}

#[test]
fn bash_completes_commands_options_and_values() {
    let folder = folder();
    assert_eq!(completed(&folder, "portcullis dec"), ["decisions"]);
    assert_eq!(completed(&folder, "portcullis decisions ex"), ["export"]);
    assert_eq!(
        completed(&folder, "portcullis graph neighbors"),
        ["neighbors"]
    );
    assert_eq!(
        completed(&folder, "portcullis can-i get pods --field-s"),
        ["--field-selector"]
    );
    assert_eq!(
        completed(&folder, "portcullis decisions list --verd"),
        ["--verdict"]
    );
    assert_eq!(
        completed(&folder, "portcullis decisions list --verdict "),
        ["allow", "deny"]
    );
    assert!(completed(&folder, "portcullis version -o y").contains(&"yaml".to_owned()));
}

#[test]
fn bash_completes_names_of_the_configuration_and_the_store() {
    let folder = folder();
    let mut wanted = ids(&samples());
    let mut found = completed(&folder, "portcullis explain 0");
    wanted.sort();
    found.sort();
    assert_eq!(found, wanted);
    fill(&folder, "other", &samples()[..1]);
    let other = completed(&folder, "portcullis explain --data-dir other 0");
    assert_eq!(other, ids(&samples()[..1]));
    assert_eq!(
        completed(&folder, "portcullis access-matrix --tenant e"),
        ["example"]
    );
    assert_eq!(
        completed(&folder, "portcullis eval --policy no-l"),
        ["no-latest"]
    );
    assert_eq!(
        completed(&folder, "portcullis decisions list --policy PodSec"),
        ["PodSecurity"]
    );
    assert_eq!(
        completed(&folder, "portcullis graph path --profile m"),
        ["mine"]
    );
    assert_eq!(
        completed(
            &folder,
            "portcullis serve --admission-control AlwaysAdmit,AlwaysP"
        ),
        ["AlwaysAdmit,AlwaysPullImages"]
    );
    folder.write(
        "else.yaml",
        r#"{"policies": [{"name": "elsewhere", "code": "return true"}]}"#,
    );
    assert_eq!(
        completed(&folder, "portcullis eval -c else.yaml --policy e"),
        ["elsewhere"]
    );
}

#[test]
fn bash_completes_names_of_a_server() {
    let server = Rest::new(|call: &RestCall| {
        let items = |items: serde_json::Value| json!({"items": items, "next": null});
        let answer = match call.line.as_str() {
            "GET /api/tenants" => json!([{"name": "acme"}, {"name": "beta"}, {"name": "a b; rm"}]),
            "GET /api/v1/jobs?limit=50" => {
                items(json!([{"id": 7, "name": "unit", "status": "pending"}, {"id": 71}]))
            }
            "GET /api/v1/controllers" => items(json!([{"id": 2, "name": "budget"}])),
            "GET /api/v1/runners" => items(json!([{"id": 4, "description": "big"}])),
            other => panic!("{other}"),
        };
        (200, answer.to_string())
    });
    let folder = folder();
    let access = format!("--server {}", server.url);
    for (line, wanted) in [
        ("portcullis tenant show SERVER a", &["acme"][..]),
        ("portcullis job why SERVER 7", &["7", "71"]),
        ("portcullis controller show SERVER 2", &["2"]),
        ("portcullis runner pause SERVER 4", &["4"]),
    ] {
        // Where much runs at once, an answer may come too late.
        until(line, || {
            completed(&folder, &line.replace("SERVER", &access)) == wanted
        });
    }
}

#[test]
fn what_can_not_be_had_is_not_completed_and_nothing_is_printed() {
    // A server that accepts and never answers, and one that is not there.
    let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let silent = silent.local_addr().unwrap();
    let folder = folder();
    for server in [
        format!("http://{silent}"),
        "http://127.0.0.1:1".to_owned(),
        "nonsense".to_owned(),
    ] {
        let line = format!("portcullis job show --server {server} 7");
        assert!(completed(&folder, &line).is_empty(), "{server}");
    }
    folder.write("portcullis.yaml", "limit: [");
    assert!(completed(&folder, "portcullis eval --policy no-l").is_empty());
    let empty = Folder::new();
    assert!(completed(&empty, "portcullis explain 0").is_empty());
}

#[test]
fn every_shell_has_a_script_that_calls_the_program() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let ran = run(&["completions", shell]);
        assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""), "{shell}");
        assert!(
            ran.out.contains("PORTCULLIS_COMPLETE"),
            "{shell}: {}",
            ran.out
        );
    }
    assert_eq!(run(&["completions", "no-such-shell"]).code, Some(2));
}

/// Scripts are such as their shells take; of shells that are installed.
#[test]
fn scripts_are_read_by_their_shells() {
    let folder = folder();
    for (shell, check) in [("bash", "-n"), ("zsh", "-n"), ("fish", "--no-execute")] {
        let script = run(&["completions", shell]).out;
        folder.write("script", script);
        let mut command = Command::new(shell);
        prepare(&mut command, &folder);
        match command.args([check, "script"]).output() {
            Ok(ran) => assert!(
                ran.status.success(),
                "{shell}: {}",
                String::from_utf8_lossy(&ran.stderr)
            ),
            Err(_) => eprintln!("skipped: there is no {shell}"),
        }
    }
}

#[test]
fn fish_completes_commands() {
    let folder = folder();
    let mut fish = Command::new("fish");
    prepare(&mut fish, &folder);
    let line = "portcullis completions fish | source; complete -C 'portcullis dec'";
    match fish.args(["--no-config", "-c", line]).output() {
        Ok(ran) => {
            let out = String::from_utf8_lossy(&ran.stdout);
            assert!(
                out.starts_with("decisions"),
                "{out}{}",
                String::from_utf8_lossy(&ran.stderr)
            );
        }
        Err(_) => eprintln!("skipped: there is no fish"),
    }
}
