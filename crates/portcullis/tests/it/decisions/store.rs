//! Out of a store.

use super::{fill, filled, ids, listed, many, sample, samples};
use crate::harness::{Folder, program, run_in};

#[test]
fn the_newest_come_first() {
    let folder = filled();
    let mut wanted = ids(&samples());
    wanted.reverse();
    let by_dir = run_in(
        &folder,
        &["decisions", "list", "--data-dir", "data", "-o", "json"],
    );
    assert_eq!(
        (by_dir.code, listed(&by_dir.out)),
        (Some(0), wanted.clone())
    );
    let url = "sqlite:data/portcullis.db";
    let by_url = run_in(
        &folder,
        &["decisions", "list", "--store", url, "-o", "json"],
    );
    assert_eq!(
        (by_url.code, listed(&by_url.out)),
        (Some(0), wanted.clone())
    );
    // Where the server keeps its data if nothing is said.
    fill(&folder, ".local/share/portcullis", &samples());
    let usual = run_in(&folder, &["decisions", "list", "-o", "json"]);
    assert_eq!(listed(&usual.out), wanted);
    let named = program(folder.root())
        .args(["decisions", "list", "-o", "json"])
        .env("PORTCULLIS_DATA_DIR", "data")
        .output()
        .unwrap();
    assert_eq!(listed(&String::from_utf8(named.stdout).unwrap()), wanted);
}

#[test]
fn filters_are_kept() {
    let folder = filled();
    for (flags, wanted) in [
        (&["--door", "authorization"][..], &["access"][..]),
        (&["--verdict", "allow"], &["changed"]),
        (
            &["--verdict", "deny", "--door", "kubernetes"],
            &["policy", "refusal"],
        ),
        (&["--user", "ci-bot"], &["refusal"]),
        (&["--kind", "Pod"], &["changed", "refusal"]),
        (&["--kind", "pods"], &["changed", "refusal"]),
        (&["--namespace", "pay"], &["policy"]),
        (&["-n", "garden"], &["access"]),
        (&["--policy", "require-limits"], &["policy"]),
        (&["--policy", "PodSecurity"], &["refusal"]),
        (
            &["--since", "2000-01-01"],
            &["access", "changed", "policy", "refusal"],
        ),
        (&["--until", "2000-01-01T00:00:00Z"], &[]),
        (&["--user", "nobody"], &[]),
    ] {
        let mut arguments = vec!["decisions", "list", "--data-dir", "data", "-o", "json"];
        arguments.extend(flags);
        let ran = run_in(&folder, &arguments);
        let lines: Vec<String> = wanted.iter().map(|name| sample(name)).collect();
        assert_eq!(
            (ran.code, listed(&ran.out)),
            (Some(0), ids(&lines)),
            "{flags:?}"
        );
    }
}

#[test]
fn long_lists_come_in_parts() {
    let folder = Folder::new();
    let all = many(120);
    fill(&folder, "data", &all);
    let list = |flags: &[&str]| {
        let mut arguments = vec!["decisions", "list", "--data-dir", "data"];
        arguments.extend(flags);
        run_in(&folder, &arguments)
    };
    let mut wanted = ids(&all);
    wanted.reverse();
    let first = list(&["-o", "json"]);
    assert_eq!(listed(&first.out), wanted[..100]);
    let value: serde_json::Value = serde_json::from_str(&first.out).unwrap();
    let next = value["next"].as_str().unwrap();
    let second = list(&["-o", "json", "--after", next]);
    assert_eq!(listed(&second.out), wanted[100..]);
    assert!(
        second.out.ends_with("],\n  \"next\": null\n}\n"),
        "{}",
        second.out
    );
    assert_eq!(listed(&list(&["-o", "json", "--limit", "0"]).out), wanted);
    assert_eq!(
        listed(&list(&["-o", "json", "--limit", "7"]).out),
        wanted[..7]
    );
    let table = list(&[]);
    assert_eq!(table.out.lines().count(), 101);
    let hint = format!("--limit 0 prints all, --after {next} the next ones");
    assert!(table.err.contains(&hint), "{}", table.err);
    let whole = list(&["--limit", "0", "--no-headers"]);
    assert_eq!((whole.out.lines().count(), whole.err.as_str()), (120, ""));
}

#[test]
fn whole_decisions_are_exported_as_they_are() {
    let folder = filled();
    let ran = run_in(&folder, &["decisions", "export", "--data-dir", "data"]);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    assert_eq!(ran.out.lines().collect::<Vec<_>>(), samples());
    assert_eq!(ran.err, "4 decisions\n");
    let some = [
        "decisions",
        "export",
        "--data-dir",
        "data",
        "--user",
        "ci-bot",
        "-o",
        "jsonl",
    ];
    let some = run_in(&folder, &some);
    assert_eq!(
        (some.out, some.err.as_str()),
        (sample("refusal") + "\n", "1 decision\n")
    );
}

#[test]
fn what_is_not_there_is_said() {
    let folder = filled();
    folder.write("empty/x", "");
    folder.write(
        "broken/portcullis.db",
        "this is no database at all, whatever its name says",
    );
    for (flags, code, needle) in [
        (
            &["--data-dir", "nowhere"][..],
            3,
            "no data directory at nowhere",
        ),
        (&["--data-dir", "empty"], 3, "empty/portcullis.db"),
        (&["--store", "sqlite:nowhere.db"], 3, "nowhere.db"),
        (&["--store", "mysql://x:geheim@y/z"], 3, "invalid --store"),
        (
            &["--store", "postgres://u:geheim@127.0.0.1:1/x"],
            5,
            "127.0.0.1",
        ),
        (&[], 3, "no data directory"),
        (
            &["--data-dir", "data", "--store", "sqlite:x"],
            2,
            "cannot be used with",
        ),
        (
            &["--data-dir", "data", "--server", "http://a"],
            2,
            "cannot be used with",
        ),
        (&["--token", "geheim"], 2, "--server"),
        (&["--data-dir", "data", "--door", "front"], 2, "kubernetes"),
        (&["--data-dir", "data", "--since", "soon"], 2, "24h"),
        (&["--data-dir", "data", "-w", "--limit", "0"], 2, "--limit"),
        (
            &["--data-dir", "data", "-w", "--until", "1h"],
            2,
            "cannot be used with",
        ),
    ] {
        let mut arguments = vec!["decisions", "list"];
        arguments.extend(flags);
        let ran = run_in(&folder, &arguments);
        assert_eq!(ran.code, Some(code), "{flags:?}: {}", ran.err);
        ran.says(&[needle]);
        assert!(!ran.err.contains("geheim"), "{}", ran.err);
    }
    let broken = run_in(&folder, &["decisions", "list", "--data-dir", "broken"]);
    assert_eq!(broken.code, Some(5), "{broken:?}");
}
