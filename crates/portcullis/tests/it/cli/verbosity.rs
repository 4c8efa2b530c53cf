//! `--quiet` and `--verbose`: what is printed to standard error, and what never changes.

use serde_json::json;

use crate::decisions::{fill, samples};
use crate::harness::{Folder, Rest, RestCall, Setup, pod, run, run_in};

fn folder() -> Folder {
    let folder = Folder::new();
    let config = "admission: {order: [AlwaysDeny]}\n\
                  listeners: [{name: a, tcp: '127.0.0.1:8080', serves: [kubernetes]}]\n";
    folder.write("portcullis.yaml", config);
    folder.write("pod.yaml", pod().to_string());
    fill(&folder, "data", &samples());
    folder
}

#[test]
fn quiet_leaves_out_what_is_neither_data_nor_an_error() {
    let folder = folder();
    for command in [
        "eval pod.yaml",
        "check",
        "decisions list --data-dir data --limit 1",
        "decisions list --data-dir data --user nobody-like-this",
        "decisions export --data-dir data",
        "explain --last --data-dir data",
    ] {
        let words: Vec<&str> = command.split(' ').collect();
        let plain = run_in(&folder, &words);
        assert_ne!(plain.err, "", "{command}");
        for quiet in [
            &[&["-q"][..], &words].concat(),
            &[&words[..], &["--quiet"]].concat(),
        ] {
            let ran = run_in(&folder, quiet);
            assert_eq!((ran.code, &ran.out), (plain.code, &plain.out), "{command}");
            assert_eq!(ran.err, "", "{command}");
        }
    }
}

#[test]
fn errors_and_warnings_are_printed_in_any_case() {
    let folder = folder();
    folder.write("wrong.yaml", "limit: 1\n");
    let ran = run_in(&folder, &["-q", "check", "-c", "wrong.yaml"]);
    assert_eq!(ran.code, Some(3));
    ran.says(&["error: ", "limit"]);
    let config = "policies: [{name: p, code: 'return true'}]\nadmission: {order: [AlwaysAdmit]}\n";
    folder.write("odd.yaml", config);
    run_in(&folder, &["-q", "check", "-c", "odd.yaml"]).says(&["warning: there are policies"]);
    let ran = run_in(
        &folder,
        &[
            "-q",
            "explain",
            "01JD8QZ1V3M5T7X9Y2B4C6D8F0",
            "--data-dir",
            "data",
        ],
    );
    assert_eq!(ran.code, Some(6));
    ran.says(&["error: decision 01JD8QZ1V3M5T7X9Y2B4C6D8F0 not found"]);
}

#[test]
fn verbose_says_which_files_and_stores_are_used() {
    let folder = folder();
    let plain = run_in(&folder, &["eval", "pod.yaml"]);
    for command in [
        &["-v", "eval", "pod.yaml"][..],
        &["eval", "pod.yaml", "--verbose"],
    ] {
        let ran = run_in(&folder, command);
        assert_eq!((ran.code, &ran.out), (plain.code, &plain.out));
        assert!(
            ran.err
                .contains("debug: using the configuration portcullis.yaml\n"),
            "{}",
            ran.err
        );
    }
    let ran = run_in(&folder, &["decisions", "list", "-v", "--data-dir", "data"]);
    assert!(
        ran.err
            .starts_with("debug: reading decisions from sqlite:data/"),
        "{}",
        ran.err
    );
}

#[test]
fn verbose_says_which_server_is_asked_and_how_long_it_took_but_never_the_token() {
    let server = Rest::new(|_: &RestCall| (200, json!([{"name": "t1"}]).to_string()));
    let words = [
        "tenant",
        "list",
        "--server",
        &server.url,
        "--token",
        "geheim",
    ];
    let ran = run(&[&words[..], &["-v"]].concat());
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let lines: Vec<&str> = ran.err.lines().collect();
    assert_eq!(lines.len(), 2, "{}", ran.err);
    assert!(
        lines[0].starts_with("debug: using the server http://127.0.0.1")
            && lines[0].ends_with(", with a token")
    );
    assert!(lines[1].starts_with("debug: GET /api/tenants: 200 in ") && lines[1].ends_with(" ms"));
    let more = run(&[&words[..], &["-vv"]].concat());
    assert!(more.err.contains("debug: connecting to "), "{}", more.err);
    assert!(!more.err.contains("geheim"));
}

#[test]
fn both_together_are_an_error() {
    let ran = run(&["-q", "version", "-v"]);
    assert_eq!(ran.code, Some(2));
    ran.says(&["--quiet", "--verbose"]);
}

#[test]
fn the_log_of_a_server_follows_the_flags_before_the_environment() {
    let log = |flags: &[&str]| {
        let setup = Setup::new(json!({"admission": {"order": ["AlwaysAdmit"]}}));
        setup
            .variable("PORTCULLIS_LOG", "info")
            .arguments(flags)
            .start()
            .log()
    };
    let verbose = log(&["-v"]);
    assert!(
        verbose.contains("DEBUG") && verbose.contains("plug-in name=\"AlwaysAdmit\""),
        "{verbose}"
    );
    let quiet = log(&["-q"]);
    assert!(!quiet.contains("INFO"), "{quiet}");
}
