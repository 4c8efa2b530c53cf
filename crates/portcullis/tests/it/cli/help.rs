//! Examples in help are commands that work, as far as they need no server.

use std::process::Command;

use super::output::leaves;
use crate::decisions::{fill, samples};
use crate::harness::{Folder, program, repository, run};

/// Commands that need a running server, or are one.
const WITH_SERVER: [&str; 14] = [
    "serve",
    "playground",
    "demo",
    "job",
    "pipeline",
    "controller",
    "delivery",
    "runner",
    "autohold",
    "tenant",
    "login",
    "logout",
    "whoami",
    "context",
];

/// Lines that need what is not everywhere, or what other lines write.
const NOT_RUN: [&str; 9] = [
    // Their decisions are not there.
    "portcullis explain 01JD8QZ1",
    "portcullis replay --policies policies --since 24h",
    // The samples have parts of reviews only.
    "portcullis replay -c portcullis.yaml --file decisions.jsonl",
    "portcullis decisions list --server https://gate.example --namespace shop -o json",
    "portcullis graph export -o dot --profile node --objects objects | dot -Tsvg",
    "portcullis man | man -l -",
    "portcullis generate webhooks --service portcullis/portcullis --ca ca.crt | kubectl apply -f -",
    "portcullis generate rbac --service-account portcullis/portcullis | kubectl apply -f -",
    "portcullis doctor -c /etc/portcullis/portcullis.yaml --kubeconfig admin.kubeconfig",
];

/// What help shows as examples, each on a line.
fn examples(command: &[&str]) -> Vec<String> {
    let help = run(&[command, &["--help"]].concat()).out;
    let (_, examples) = help
        .split_once("\nExamples:\n")
        .unwrap_or_else(|| panic!("{help}"));
    let mut found: Vec<String> = Vec::new();
    for line in examples.lines().take_while(|line| !line.is_empty()) {
        match line.strip_prefix("  ") {
            Some(text) if text.starts_with("# ") => found.push(String::new()),
            // What is too long for a line goes on in the next one.
            text => {
                let last = found.last_mut().unwrap();
                *last = format!("{last} {}", text.unwrap_or(line).trim())
                    .trim()
                    .to_owned();
            }
        }
    }
    found
}

/// A folder with what examples speak of.
fn folder() -> Folder {
    let folder = Folder::new();
    let made = program(folder.root()).args(["init", "."]).output().unwrap();
    assert!(made.status.success());
    let mut config = std::fs::read_to_string(folder.path("portcullis.yaml")).unwrap();
    config.push_str("\ntenants: {file: tenants.yaml}\n");
    config.push_str("authorization: {chains: {default: [AlwaysDeny]}}\n");
    config.push_str("authenticators:\n- {name: op, driver: HS256, issuer: op, audience: p, realm: R, secretFile: key, allowAuthzOverride: true}\n");
    folder.write("portcullis.yaml", config);
    folder.write("key", "0123456789abcdef0123456789abcdef-key\n");
    folder.write("tenants.yaml", include_str!("../access/tenants.yaml"));
    folder.write("claims.json", r#"{"iss": "op", "sub": "zoe"}"#);
    folder.write("profile.yaml", include_str!("../graph/office.yaml"));
    folder.write(
        "ca.crt",
        portcullis_testing::Authority::new("gate").certificate(),
    );
    folder.write(".config/fish/completions/other.fish", "");
    let objects = repository().join("examples/graph-node/objects");
    for entry in std::fs::read_dir(objects).unwrap() {
        let path = entry.unwrap().path();
        let name = format!("objects/{}", path.file_name().unwrap().to_string_lossy());
        folder.write(&name, std::fs::read_to_string(&path).unwrap());
    }
    fill(&folder, ".local/share/portcullis", &samples());
    folder.write("decisions.jsonl", samples().join("\n"));
    folder
}

#[test]
fn examples_that_need_no_server_run() {
    let folder = folder();
    let bin = env!("CARGO_BIN_EXE_portcullis");
    let directory = std::path::Path::new(bin).parent().unwrap();
    let path = std::env::var("PATH").unwrap();
    let mut count = 0;
    for command in leaves(&[]) {
        let words: Vec<&str> = command.split(' ').collect();
        if WITH_SERVER.contains(&words[0]) || command == "help" {
            continue;
        }
        for line in examples(&words) {
            // What watches goes on until it is interrupted.
            let watches = line.ends_with(" --watch");
            if watches || NOT_RUN.contains(&line.as_str()) || line.contains(" tenant list") {
                continue;
            }
            let ran = Command::new("bash")
                .args(["-c", &line])
                .env_clear()
                .env("PATH", format!("{}:{path}", directory.display()))
                .env("HOME", folder.root())
                .env("XDG_CONFIG_HOME", folder.path("config"))
                .current_dir(folder.root())
                .output()
                .unwrap();
            let err = String::from_utf8_lossy(&ran.stderr);
            // No is an answer, too.
            let code = ran.status.code();
            assert!(matches!(code, Some(0 | 1)), "{line}: {code:?}: {err}");
            count += 1;
        }
    }
    assert!(count > 30, "only {count} examples were run");
}

#[test]
fn commands_are_listed_in_groups_and_the_same_by_every_way_to_help() {
    let long = run(&["--help"]);
    for group in [
        "Author policies:",
        "CI jobs and operators:",
        "Shell:",
        "Global options:",
        "Examples:",
    ] {
        let is_global = group == "Global options:";
        let ran = if is_global {
            run(&["version", "--help"])
        } else {
            run(&["--help"])
        };
        assert!(
            ran.out.lines().any(|line| line == group),
            "{group}: {}",
            ran.out
        );
    }
    assert_eq!(run(&["help"]).out, long.out);
    assert_eq!(
        run(&["help", "graph", "path"]).out,
        run(&["graph", "path", "--help"]).out
    );
}
