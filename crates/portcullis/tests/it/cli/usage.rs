//! How commands are called, and what they say when they are called wrongly.

use serde_json::{Value, json};

use crate::harness::{Folder, program, run, run_in};

#[test]
fn help_is_a_command_too() {
    let ran = run(&["help"]);
    assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""));
    assert!(ran.out.contains("access-matrix"), "{}", ran.out);
    let of_one = run(&["help", "eval"]);
    assert_eq!(of_one.out, run(&["eval", "--help"]).out);
    let of_inner = run(&["help", "decisions", "list"]);
    assert_eq!(of_inner.out, run(&["decisions", "list", "--help"]).out);
    assert_eq!(run(&["help", "nonsense"]).code, Some(2));
}

#[test]
fn the_version_is_data_for_programs() {
    let ran = run(&["version", "-o", "json"]);
    let value: Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!(value["version"], env!("CARGO_PKG_VERSION"));
    assert!(value.get("commit").is_some() && value.get("date").is_some());
    assert!(
        run(&["version", "-o", "yaml"])
            .out
            .contains("name: portcullis\n")
    );
    assert!(run(&["plugins", "-o", "yaml"]).out.starts_with("- "));
}

#[test]
fn flags_that_are_nearly_right_are_named_as_they_were_written() {
    for (arguments, told) in [
        (
            &["-config-file", "x"][..],
            "portcullis serve -config-file FILE",
        ),
        (&["check", "-config-fil", "x"], "'-config-fil'"),
        (&["check", "-conf", "x"], "'-conf'"),
        (
            &["can-i", "enqueu", "--root", "--anonymous"],
            "'<VERB|ACTION>'",
        ),
    ] {
        let ran = run(arguments);
        assert_eq!(ran.code, Some(2), "{arguments:?}");
        ran.says(&["error: ", told]);
        assert!(!ran.err.contains("'...'"), "{}", ran.err);
    }
}

#[test]
fn a_check_is_data_for_programs() {
    let folder = Folder::new();
    folder.write(
        "portcullis.yaml",
        "admission: {order: [AlwaysAdmit]}\nlimit: 1\n",
    );
    let ran = run_in(&folder, &["check", "-o", "json"]);
    assert_eq!((ran.code, ran.err.as_str()), (Some(3), ""));
    let value: Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!(value["valid"], false);
    let error = &value["errors"][0];
    assert_eq!(
        (&error["line"], &error["path"]),
        (&json!(2), &json!("limit"))
    );
    assert_eq!(error["suggestion"], "limits");
    folder.write("portcullis.yaml", "admission: {order: [AlwaysAdmit]}\n");
    let ran = run_in(&folder, &["check", "-o", "yaml"]);
    assert_eq!(ran.code, Some(0));
    assert!(ran.out.contains("valid: true\n"), "{}", ran.out);
}

#[test]
fn a_strict_check_takes_warnings_for_errors() {
    let folder = Folder::new();
    let config = "policies: [{name: p, code: 'return true'}]\nadmission: {order: [AlwaysAdmit]}\n";
    folder.write("portcullis.yaml", config);
    let ran = run_in(&folder, &["check"]);
    assert_eq!(ran.code, Some(0));
    ran.says(&["warning: there are policies", "portcullis.yaml is valid"]);
    let ran = run_in(&folder, &["check", "--strict"]);
    assert_eq!(ran.code, Some(3));
    ran.says(&[
        "warning: there are policies",
        "error: portcullis.yaml has 2 warnings",
    ]);
    let ran = run_in(&folder, &["check", "--strict", "-o", "json"]);
    let value: Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!((ran.code, &value["valid"]), (Some(3), &json!(false)));
    assert_eq!(value["warnings"].as_array().unwrap().len(), 2);
    assert_eq!(value["errors"], json!([]));
}

#[test]
fn every_error_begins_with_that_word() {
    let folder = Folder::new();
    folder.write("portcullis.yaml", "listeners: 5\nlimit: 1\n");
    folder.write("pod.yaml", crate::harness::pod().to_string());
    folder.write("a.test.yaml", "tests: []");
    for command in [
        "check",
        "serve --data-dir data",
        "eval pod.yaml",
        "test",
        "token create --subject x",
        "access-matrix --root",
        "replay -c portcullis.yaml --file pod.yaml",
        "check -c nosuch.yaml",
    ] {
        let words: Vec<&str> = command.split(' ').collect();
        let ran = run_in(&folder, &words);
        assert_eq!(ran.code, Some(3), "{command}: {}", ran.err);
        assert!(ran.err.starts_with("error: "), "{command}: {}", ran.err);
    }
}

#[test]
fn a_token_needs_a_subject_where_nobody_is_known() {
    let folder = crate::access::folder(crate::access::TENANTS);
    let words = ["token", "create", "--authenticator", "op"];
    let ran = run_in(&folder, &words);
    assert_eq!(ran.code, Some(2), "{}", ran.err);
    ran.says(&["error: no subject: give --subject SUBJECT", "USER"]);
    for variable in ["USER", "LOGNAME"] {
        let mut command = program(folder.root());
        let output = command.args(words).env(variable, "zoe").output().unwrap();
        let err = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.success(), "{err}");
        assert_eq!(err, "issued by op for zoe, expires in 10m\n");
    }
}

#[test]
fn colours_are_for_those_who_want_them() {
    let folder = Folder::new();
    folder.write("portcullis.yaml", "admission: {order: [AlwaysDeny]}\n");
    folder.write("pod.yaml", crate::harness::pod().to_string());
    let plain = run_in(&folder, &["eval", "pod.yaml"]);
    let coloured = run_in(&folder, &["--color", "always", "eval", "pod.yaml"]);
    assert!(!plain.out.contains('\u{1b}'));
    assert!(
        coloured.out.contains("\u{1b}[1;31mDENY \u{1b}[0m"),
        "{}",
        coloured.out
    );
    for flag in ["--color=never", "--color=auto"] {
        assert_eq!(run_in(&folder, &["eval", "pod.yaml", flag]).out, plain.out);
    }
    // Where the command line can't be understood, too.
    let wrong = run(&["eval", "--nonsense", "--color=always"]);
    assert!(wrong.err.contains('\u{1b}'), "{}", wrong.err);
    assert!(!run(&["eval", "--nonsense"]).err.contains('\u{1b}'));
    assert!(run(&["--help", "--color", "always"]).out.contains('\u{1b}'));
}
