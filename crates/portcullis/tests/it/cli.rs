//! The command line: what each command prints, and its exit code.

mod admission;
mod completions;
mod configuration;
mod help;
mod output;
mod terminal;
mod usage;
mod verbosity;

use serde_json::{Value, json};

use crate::harness::{Folder, Gate, free_port, pod, repository, run, run_in};

const BUILT_IN: [&str; 15] = [
    "AlwaysAdmit",
    "AlwaysDeny",
    "AlwaysPullImages",
    "DefaultTolerationSeconds",
    "DenyServiceExternalIPs",
    "EventRateLimit",
    "ExtendedResourceToleration",
    "ImagePolicyWebhook",
    "LimitPodHardAntiAffinityTopology",
    "LimitRanger",
    "NamespaceLifecycle",
    "PodNodeSelector",
    "PodSecurity",
    "PodTolerationRestriction",
    "ResourceQuota",
];

/// A configuration that could be started.
fn valid() -> Value {
    let address = format!("127.0.0.1:{}", free_port());
    json!({"listeners": [{"name": "all", "tcp": address, "serves": ["kubernetes"]}]})
}

#[test]
fn version_says_which() {
    for arguments in [["version"], ["--version"]] {
        let ran = run(&arguments);
        assert_eq!(ran.code, Some(0));
        assert_eq!(
            ran.out,
            format!("portcullis {}\n", env!("CARGO_PKG_VERSION"))
        );
        assert_eq!(ran.err, "");
    }
}

#[test]
fn help_is_data_and_names_every_command() {
    let ran = run(&["--help"]);
    assert_eq!(ran.code, Some(0));
    let all = output::leaves(&[]).into_iter();
    for command in all.filter(|name| name != "help") {
        let words: Vec<&str> = command.split(' ').collect();
        assert!(ran.out.contains(words[0]), "{command}");
        let ran = run(&[&words[..], &["--help"]].concat());
        assert_eq!(ran.code, Some(0), "{command}");
        assert!(ran.out.contains("Usage"), "{command}: {}", ran.out);
    }
}

#[test]
fn the_manual_has_a_page_for_every_command() {
    let ran = run(&["man"]);
    assert_eq!(ran.code, Some(0));
    let pages = ran
        .out
        .lines()
        .filter(|line| line.starts_with(".TH "))
        .count();
    assert!(pages >= 8, "{pages} pages");
    for text in [
        "portcullis\\-serve",
        "portcullis\\-check",
        "admission\\-control",
    ] {
        assert!(ran.out.contains(text), "no {text}");
    }
}

#[test]
fn the_schema_is_the_shipped_one() {
    let ran = run(&["schema"]);
    assert_eq!(ran.code, Some(0));
    let golden =
        std::fs::read_to_string(repository().join("schema/portcullis.schema.json")).unwrap();
    assert_eq!(ran.out, golden, "run `make schema`");
}

#[test]
fn plugins_are_listed_for_people() {
    let ran = run(&["plugins"]);
    let hint = "the schema of each configuration: portcullis plugins -o json\n";
    assert_eq!((ran.code, ran.err.as_str()), (Some(0), hint));
    for name in BUILT_IN {
        let line = ran
            .out
            .lines()
            .find(|line| line.starts_with(name))
            .unwrap_or_else(|| panic!("no {name}"));
        assert!(
            line.contains("admit") || line.contains("validate"),
            "{line}"
        );
        assert!(line.contains("CREATE") || line.contains("UPDATE"), "{line}");
    }
}

#[test]
fn plugins_are_listed_for_programs() {
    let ran = run(&["plugins", "-o", "json"]);
    assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""));
    let all: Value = serde_json::from_str(&ran.out).unwrap();
    let names: Vec<&str> = all
        .as_array()
        .unwrap()
        .iter()
        .map(|p| p["name"].as_str().unwrap())
        .collect();
    for name in BUILT_IN {
        assert_eq!(names.iter().filter(|n| **n == name).count(), 1, "{name}");
    }
    for plugin in all.as_array().unwrap() {
        let phases = &plugin["phases"];
        assert!(
            phases["admit"] == true || phases["validate"] == true,
            "{plugin}"
        );
        assert!(
            phases["admit"].is_boolean() && phases["validate"].is_boolean(),
            "{plugin}"
        );
        let operations = plugin["operations"].as_array().unwrap();
        assert!(!operations.is_empty(), "{plugin}");
        for operation in operations {
            assert!(
                ["CREATE", "UPDATE", "DELETE", "CONNECT"]
                    .iter()
                    .any(|known| operation == known),
                "{plugin}"
            );
        }
        assert!(
            plugin["summary"].as_str().is_some_and(|s| !s.is_empty()),
            "{plugin}"
        );
        let schema = plugin.get("configuration").expect("no schema");
        assert!(schema.is_null() || schema["type"] == "object", "{plugin}");
    }
    let with_schema = |name: &str| {
        let plugin = all
            .as_array()
            .unwrap()
            .iter()
            .find(|p| p["name"] == name)
            .unwrap();
        plugin["configuration"]["properties"].is_object()
    };
    for name in [
        "PodSecurity",
        "EventRateLimit",
        "PodNodeSelector",
        "PodTolerationRestriction",
        "ResourceQuota",
        "ImagePolicyWebhook",
        "Webhook",
    ] {
        assert!(with_schema(name), "{name}");
    }
    assert_eq!(run(&["plugins", "-o", "nonsense"]).code, Some(2));
}

#[test]
fn the_configuration_is_the_one_that_lies_here_unless_said() {
    let folder = crate::harness::Folder::new();
    let ran = crate::harness::run_in(&folder, &["check"]);
    assert_eq!(ran.code, Some(3));
    ran.says(&["portcullis.yaml", "no such file"]);
    folder.write("portcullis.yaml", "admission: {order: [AlwaysAdmit]}\n");
    assert_eq!(crate::harness::run_in(&folder, &["check"]).code, Some(0));
}

#[test]
fn wrong_usage_is_exit_2_and_told() {
    for arguments in [
        &["no-such-command"][..],
        &[],
        &["serve", "--no-such-flag"],
        &["serve", "--config"],
        &["serve", "stray"],
        &["check", "stray"],
        &["completions"],
        &["version", "--config", "x"],
    ] {
        let ran = run(arguments);
        assert_eq!(ran.code, Some(2), "{arguments:?}: {}", ran.err);
        assert!(!ran.err.trim().is_empty(), "{arguments:?} says nothing");
        assert_eq!(ran.out, "", "{arguments:?}");
    }
}

#[test]
fn check_accepts_a_good_file_starts_nothing_and_leaves_nothing() {
    // Its port is in use, and does not matter.
    let gate = Gate::of(&["AlwaysAdmit"]);
    assert_eq!(
        run_in(&gate.folder, &["check", "--config", "portcullis.yaml"]).code,
        Some(0)
    );
    let folder = Folder::new();
    let mut config = valid();
    let address = format!("127.0.0.1:{}", free_port());
    let more = json!({"name": "dev", "tcp": address, "tls": {"development": true}, "serves": ["kubernetes"]});
    config["listeners"].as_array_mut().unwrap().push(more);
    let socket = json!({"name": "local", "unix": {"path": "a.sock"}, "serves": ["kubernetes"]});
    config["listeners"].as_array_mut().unwrap().push(socket);
    folder.write("portcullis.yaml", config.to_string());
    let ran = run_in(&folder, &["check", "--config", "portcullis.yaml"]);
    assert_eq!((ran.code, ran.out.as_str()), (Some(0), ""), "{}", ran.err);
    assert_eq!(folder.names(), ["portcullis.yaml"]);
}

#[test]
fn a_file_that_is_not_there_is_exit_3_and_named() {
    for command in ["check", "serve"] {
        let ran = run(&[command, "--config", "no-such-file.yaml"]);
        assert_eq!(ran.code, Some(3), "{command}");
        ran.says(&["no-such-file.yaml"]);
    }
}

#[test]
fn the_one_dash_spelling_of_the_flag_is_taken() {
    let gate = Gate::of(&["AlwaysDeny"]);
    for arguments in [
        &["check", "-config-file", "portcullis.yaml"][..],
        &["check", "-config-file=portcullis.yaml"],
    ] {
        assert_eq!(run_in(&gate.folder, arguments).code, Some(0));
    }
    let folder = Folder::new();
    let port = free_port();
    let listener = json!({"name": "all", "tcp": format!("127.0.0.1:{port}"), "serves": ["kubernetes", "health"]});
    let config = json!({"listeners": [listener], "admission": {"order": ["AlwaysDeny"]}});
    folder.write("other.yaml", config.to_string());
    let mut command = crate::harness::program(folder.root());
    command.args(["serve", "-config-file", "other.yaml", "--data-dir", "data"]);
    Gate::spawn(folder, port, command)
        .validate(&pod())
        .denied("");
}

#[test]
fn the_configuration_can_be_named_by_a_variable() {
    let folder = Folder::new();
    let port = free_port();
    let listener = json!({"name": "all", "tcp": format!("127.0.0.1:{port}"), "serves": ["kubernetes", "health"]});
    folder.write("other.yaml", json!({"listeners": [listener]}).to_string());
    let mut command = crate::harness::program(folder.root());
    command
        .arg("serve")
        .env("PORTCULLIS_CONFIG", "other.yaml")
        .env("PORTCULLIS_DATA_DIR", "data");
    Gate::spawn(folder, port, command)
        .validate(&pod())
        .allowed();
}
