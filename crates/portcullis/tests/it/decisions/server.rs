//! From a running server.

use super::api::Api;
use super::{ids, listed, many, sample, sample_file, samples};
use crate::harness::{Folder, Pki, free_port, program, run, run_in};

#[test]
fn lists_come_page_by_page() {
    let all = many(10);
    let api = Api::http(&all);
    let mut wanted = ids(&all);
    wanted.reverse();
    let access = ["--server", &api.url, "--token", "geheim", "-o", "json"];
    let list = |flags: &[&str]| {
        let arguments = [&["decisions", "list"], flags, &access].concat();
        let ran = run(&arguments);
        assert_eq!(ran.code, Some(0), "{}", ran.err);
        listed(&ran.out)
    };
    assert_eq!(list(&[]), wanted);
    assert_eq!(list(&["--limit", "4"]), wanted[..4]);
    assert_eq!(list(&["--limit", "0", "--after", &wanted[7]]), wanted[8..]);
    assert!(list(&["--verdict", "allow"]).is_empty());
}

#[test]
fn filters_are_sent_as_they_are_given() {
    let api = Api::http(&samples());
    let ran = run(&[
        "decisions",
        "list",
        "--server",
        &api.url,
        "--token",
        "geheim",
        "--door",
        "ci",
        "--verdict",
        "deny",
        "--user",
        "a b&c",
        "--kind",
        "Pod",
        "-n",
        "é",
        "--policy",
        "x/y",
        "--since",
        "24h",
        "--until",
        "2026-01-01",
        "--limit",
        "5",
    ]);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    assert_eq!(
        api.asked(),
        [
            "/api/v1/decisions?door=ci&verdict=deny&user=a%20b%26c&kind=Pod&namespace=%C3%A9\
          &policy=x%2Fy&since=24h&until=2026-01-01&limit=5"
        ]
    );
}

#[test]
fn decisions_are_explained_and_exported_over_every_wire() {
    let folder = Folder::new();
    let pki = Pki::new();
    folder.write("ca.pem", &pki.authority.certificate_pem);
    let socket = folder.path("api.sock");
    let (http, https, unix) = (
        Api::http(&samples()),
        Api::https(&pki, &samples()),
        Api::unix(&socket, &samples()),
    );
    let all = [
        vec!["--server", &http.url, "--token", "geheim"],
        vec![
            "--server", &https.url, "--token", "geheim", "--ca", "ca.pem",
        ],
        vec!["--server", &unix.url],
    ];
    for access in all {
        let explain = [&["explain", "01k9zv3n5j0000000000000002"], &access[..]].concat();
        let ran = run_in(&folder, &explain);
        assert_eq!(
            (ran.code, ran.out),
            (Some(0), sample_file("policy.txt")),
            "{}",
            ran.err
        );
        assert!(!ran.err.contains("geheim"));
        let ran = run_in(&folder, &[&["decisions", "export"], &access[..]].concat());
        let lines: Vec<&str> = ran.out.lines().collect();
        assert_eq!(
            (ran.code, lines),
            (Some(0), samples().iter().map(String::as_str).collect())
        );
        let unknown = [&["explain", "01K9ZV3N5J0000000000000ABC"], &access[..]].concat();
        assert_eq!(run_in(&folder, &unknown).code, Some(6));
    }
}

#[test]
fn an_export_longer_than_a_page_is_whole_and_in_order() {
    let all = many(50);
    let api = Api::http(&all);
    let ran = run(&[
        "decisions",
        "export",
        "--server",
        &api.url,
        "--token",
        "geheim",
    ]);
    assert_eq!((ran.code, ran.err.as_str()), (Some(0), "50 decisions\n"));
    assert_eq!(ran.out.lines().collect::<Vec<_>>(), all);
    // A few at once, used again and again.
    assert!(
        (1..=4).contains(&api.connections()),
        "{}",
        api.connections()
    );
}

#[test]
fn the_environment_names_server_and_token() {
    let folder = Folder::new();
    let api = Api::http(&samples());
    let ran = program(folder.root())
        .args(["explain", "01K9ZV3N5J0000000000000001", "-o", "jsonl"])
        .env("PORTCULLIS_SERVER", &api.url)
        .env("PORTCULLIS_TOKEN", "geheim")
        .output()
        .unwrap();
    assert_eq!(
        String::from_utf8(ran.stdout).unwrap(),
        sample("refusal") + "\n"
    );
}

#[test]
fn what_is_wrong_has_its_exit_code() {
    let folder = Folder::new();
    let said = |message: &str| {
        format!("{{\"error\":{{\"code\":\"x\",\"message\":\"{message}\"}},\"request_id\":\"01B\"}}")
    };
    let id = "01K9ZV3N5J0000000000000001";
    for (status, code) in [
        (400, 2),
        (401, 4),
        (403, 4),
        (404, 5),
        (429, 5),
        (500, 5),
        (503, 5),
        (302, 5),
    ] {
        let api = Api::http(&[]);
        api.refuse(status, &said("it\\u001b[2J is so"));
        for command in [
            &["decisions", "list"][..],
            &["decisions", "export"],
            &["explain", id],
            &["decisions", "list", "-w"],
        ] {
            let access = ["--server", &api.url, "--token", "geheim"];
            let ran = run_in(&folder, &[command, &access].concat());
            assert_eq!(ran.code, Some(code), "{status} {command:?}: {}", ran.err);
            ran.says(&["it\\u{1b}[2J is so"]);
            assert!(!ran.err.contains("geheim"), "{}", ran.err);
        }
    }
    let api = Api::http(&[]);
    let without = run_in(&folder, &["decisions", "list", "--server", &api.url]);
    assert_eq!(without.code, Some(4), "{}", without.err);
    without.says(&["a token is needed", "401"]);
    api.refuse(200, "nonsense");
    let nonsense = run_in(&folder, &["decisions", "list", "--server", &api.url]);
    assert_eq!(nonsense.code, Some(5), "{}", nonsense.err);
}

#[test]
fn a_server_that_is_not_there_is_said() {
    let folder = Folder::new();
    let nobody = format!("http://127.0.0.1:{}", free_port());
    let socket = format!("unix://{}", folder.text("nobody.sock"));
    for (server, code) in [
        (nobody.as_str(), 5),
        (&socket, 5),
        ("https://127.0.0.1:1", 5),
        ("gopher://a", 3),
        ("http://u:geheim@a", 3),
        ("unix://relative.sock", 3),
        ("http://a.example", 2),
    ] {
        folder.write("ca.pem", &Pki::new().authority.certificate_pem);
        let access = ["--server", server, "--token", "geheim", "--ca", "ca.pem"];
        let ran = run_in(&folder, &[&["decisions", "list"], &access[..]].concat());
        assert_eq!(ran.code, Some(code), "{server}: {}", ran.err);
        ran.says(&["error: "]);
        assert!(!ran.err.contains("geheim"), "{}", ran.err);
    }
    let missing = [
        "decisions",
        "list",
        "--server",
        "https://127.0.0.1:1",
        "--ca",
        "none.pem",
    ];
    let missing = run_in(&folder, &missing);
    assert_eq!(missing.code, Some(3), "{}", missing.err);
}

#[test]
fn a_certificate_nobody_vouches_for_is_refused() {
    let folder = Folder::new();
    let (pki, other) = (Pki::new(), Pki::new());
    folder.write("ca.pem", &other.authority.certificate_pem);
    let api = Api::https(&pki, &samples());
    let access = ["--server", &api.url, "--token", "geheim", "--ca", "ca.pem"];
    let ran = run_in(&folder, &[&["decisions", "list"], &access[..]].concat());
    assert_eq!(ran.code, Some(5));
    ran.says(&["TLS failed"]);
    assert_eq!(api.asked(), Vec::<String>::new());
}
