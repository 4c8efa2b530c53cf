//! Many objects: in order, on several threads, with bounded memory.

use std::fmt::Write;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::Stdio;

use serde_json::{Value, json};

use super::{eval, eval_stdin};
use crate::harness::{Folder, program, run_in};

const MANY: usize = 10_000;

/// Denies every tenth pod.
const TAGGED: &str = "if (!object.spec.containers[0].image.includes(':')) deny('no tag')";

fn manifest(number: usize) -> String {
    let tag = if number.is_multiple_of(10) { "" } else { ":1" };
    format!(
        "apiVersion: v1\nkind: Pod\nmetadata:\n  name: pod-{number:05}\n  labels: {{app: web, tier: front}}\n\
         spec:\n  containers:\n  - name: app\n    image: registry.example/shop/app{tag}\n    env:\n    - name: MODE\n      value: production\n"
    )
}

fn documents(count: usize) -> String {
    let all: Vec<String> = (0..count).map(manifest).collect();
    all.join("---\n")
}

fn list(count: usize) -> String {
    let mut text = "apiVersion: v1\nkind: List\nitems:\n".to_owned();
    for number in 0..count {
        let item = manifest(number).replace('\n', "\n  ");
        let _ = writeln!(text, "- {}", item.trim_end());
    }
    text
}

/// The most memory a process has had, in KiB. It must be running.
fn peak(process: u32) -> u64 {
    let status =
        std::fs::read_to_string(Path::new("/proc").join(process.to_string()).join("status"));
    let status = status.unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM:"));
    let number = line.unwrap().split_whitespace().nth(1).unwrap();
    number.parse().unwrap()
}

/// Evaluates `input` and checks every result; the most memory it had by then, in MiB.
fn evaluated(input: &str) -> u64 {
    let folder = Folder::new();
    folder.write("policies/tagged.js", TAGGED);
    folder.write("all.yaml", input);
    let mut child = program(folder.root())
        .args(["eval", "all.yaml", "--policies", "policies", "-o", "json"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut next = |prefix: &str| {
        let mut lines = lines.by_ref().map(|line| line.unwrap());
        lines.find_map(|line| {
            Some(
                line.trim()
                    .strip_prefix(prefix)?
                    .trim_end_matches(',')
                    .to_owned(),
            )
        })
    };
    let mut most = 0;
    for number in 0..MANY {
        let is_allowed = next("\"allowed\": ").unwrap();
        assert_eq!(is_allowed == "true", !number.is_multiple_of(10), "{number}");
        assert_eq!(next("\"index\": ").unwrap(), number.to_string());
        // What is still to come doesn't fit into the pipe, so the program is running.
        if number % 1000 == 0 {
            most = peak(child.id());
        }
    }
    assert_eq!(next("\"allowed\": ").unwrap(), "9000");
    assert_eq!(next("\"denied\": ").unwrap(), "1000");
    while next("nothing like this").is_some() {}
    let ended = child.wait_with_output().unwrap();
    assert_eq!(ended.status.code(), Some(1));
    let closing = "10000 objects, 1 policy: 9000 allowed, 1000 denied, 0 errors, 0 skipped\n";
    assert_eq!(String::from_utf8(ended.stderr).unwrap(), closing);
    most / 1024
}

#[test]
fn ten_thousand_documents_need_little_memory() {
    let text = documents(MANY);
    let peak = evaluated(&text);
    assert!(peak < 160, "{peak} MiB for {} KiB", text.len() >> 10);
}

#[test]
fn a_list_of_ten_thousand_objects_is_read() {
    let text = list(MANY);
    // It is one document, which is in memory as a tree.
    let peak = evaluated(&text);
    assert!(peak < 400, "{peak} MiB for {} KiB", text.len() >> 10);
}

/// Name, verdict and policy outcomes of each result.
fn told(value: &Value) -> Vec<(Value, Value, Value)> {
    let results = value["results"].as_array().unwrap().iter();
    let told = results.map(|r| {
        (
            r["name"].clone(),
            r["allowed"].clone(),
            r["policies"].clone(),
        )
    });
    told.collect()
}

#[test]
fn all_ways_to_give_many_objects_have_the_same_results() {
    let count = 250;
    let folder = Folder::new();
    folder.write("policies/tagged.js", TAGGED);
    folder.write("documents.yaml", documents(count));
    folder.write("list.yaml", list(count));
    for number in 0..count {
        folder.write(&format!("many/{number:05}.yaml"), manifest(number));
    }
    let flags = ["--policies", "policies"];
    let of = |input: &str| eval(&folder, &[&[input], &flags[..]].concat());
    let expected = of("documents.yaml");
    assert_eq!(expected.summary(), [225, 25, 0, 0]);
    for input in ["list.yaml", "many"] {
        let done = of(input);
        assert_eq!(told(&done.value), told(&expected.value), "{input}");
        assert_eq!(done.summary(), expected.summary());
    }
    let stdin = [&["-", "-o", "json"], &flags[..]].concat();
    let (code, out) = eval_stdin(&folder, &stdin, &documents(count));
    let value: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(code, Some(1));
    assert_eq!(told(&value), told(&expected.value));
}

#[test]
fn a_faulty_document_loses_no_other() {
    let count = 100;
    let folder = Folder::new();
    folder.write("policies/tagged.js", TAGGED);
    let mut text = documents(count);
    text = text.replace(
        "kind: Pod\nmetadata:\n  name: pod-00050",
        "kind: [Pod\nmetadata:\n  name: pod-00050",
    );
    folder.write("all.yaml", text);
    let done = eval(&folder, &["all.yaml", "--policies", "policies"]);
    assert_eq!((done.code, done.summary()), (Some(3), [90, 9, 1, 0]));
    for (number, result) in done.results().iter().enumerate() {
        assert_eq!(result["index"], number);
        let name = if number == 50 {
            String::new()
        } else {
            format!("pod-{number:05}")
        };
        assert_eq!(result["name"], name);
    }
}

#[test]
fn policies_that_remember_see_the_objects_one_after_the_other() {
    let folder = Folder::new();
    let counts =
        "const kept = ac.GlobalContext; kept.n = (kept.n ?? 0) + 1; warn(kept.n + ' ' + req.name)";
    folder.write("policies/counts.js", counts);
    folder.write("all.yaml", documents(200));
    let done = eval(&folder, &["all.yaml", "--policies", "policies"]);
    for (number, result) in done.results().iter().enumerate() {
        let said = format!("counts: {} pod-{number:05}", number + 1);
        assert_eq!(result["warnings"], json!([said]));
    }
}

#[test]
fn every_review_has_an_identifier_of_its_own() {
    let folder = Folder::new();
    folder.write("policies/uid.js", "warn(req.uid)");
    folder.write("all.yaml", documents(100));
    let done = eval(&folder, &["all.yaml", "--policies", "policies"]);
    for (number, result) in done.results().iter().enumerate() {
        let said = format!("uid: {number:08x}-0000-4000-8000-000000000000");
        assert_eq!(result["warnings"], json!([said]));
    }
}

#[test]
fn what_is_written_stands_before_the_result_it_belongs_to() {
    let folder = Folder::new();
    folder.write("policies/speaks.js", "console.log(req.name)");
    folder.write("all.yaml", documents(40));
    let both = std::fs::File::create(folder.path("both")).unwrap();
    let ended = program(folder.root())
        .args(["eval", "all.yaml", "--policies", "policies"])
        .stdout(both.try_clone().unwrap())
        .stderr(both)
        .status()
        .unwrap();
    assert_eq!(ended.code(), Some(0));
    let text = std::fs::read_to_string(folder.path("both")).unwrap();
    let lines: Vec<&str> = text.lines().filter(|line| line.contains("pod-")).collect();
    assert_eq!(lines.len(), 80);
    for (number, pair) in lines.chunks(2).enumerate() {
        assert_eq!(pair[0], format!("speaks:1: log: pod-{number:05}"));
        assert!(
            pair[1].starts_with(&format!("Pod default/pod-{number:05} ")),
            "{}",
            pair[1]
        );
    }
}

#[test]
fn an_update_of_many_objects_finds_each_old_one() {
    let folder = Folder::new();
    folder.write(
        "policies/old.js",
        "if (oldObject.metadata.name !== object.metadata.name) deny('another')",
    );
    folder.write("new.yaml", documents(300));
    folder.write("old.yaml", list(300));
    let update = ["--operation", "UPDATE", "--old", "old.yaml"];
    let done = eval(
        &folder,
        &[&["new.yaml", "--policies", "policies"], &update[..]].concat(),
    );
    assert_eq!((done.code, done.summary()), (Some(0), [300, 0, 0, 0]));
}

#[test]
fn reports_of_many_objects_are_whole() {
    let count = 3000;
    let folder = Folder::new();
    folder.write("policies/tagged.js", TAGGED);
    folder.write("all.yaml", documents(count));
    let kinds = ["json", "yaml", "junit", "sarif", "github", "gitlab", "tap"];
    let reports = kinds.map(|kind| format!("--report={kind}=out.{kind}"));
    let reports: Vec<&str> = reports.iter().map(String::as_str).collect();
    let fixed = ["eval", "all.yaml", "--policies", "policies"];
    let ran = run_in(&folder, &[&fixed[..], &reports].concat());
    assert_eq!(ran.code, Some(1), "{}", ran.err);
    for kind in kinds {
        let written = std::fs::read_to_string(folder.path(&format!("out.{kind}"))).unwrap();
        let printed = run_in(&folder, &[&fixed[..], &["-o", kind]].concat());
        assert_eq!(printed.code, Some(1));
        let without_times = |text: &str| {
            let lines = text
                .lines()
                .map(|line| line.split(" time=").next().unwrap().to_owned());
            lines.collect::<Vec<String>>()
        };
        assert_eq!(
            without_times(&written),
            without_times(&printed.out),
            "{kind}"
        );
        let needle = match kind {
            "junit" => "tests=\"3000\" failures=\"300\"",
            "tap" => "1..3000\nnot ok 1 - Pod default/pod-00000",
            _ => "pod-02990",
        };
        assert!(written.contains(needle), "{kind}");
    }
}

#[test]
fn standard_input_may_be_longer_than_any_document() {
    let folder = Folder::new();
    folder.write("policies/tagged.js", TAGGED);
    let comment = format!("# {}\n", "x".repeat(1_000_000));
    let all: Vec<String> = (0..20).map(|n| comment.clone() + &manifest(n)).collect();
    let chain = ["-", "-o", "json", "--policies", "policies"];
    let (code, out) = eval_stdin(&folder, &chain, &all.join("---\n"));
    assert_eq!(code, Some(1), "{out}");
    let value: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(value["summary"]["allowed"], 18);
    assert_eq!(value["summary"]["denied"], 2);
    // One document may not be so long.
    folder.write("long.yaml", comment.repeat(20) + &manifest(1));
    let ran = run_in(&folder, &["eval", "long.yaml", "--policies", "policies"]);
    assert_eq!(ran.code, Some(3), "{}", ran.err);
    let why = "error: long.yaml: cannot read it: a document is larger than 16 MiB\n";
    assert!(ran.err.starts_with(why), "{}", ran.err);
}
