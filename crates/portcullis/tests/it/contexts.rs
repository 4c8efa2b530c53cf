//! Contexts: which server a command asks, and with whose token. Signing in at a provider is tried in e2e/api.

use std::fs::Permissions;
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::process::Stdio;

use serde_json::{Value, json};

use crate::harness::{Folder, Pki, Ran, Rest, RestAnswer, RestCall, program};

const FILE: &str = ".config/portcullis/config.yaml";
const TOKEN: &str = "geheimes.token";

/// A server that knows one token.
fn answer(call: &RestCall) -> RestAnswer {
    let refused = |status, message: &str| {
        (
            status,
            json!({"error": {"code": "x", "message": message}}).to_string(),
        )
    };
    let path = call.line.split(' ').nth(1).unwrap();
    let is_known = call.token.as_deref() == Some(TOKEN);
    match path {
        "/api/tenants" => (
            200,
            json!([{"name": "t1", "projects": 1, "queue": 0}]).to_string(),
        ),
        "/api/authorizations" if is_known => refused(403, "no roles here"),
        "/api/tenant/t1/authorizations" if is_known => {
            let permissions =
                json!({"read": true, "enqueue": [{"rule": "r", "role": "o", "conditions": {}}]});
            let zuul = json!({"admin": false, "scope": ["t1"]});
            let body = json!({"user": "zoe", "zuul": zuul, "permissions": permissions, "roles": ["o"], "rules": ["r"]});
            (200, body.to_string())
        }
        "/api/info" => (
            200,
            json!({"info": {"capabilities": {"auth": {"realms": {}}}}}).to_string(),
        ),
        _ => refused(401, "unknown token"),
    }
}

fn server() -> Rest {
    Rest::new(answer)
}

fn run_with(home: &Folder, variables: &[(&str, &str)], arguments: &[&str], said: &str) -> Ran {
    let mut command = program(home.root());
    command
        .envs(variables.iter().copied())
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    // Commands that read nothing may be over already.
    let _ = stdin.write_all(said.as_bytes());
    drop(stdin);
    let output = child.wait_with_output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    let ran = Ran {
        code: output.status.code(),
        out: text(output.stdout),
        err: text(output.stderr),
    };
    assert!(
        !ran.out.contains(TOKEN) && !ran.err.contains(TOKEN),
        "{ran:?}"
    );
    ran
}

fn run(home: &Folder, arguments: &[&str]) -> Ran {
    run_with(home, &[], arguments, "")
}

/// Signs in with the token.
#[track_caller]
fn sign_in(home: &Folder, server: &Rest, more: &[&str]) {
    let login = ["login", "--server", &server.url, "--token-stdin"];
    let ran = run_with(
        home,
        &[],
        &[&login[..], more].concat(),
        &format!("{TOKEN}\n"),
    );
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    assert!(ran.err.contains("as zoe"), "{}", ran.err);
}

/// The tokens that came with the last calls.
fn last_token(server: &Rest) -> Option<String> {
    server.calls().last().unwrap().token.clone()
}

#[test]
fn a_token_is_kept_and_used() {
    let (home, server) = (Folder::new(), server());
    sign_in(&home, &server, &[]);
    let mode = std::fs::metadata(home.path(FILE))
        .unwrap()
        .permissions()
        .mode();
    assert_eq!(mode & 0o777, 0o600);

    let ran = run(&home, &["whoami", "-o", "json"]);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let me: Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!(
        (&me["user"], &me["server"]),
        (&json!("zoe"), &json!(server.url))
    );
    assert_eq!(me["tenants"][0]["permissions"]["read"], true);
    let ran = run(&home, &["whoami"]);
    assert!(
        ran.out.contains("enqueue (with conditions), read"),
        "{}",
        ran.out
    );

    let ran = run(&home, &["tenant", "list", "-v"]);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    assert_eq!(last_token(&server).as_deref(), Some(TOKEN));
}

#[test]
fn a_token_goes_to_its_own_server_alone() {
    let (home, own, other) = (Folder::new(), server(), server());
    sign_in(&home, &own, &[]);
    let ran = run(
        &home,
        &["tenant", "list", "--server", &format!("{}/", own.url)],
    );
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    assert_eq!(last_token(&own).as_deref(), Some(TOKEN));

    let list = ["tenant", "list", "--server", &other.url];
    assert_eq!(run(&home, &list).code, Some(0));
    let variable = [("PORTCULLIS_SERVER", other.url.as_str())];
    assert_eq!(
        run_with(&home, &variable, &["tenant", "list"], "").code,
        Some(0)
    );
    let named = [
        &list[..],
        &["--context", own.url.trim_start_matches("http://")],
    ]
    .concat();
    assert_eq!(run(&home, &named).code, Some(0));
    let tokens: Vec<_> = other.calls().into_iter().map(|call| call.token).collect();
    assert_eq!(tokens, [None, None, None]);
    let ran = run(&home, &["whoami", "--server", &other.url]);
    assert_eq!(ran.code, Some(4), "{}", ran.err);
}

#[test]
fn flags_count_more_than_variables_and_those_more_than_the_current_context() {
    let home = Folder::new();
    let (one, two, three) = (server(), server(), server());
    sign_in(&home, &one, &["--name", "one"]);
    sign_in(&home, &two, &["--name", "two"]);
    let asked = |servers: &[&Rest]| {
        servers
            .iter()
            .map(|one| one.calls().len())
            .collect::<Vec<_>>()
    };
    let before = asked(&[&one, &two, &three]);
    let list = ["tenant", "list"];
    let environment = [("PORTCULLIS_SERVER", three.url.as_str())];
    // The last one signed in to is the current one.
    assert_eq!(run(&home, &list).code, Some(0));
    assert_eq!(
        run(&home, &["tenant", "list", "--context", "one"]).code,
        Some(0)
    );
    assert_eq!(
        run_with(&home, &[("PORTCULLIS_CONTEXT", "one")], &list, "").code,
        Some(0)
    );
    assert_eq!(run_with(&home, &environment, &list, "").code, Some(0));
    let flag = ["tenant", "list", "--context", "one"];
    assert_eq!(run_with(&home, &environment, &flag, "").code, Some(0));
    let after = asked(&[&one, &two, &three]);
    let came: Vec<usize> = after
        .iter()
        .zip(before)
        .map(|(after, before)| after - before)
        .collect();
    assert_eq!(came, [3, 1, 1]);
    // A variable with a token is for the server that is asked.
    let token = [("PORTCULLIS_TOKEN", "another.token")];
    assert_eq!(run_with(&home, &token, &list, "").code, Some(0));
    assert_eq!(last_token(&two).as_deref(), Some("another.token"));
}

#[test]
fn signing_in_goes_where_the_environment_says_and_keeps_the_ca() {
    let home = Folder::new();
    let (one, two) = (server(), server());
    home.write("ca.crt", Pki::new().authority.certificate_pem);
    sign_in(&home, &one, &["--name", "one", "--ca", "ca.crt"]);
    let login = |variables: &[(&str, &str)], more: &[&str]| {
        let arguments = [&["login", "--token-stdin"][..], more].concat();
        let ran = run_with(&home, variables, &arguments, TOKEN);
        assert_eq!(ran.code, Some(0), "{}", ran.err);
    };
    let asked = (one.calls().len(), two.calls().len());
    login(&[("PORTCULLIS_SERVER", &two.url)], &[]);
    assert_eq!(one.calls().len(), asked.0);
    assert!(two.calls().len() > asked.1);
    // The server is known by another name than its host.
    login(&[], &["--server", &one.url]);
    let file = std::fs::read_to_string(home.path(FILE)).unwrap();
    assert_eq!(file.matches(&one.url).count(), 1, "{file}");
    assert!(file.contains("/ca.crt"), "{file}");
}

#[test]
fn contexts_are_listed_chosen_and_deleted() {
    let home = Folder::new();
    let (one, two) = (server(), server());
    assert_eq!(run(&home, &["context", "list"]).code, Some(0));
    sign_in(&home, &one, &["--name", "one"]);
    sign_in(&home, &two, &["--name", "two"]);
    let current = || {
        let ran = run(&home, &["context", "list", "-o", "json"]);
        let all: Value = serde_json::from_str(&ran.out).unwrap();
        let all = all.as_array().unwrap().clone();
        let current = all.iter().find(|one| one["current"] == true);
        current.map(|one| one["name"].as_str().unwrap().to_owned())
    };
    assert_eq!(current().as_deref(), Some("two"));
    assert_eq!(run(&home, &["context", "use", "one"]).code, Some(0));
    assert_eq!(current().as_deref(), Some("one"));
    for unknown in [
        &["context", "use", "three"][..],
        &["context", "delete", "three"],
        &["whoami", "--context", "three"],
    ] {
        let ran = run(&home, unknown);
        assert_eq!(ran.code, Some(2), "{}", ran.err);
        ran.says(&["three", "portcullis context list"]);
    }
    assert_eq!(run(&home, &["context", "delete", "one"]).code, Some(0));
    assert_eq!(current(), None);
    let ran = run(&home, &["tenant", "list"]);
    assert_eq!(ran.code, Some(2));
    ran.says(&["--server", "portcullis login"]);
}

#[test]
fn signing_out_deletes_the_token_and_keeps_the_server() {
    let (home, server) = (Folder::new(), server());
    sign_in(&home, &server, &["--name", "one"]);
    assert_eq!(run(&home, &["logout"]).code, Some(0));
    let text = std::fs::read_to_string(home.path(FILE)).unwrap();
    assert!(
        text.contains(&server.url) && !text.contains(TOKEN),
        "{text}"
    );
    let ran = run(&home, &["whoami"]);
    assert_eq!(ran.code, Some(4));
    ran.says(&["not signed in", "portcullis login"]);
    assert_eq!(run(&home, &["logout"]).code, Some(0));
    assert_eq!(run(&Folder::new(), &["logout"]).code, Some(6));
}

#[test]
fn what_does_not_work_is_not_kept() {
    let (home, server) = (Folder::new(), server());
    let login = ["login", "--server", &server.url, "--token-stdin"];
    assert_eq!(run_with(&home, &[], &login, "another.token").code, Some(4));
    assert_eq!(run_with(&home, &[], &login, "").code, Some(2));
    let ran = run(&home, &["login", "--server", &server.url]);
    assert_eq!(ran.code, Some(3));
    ran.says(&["--token-stdin"]);
    assert!(!home.path(FILE).exists());
    assert_eq!(run(&home, &["login"]).code, Some(2));
    let ran = run(
        &home,
        &["login", "--server", "http://user:geheim@a.example"],
    );
    assert_eq!(ran.code, Some(3));
    assert!(!ran.err.contains("geheim"), "{}", ran.err);
}

#[test]
fn a_file_that_others_can_read_is_rejected() {
    let (home, server) = (Folder::new(), server());
    sign_in(&home, &server, &[]);
    std::fs::set_permissions(home.path(FILE), Permissions::from_mode(0o644)).unwrap();
    for command in [
        &["whoami"][..],
        &["tenant", "list"],
        &["context", "list"],
        &["logout"],
    ] {
        let ran = run(&home, command);
        assert_eq!(ran.code, Some(3), "{command:?} {}", ran.err);
        ran.says(&["config.yaml", "chmod 600"]);
    }
    // Who names a server needs no context.
    let list = ["tenant", "list", "--server", &server.url];
    assert_eq!(run(&home, &list).code, Some(0));
    std::fs::set_permissions(home.path(FILE), Permissions::from_mode(0o600)).unwrap();
    std::fs::write(
        home.path(FILE),
        "contexts: [{name: a, server: b, tokn: geheim}]\n",
    )
    .unwrap();
    let ran = run(&home, &["whoami"]);
    assert_eq!(ran.code, Some(3));
    ran.says(&["config.yaml:1", "tokn"]);
    assert!(!ran.err.contains("geheim"), "{}", ran.err);
}
