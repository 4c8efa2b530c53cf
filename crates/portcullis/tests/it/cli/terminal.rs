//! What commands print on a terminal: it fits the width, and has colours only where they are wanted.

use std::fs::File;
use std::process::{Command, Stdio};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::{Value, json};

use super::output::{COMMANDS, Prints, folder, server, server_with, words};
use crate::harness::{Folder, eventually, free_port, program};

/// What is printed as it is, whatever the width: other programs read it.
const RAW: [&str; 13] = [
    "schema",
    "completions",
    "man",
    "help",
    "token create",
    "graph export",
    "decisions export",
    "job trace",
    "generate webhooks",
    "generate authorization",
    "generate rbac",
    // They print messages only: nothing is wrong.
    "check",
    "lint",
];

/// Runs a command on a terminal of so many columns; returns what is seen on it.
#[track_caller]
fn seen(
    folder: &Folder,
    columns: usize,
    variables: &[(&str, &str)],
    words: &[String],
    errors: &str,
) -> String {
    let quoted: Vec<String> = words.iter().map(|word| format!("'{word}'")).collect();
    let bin = env!("CARGO_BIN_EXE_portcullis");
    let line = format!(
        "stty cols {columns} rows 50; exec '{bin}' {} {errors}",
        quoted.join(" ")
    );
    let mut script = Command::new("script");
    script
        .args(["-qec", &line, "/dev/null"])
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap())
        .env("HOME", folder.root())
        .env("TERM", "xterm")
        .current_dir(folder.root())
        .stdin(Stdio::null());
    script.envs(variables.iter().copied());
    let ran = script.output().unwrap();
    String::from_utf8(ran.stdout).unwrap().replace('\r', "")
}

/// The text without colours.
fn plain(text: &str) -> String {
    let mut plain = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("\u{1b}[") {
        plain.push_str(before);
        rest = after.split_once('m').map_or("", |(_, after)| after);
    }
    plain + rest
}

/// Whether there are colours; a line that is written again is none.
fn is_coloured(text: &str) -> bool {
    let mut codes = text.split("\u{1b}[").skip(1);
    codes.any(|code| {
        code.trim_start_matches(|c: char| c.is_ascii_digit() || c == ';')
            .starts_with('m')
    })
}

/// Every name and message becomes a long one.
fn longer(value: Value) -> Value {
    const LONG: [&str; 14] = [
        "project",
        "name",
        "ref",
        "ref_filter",
        "description",
        "reason",
        "controller_name",
        "job",
        "error",
        "tag_list",
        "stage",
        "by",
        "detail",
        "runner_type",
    ];
    match value {
        Value::Array(items) => items.into_iter().map(longer).collect(),
        Value::Object(members) => {
            let longer = |(key, value): (String, Value)| {
                let value = match value {
                    Value::String(text) if LONG.contains(&key.as_str()) => {
                        json!(format!(
                            "{text}-that-goes-on-and-on and has words of several lengths, too"
                        ))
                    }
                    value => longer(value),
                };
                (key, value)
            };
            Value::Object(members.into_iter().map(longer).collect())
        }
        value => value,
    }
}

#[test]
fn what_people_read_fits_their_terminal() {
    let (folder, server) = (folder(), server_with(longer));
    let name = "a-policy-with-a-name-as-long-as-some-are";
    let reason = "a reason that goes on and on ".repeat(9);
    folder.write(&format!("policies/{name}.js"), format!("return '{reason}'"));
    folder.write(
        "long.test.yaml",
        json!({"tests": [{"name": "n", "file": "pod.yaml", "expect": {"allowed": false}}]})
            .to_string(),
    );
    let mut faults = Vec::new();
    for (command, prints) in COMMANDS {
        let Prints::Data(more) = prints else {
            continue;
        };
        if RAW.contains(command) {
            continue;
        }
        // Of what else is asked for as JSON, people see the table.
        let more = more.replace("-o json", "-o table");
        let arguments = words(command, &more, &server);
        for columns in [60, 80, 100, 160] {
            let text = seen(&folder, columns, &[], &arguments, "2>/dev/null");
            assert!(!text.is_empty(), "{arguments:?}");
            for line in plain(&text).lines() {
                let width = line.chars().count();
                if width > columns {
                    faults.push(format!("{command} at {columns}: {width}: {line}"));
                }
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn findings_and_places_fit_the_terminal() {
    let folder = Folder::new();
    let below = "a-folder-with-a-long-name/".repeat(5);
    let spaces = " ".repeat(90);
    folder.write(
        &format!("{below}policies/a-policy.js"),
        format!("if (object.metadata.label) return 'x';{spaces}if (object.metadata.nmae) return 'y'; // {below}\n"),
    );
    folder.write(
        &format!("{below}pod.yaml"),
        "apiVersion: v1\nkind: Pod\nmetadata: {name: web}\n---\nkind: [\n",
    );
    let policies = format!("{below}policies");
    let lint = vec!["lint".to_owned(), below.clone()];
    let eval = ["eval", &below, "--policies", &policies];
    let eval = eval.map(str::to_owned).to_vec();
    for arguments in [lint, eval] {
        for columns in [60, 80, 100] {
            let text = plain(&seen(&folder, columns, &[], &arguments, "2>/dev/null"));
            let whole = text.replace(['\n', ' '], "");
            assert!(whole.contains(&below), "{arguments:?}: {text}");
            for line in text.lines() {
                let width = line.chars().count();
                assert!(width <= columns, "{columns}: {width}: {line}\n{text}");
            }
        }
    }
}

/// Commands whose output has a verdict or a state.
const COLOURED: [&str; 27] = [
    "eval",
    "test",
    "decisions list",
    "explain",
    "can-i",
    "access-matrix",
    "tenant list",
    "tenant show",
    "tenant pause",
    "tenant resume",
    "autohold list",
    "autohold show",
    "job submit",
    "job list",
    "job show",
    "job why",
    "job retry",
    "job cancel",
    "pipeline submit",
    "pipeline show",
    "controller list",
    "controller show",
    "delivery list",
    "runner matrix",
    "doctor",
    "context list",
    "help",
];

#[test]
fn colours_are_there_when_they_are_wanted_and_never_else() {
    let (folder, server) = (folder(), server());
    for (command, prints) in COMMANDS {
        let Prints::Data(more) = prints else {
            continue;
        };
        // Formats of programs have none; tables have.
        let more = more.replace("-o json", "-o table");
        let arguments = words(command, &more, &server);
        let with = |flag: &str| [&[flag.to_owned()][..], &arguments[..]].concat();
        let on_terminal =
            |variables: &[(&str, &str)], words: &[String]| seen(&folder, 100, variables, words, "");
        for (variables, words) in [
            (&[][..], &with("--color=never")),
            (&[("NO_COLOR", "1")], &arguments),
            (&[("TERM", "dumb")], &arguments),
        ] {
            let text = on_terminal(variables, words);
            assert!(!is_coloured(&text), "{words:?} {variables:?}: {text:?}");
        }
        let mut always = program(folder.root());
        let ran = always.args(with("--color=always")).output().unwrap();
        let out = String::from_utf8_lossy(&ran.stdout);
        let has_colours = is_coloured(&out);
        let wanted = COLOURED.contains(command);
        assert_eq!(has_colours, wanted, "{command}: {out}");
        if wanted {
            assert!(is_coloured(&on_terminal(&[], &arguments)), "{command}");
        }
    }
}

#[test]
fn the_log_of_a_server_has_colours_on_a_terminal_that_wants_them() {
    for (variable, has_colours) in [
        ("COLOUR=1", true),
        ("NO_COLOR=1", false),
        ("TERM=dumb", false),
    ] {
        let folder = Folder::new();
        let address = format!("127.0.0.1:{}", free_port());
        let config = json!({
            "listeners": [{"name": "a", "tcp": address, "serves": ["kubernetes"]}],
            "admission": {"order": ["AlwaysAdmit"]},
        });
        folder.write("portcullis.yaml", config.to_string());
        let bin = env!("CARGO_BIN_EXE_portcullis");
        let line = format!(
            "echo $$ > pid; export TERM=xterm {variable}; exec '{bin}' serve --data-dir data"
        );
        let mut script = Command::new("script");
        script
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap());
        script.env("HOME", folder.root()).current_dir(folder.root());
        let log = File::create(folder.path("log")).unwrap();
        let mut running = script
            .args(["-qefc", &line, "/dev/null"])
            .stdin(Stdio::null())
            .stdout(log)
            .spawn()
            .unwrap();
        let read = |name: &str| std::fs::read_to_string(folder.path(name)).unwrap_or_default();
        let started = eventually("the server is started", || {
            Some(read("log")).filter(|log| log.contains("started"))
        });
        let pid: i32 = read("pid").trim().parse().unwrap();
        kill(Pid::from_raw(pid), Signal::SIGTERM).unwrap();
        eventually("the end", || running.try_wait().unwrap());
        assert_eq!(
            started.contains('\u{1b}'),
            has_colours,
            "{variable}: {started}"
        );
    }
}
