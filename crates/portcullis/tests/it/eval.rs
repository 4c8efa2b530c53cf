//! `portcullis eval`: manifests judged without a server.

mod about;
mod agreement;
mod asked_on;
pub(crate) mod documentation;
mod flags;
mod formats;
mod gitlab;
mod jobs;
mod manifests;
mod operations;
mod policies;
mod progress;
mod reports;
mod reviews;
mod selectors;
mod stream;
mod table;
mod watch;
pub(crate) mod xml;

use std::fs::File;
use std::io::Write;
use std::process::Stdio;

use serde_json::{Value, json};

use crate::harness::{Folder, container, pod, pod_with, privileged, program, run_in};

/// What `eval` answered.
#[derive(Debug)]
struct Evaluated {
    code: Option<i32>,
    value: Value,
    err: String,
}

impl Evaluated {
    fn results(&self) -> &[Value] {
        self.value["results"].as_array().unwrap()
    }

    /// The summary: allowed, denied, errors, skipped.
    fn summary(&self) -> [u64; 4] {
        let of = |key: &str| self.value["summary"][key].as_u64().unwrap();
        ["allowed", "denied", "errors", "skipped"].map(of)
    }
}

const BASELINE: &[&str] = &[
    "--admission-control",
    "PodSecurity",
    "--namespace",
    "prod",
    "--namespace-labels",
    "pod-security.kubernetes.io/enforce=baseline",
];

/// The same without the chain.
const LABELS: &[&str] = BASELINE.split_at(2).1;

/// Runs `eval -o json` in a folder.
#[track_caller]
fn eval(folder: &Folder, arguments: &[&str]) -> Evaluated {
    let all = [&["eval", "-o", "json"], arguments].concat();
    let ran = run_in(folder, &all);
    let value = serde_json::from_str(&ran.out)
        .unwrap_or_else(|e| panic!("{arguments:?}: {e}: {}{}", ran.out, ran.err));
    Evaluated {
        code: ran.code,
        value,
        err: ran.err,
    }
}

/// Runs `eval` with this on its standard input; exit code and standard output.
#[track_caller]
fn eval_stdin(folder: &Folder, arguments: &[&str], input: &str) -> (Option<i32>, String) {
    let err = File::create(folder.path("stderr-of-eval")).unwrap();
    let mut child = program(folder.root())
        .arg("eval")
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(err)
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(input.as_bytes()).unwrap();
    drop(stdin);
    let output = child.wait_with_output().unwrap();
    let out = String::from_utf8(output.stdout).unwrap();
    (output.status.code(), out)
}

/// A folder with a pod that is allowed, one that is denied, and an object that no plug-in judges.
fn folder() -> Folder {
    let folder = Folder::new();
    let of = |mut object: Value| {
        object["metadata"]
            .as_object_mut()
            .unwrap()
            .remove("namespace");
        object.to_string()
    };
    folder.write("fine.yaml", of(pod()));
    folder.write("wrong.yaml", of(privileged()));
    folder.write("settings.yaml", settings().to_string());
    folder
}

fn settings() -> Value {
    json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c"}, "data": {"a": "b"}})
}

/// A pod whose container limits an extended resource.
fn device() -> Value {
    let mut one = container("app");
    one["resources"] = json!({"limits": {"example.com/gpu": 1}});
    pod_with(&json!({"containers": [one], "volumes": [{"name": "scratch"}]}))
}
