//! `portcullis can-i`.

use serde_json::json;

use super::{ask, claims, example, folder, json_of};
use crate::harness::program;

#[test]
fn a_yes_names_rule_role_and_conditions() {
    let folder = example();
    let alice = claims(&folder, "alice", &json!({}));
    let asked = [
        "can-i", "enqueue", "--tenant", "example", "--claims", &alice,
    ];
    let fitting = ["--param", "project=foo", "--param", "pipeline=post"];
    let ran = ask(&folder, &[&asked[..], &fitting].concat());
    assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""));
    assert_eq!(
        ran.out,
        "yes: rule alice, role enqueue-post permits enqueue when project is foo and pipeline is post\n"
    );
    let ran = ask(&folder, &[&asked[..], &fitting, &["--explain"]].concat());
    assert_eq!(ran.code, Some(0));
    insta::assert_snapshot!(ran.out, @"
    yes: rule alice, role enqueue-post permits enqueue when project is foo and pipeline is post

    Rules
      RULE        ROLES           THESE CLAIMS
      admin-user  admin           doesn't match: preferred_username is `alice`, not `admin`
      alice       enqueue-post    matches
      everyone    read, autohold  matches

    Grants of enqueue by rules that match
      rule alice, role enqueue-post permits it
        met:     project: expected foo, got foo
        met:     pipeline: expected post, got post

    Grants of enqueue by other rules
      rule admin-user, role admin would permit it

    Without signing in
      reading requires signing in and a role that permits it
    ");
}

#[test]
fn a_no_says_what_failed() {
    let folder = example();
    let alice = claims(&folder, "alice", &json!({}));
    let asked = [
        "can-i", "enqueue", "--tenant", "example", "--claims", &alice,
    ];
    for (parameters, told) in [
        (
            &["--param", "project=foo", "--param", "pipeline=check"][..],
            "but pipeline is check",
        ),
        (
            &["--param", "project=bar", "--param", "pipeline=post"],
            "but project is bar",
        ),
        (&[], "but no project is given and no pipeline is given"),
    ] {
        let ran = ask(&folder, &[&asked[..], parameters].concat());
        assert_eq!(ran.code, Some(1), "{}", ran.err);
        assert!(
            ran.out.starts_with("no: rule alice, role enqueue-post"),
            "{}",
            ran.out
        );
        assert!(ran.out.trim_end().ends_with(told), "{}", ran.out);
    }
}

#[test]
fn everybody_has_what_the_document_says() {
    let folder = example();
    for (action, name, code) in [
        ("autohold", "bob", 0),
        ("read", "bob", 0),
        ("tenant-state", "bob", 1),
        ("tenant-state", "admin", 0),
        ("set-tenant-state", "admin", 0),
        ("submit-job", "admin", 0),
        ("submit-job", "bob", 1),
        ("dequeue", "alice", 1),
    ] {
        let file = claims(&folder, name, &json!({}));
        let ran = ask(
            &folder,
            &["can-i", action, "--tenant", "example", "--claims", &file],
        );
        assert_eq!(
            ran.code,
            Some(code),
            "{action} {name}: {}{}",
            ran.out,
            ran.err
        );
    }
}

#[test]
fn claims_of_an_unknown_issuer_count_for_nothing() {
    let folder = folder(
        "- tenant:\n    name: open\n- tenant:\n    name: shut\n    anonymous-read-access: false\n",
    );
    let eve = claims(&folder, "eve", &json!({"iss": "elsewhere"}));
    let asked = |tenant, more: &[&str]| {
        let base = ["can-i", "read", "--tenant", tenant, "--claims", &eve];
        ask(&folder, &[&base, more].concat())
    };
    let ran = asked("shut", &[]);
    assert_eq!(ran.code, Some(1));
    assert!(
        ran.out
            .starts_with("no: a token with these claims is rejected"),
        "{}",
        ran.out
    );
    assert!(ran.out.contains("`elsewhere`"), "{}", ran.out);
    let ran = asked("open", &["-o", "json"]);
    assert_eq!(ran.code, Some(0));
    let value = json_of(&ran);
    assert_eq!(value["by"], "anonymous");
    assert!(
        value["token_refused"]
            .as_str()
            .unwrap()
            .contains("elsewhere")
    );
}

#[test]
fn claims_that_make_an_admin_are_taken_only_from_who_may_say_so() {
    let folder = example();
    let admin = json!({"iss": "op", "zuul": {"admin": ["example"]}});
    let oscar = claims(&folder, "oscar", &admin);
    let asked = ["can-i", "promote", "--tenant", "example", "--claims"];
    let ran = ask(&folder, &[&asked[..], &[&oscar, "-o", "json"]].concat());
    assert_eq!(
        (ran.code, json_of(&ran)["by"].clone()),
        (Some(0), json!("override"))
    );
    let bob = claims(&folder, "bob", &json!({"zuul": {"admin": ["example"]}}));
    let ran = ask(&folder, &[&asked[..], &[&bob]].concat());
    assert_eq!(ran.code, Some(1));
    assert!(ran.out.contains("rejected"), "{}", ran.out);
}

#[test]
fn the_answer_is_there_for_programs() {
    let folder = example();
    let alice = claims(&folder, "alice", &json!({}));
    let asked = [
        "can-i",
        "enqueue",
        "--tenant",
        "example",
        "--claims",
        &alice,
        "--param",
        "project=bar",
        "-o",
        "json",
    ];
    let value = json_of(&ask(&folder, &asked));
    assert_eq!(value["allowed"], false);
    assert_eq!(value["refusal"]["permission"], "enqueue");
    assert_eq!(value["refusal"]["conditions"][0]["got"], "bar");
    assert_eq!(value["refusal"]["rules"], json!(["alice", "everyone"]));
    assert_eq!(value.get("rules"), None);
    let value = json_of(&ask(&folder, &[&asked[..], &["--explain"]].concat()));
    assert_eq!(value["rules"].as_array().unwrap().len(), 3);
    assert_eq!(value["near"][0]["rule"], "admin-user");
    assert_eq!(value["anonymous_read"], false);
}

#[test]
fn claims_come_from_standard_input_too() {
    let folder = example();
    let bob = claims(&folder, "bob", &json!({}));
    let ran = program(folder.root())
        .args(["can-i", "read", "--tenant", "example", "--claims", "-"])
        .args(["--config", "portcullis.yaml"])
        .stdin(std::fs::File::open(folder.path(&bob)).unwrap())
        .output()
        .unwrap();
    assert_eq!(ran.status.code(), Some(0));
}

#[test]
fn the_root_is_asked_by_name() {
    let folder = folder(
        "- authorization-rule: {name: all, conditions: [{iss: our-institution}]}\n\
         - api-root: {anonymous-read-access: false, role-mappings: {all: read}}\n",
    );
    let bob = claims(&folder, "bob", &json!({}));
    let yes = ask(&folder, &["can-i", "read", "--root", "--claims", &bob]);
    assert_eq!(yes.code, Some(0), "{}{}", yes.out, yes.err);
    let no = ask(&folder, &["can-i", "read", "--root", "--anonymous"]);
    assert_eq!(
        (no.code, no.out.as_str()),
        (Some(1), "no: reading requires signing in here\n")
    );
}

#[test]
fn what_can_not_be_answered_has_its_own_codes() {
    let folder = example();
    let bob = claims(&folder, "bob", &json!({}));
    folder.write("list.json", "[]");
    folder.write("broken.json", "{");
    let base = ["can-i", "read", "--tenant", "example", "--claims"];
    for (arguments, code, told) in [
        (
            &["can-i", "fly", "--tenant", "example", "--claims", &bob][..],
            2,
            "enqueue",
        ),
        (
            &["can-i", "enque", "--tenant", "example", "--claims", &bob],
            2,
            "'enqueue'",
        ),
        (&["can-i", "read", "--tenant", "example"], 2, "--claims"),
        (&["can-i", "read", "--claims", &bob], 2, "--tenant"),
        (
            &["can-i", "read", "--tenant", "exampel", "--claims", &bob],
            6,
            "`example`",
        ),
        (
            &[&base[..], &[&bob, "--param", "colour=red"]].concat(),
            2,
            "pipeline",
        ),
        (
            &[&base[..], &[&bob, "--param", "ref=a", "--param", "ref=b"]].concat(),
            2,
            "twice",
        ),
        (&[&base[..], &["none.json"]].concat(), 3, "none.json"),
        (&[&base[..], &["list.json"]].concat(), 3, "object"),
        (&[&base[..], &["broken.json"]].concat(), 3, "JSON"),
    ] {
        let ran = ask(&folder, arguments);
        assert_eq!(ran.code, Some(code), "{arguments:?}: {}", ran.err);
        ran.says(&[told]);
    }
    folder.write("portcullis.yaml", "tenants: {file: none.yaml}\n");
    let ran = ask(&folder, &[&base[..], &[&bob]].concat());
    assert_eq!(ran.code, Some(3));
    ran.says(&["none.yaml"]);
}

#[test]
fn a_faulty_tenant_is_told_apart_from_an_unknown_one() {
    let folder =
        folder("- tenant: {name: good}\n- tenant: {name: bad, role-mappings: {nobody: nothing}}\n");
    let ran = ask(
        &folder,
        &["can-i", "read", "--tenant", "bad", "--anonymous"],
    );
    assert_eq!(ran.code, Some(3), "{}", ran.err);
    ran.says(&["bad", "nobody", "tenants.yaml"]);
    let ran = ask(
        &folder,
        &["can-i", "read", "--tenant", "good", "--anonymous"],
    );
    assert_eq!(ran.code, Some(0), "{}", ran.err);
}

#[test]
fn what_makes_no_difference_is_noted() {
    let folder = folder("- tenant: {name: t, projects: [foo]}\n");
    let ran = ask(
        &folder,
        &[
            "can-i",
            "read",
            "--tenant",
            "t",
            "--anonymous",
            "--param",
            "project=bar",
        ],
    );
    assert_eq!(ran.code, Some(0));
    assert!(
        ran.err.contains("read does not depend on project"),
        "{}",
        ran.err
    );
    assert!(
        ran.err.contains("does not have the project bar"),
        "{}",
        ran.err
    );
}
