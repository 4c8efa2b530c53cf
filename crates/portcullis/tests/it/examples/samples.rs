//! Sample reviews of examples: `reviews/NAME.json` is sent, `reviews/NAME.expected.json` compared.

use std::path::Path;

use serde_json::Value;

use super::{all, copied, is_acjs};
use crate::harness::{
    AcjsSetup, Answer, Connection, Controller, Folder, Gate, Pki, Verdict, eventually, free_port,
    no, program, request, run_in, yes,
};

/// A review, how it is sent, and what is expected.
struct Sample {
    place: String,
    review: Value,
    path: Option<String>,
    headers: Vec<(String, String)>,
    expected: Value,
}

fn read(file: &Path) -> Value {
    let text = std::fs::read(file).unwrap_or_else(|e| panic!("{}: {e}", file.display()));
    serde_json::from_slice(&text).unwrap_or_else(|e| panic!("{}: {e}", file.display()))
}

fn samples(example: &Path) -> Vec<Sample> {
    let Ok(entries) = std::fs::read_dir(example.join("reviews")) else {
        return Vec::new();
    };
    let names = entries.map(|e| e.unwrap().path());
    let mut files: Vec<_> = names
        .filter(|f| !f.to_str().unwrap().ends_with(".expected.json"))
        .collect();
    files.sort();
    let sample = |file: &std::path::PathBuf| {
        let expected = read(&file.with_extension("expected.json"));
        let headers = expected["request"]["headers"].as_object().cloned();
        let headers = headers.unwrap_or_default().into_iter();
        Sample {
            place: file.display().to_string(),
            review: read(file),
            path: expected["request"]["path"].as_str().map(str::to_owned),
            headers: headers
                .map(|(name, value)| (name, value.as_str().unwrap().to_owned()))
                .collect(),
            expected: expected["response"].clone(),
        }
    };
    files.iter().map(sample).collect()
}

impl Sample {
    fn send(&self, mut connection: Connection, usual: &str) -> Answer {
        let headers: Vec<(&str, &str)> = self
            .headers
            .iter()
            .map(|(name, value)| (name.as_str(), value.as_str()))
            .collect();
        let path = self.path.as_deref().unwrap_or(usual);
        let body = self.review.to_string();
        let bytes = request("POST", path, &headers, body.as_bytes());
        connection.send(&bytes).unwrap();
        connection.receive().expect("the connection was dropped")
    }

    /// What `eval` says of it, sent as the server got it.
    fn compare_eval(&self, folder: &Folder, usual: &str) {
        let name = self.place.rsplit('/').next().unwrap();
        let file = format!("reviews/{name}");
        let path = self.path.as_deref().unwrap_or(usual);
        let headers: Vec<String> = self
            .headers
            .iter()
            .flat_map(|(name, value)| ["--header".to_owned(), format!("{name}: {value}")])
            .collect();
        let mut words = vec!["eval", &file, "-o", "json", "--path", path];
        words.extend(headers.iter().map(String::as_str));
        let ran = run_in(folder, &words);
        let says = format!("{}: {}{}", self.place, ran.out, ran.err);
        let value: Value = serde_json::from_str(&ran.out).unwrap_or_else(|_| panic!("{says}"));
        let (result, expected) = (&value["results"][0], &self.expected);
        let request = &self.review["request"];
        assert_eq!(result["kind"], request["kind"]["kind"], "{says}");
        assert_eq!(result["allowed"], expected["allowed"], "{says}");
        let message = result["message"].as_str().unwrap();
        if let Some(wanted) = expected["message"].as_str() {
            assert_eq!(message, wanted, "{says}");
        }
        if let Some(start) = expected["starts"].as_str() {
            assert!(message.starts_with(start), "{says}");
        }
        if expected["warnings"].is_array() {
            assert_eq!(result["warnings"], expected["warnings"], "{says}");
        }
        let before = &request["object"];
        let wanted = expected.get("object").unwrap_or(before);
        assert_eq!(&result["object"], wanted, "{says}");
    }

    fn compare(&self, answer: &Answer) {
        let place = &self.place;
        assert_eq!(answer.status, 200, "{place}: {}", answer.text());
        let verdict = Verdict(answer.json()["response"].clone());
        let says = format!("{place}: {}", verdict.0);
        let (expected, status) = (&self.expected, &verdict.0["status"]);
        assert_eq!(verdict.0["allowed"], expected["allowed"], "{says}");
        if let Some(message) = expected["message"].as_str() {
            assert_eq!(verdict.message(), message, "{says}");
        }
        if let Some(start) = expected["starts"].as_str() {
            assert!(verdict.message().starts_with(start), "{says}");
        }
        if expected["reason"].is_string() {
            assert_eq!(status["reason"], expected["reason"], "{says}");
        }
        if let Some(warnings) = expected["warnings"].as_array() {
            assert_eq!(verdict.warnings(), *warnings, "{says}");
        }
        let before = &self.review["request"]["object"];
        let after = verdict.patched(before);
        let wanted = expected.get("object").unwrap_or(before);
        assert_eq!(&after, wanted, "{says}");
    }
}

/// A controller to forward to, in place of the one that an example names.
fn redirected(folder: &Folder) -> Option<Controller> {
    const NAMED: &str = "https://my-awesome-ac.com/";
    let text = std::fs::read_to_string(folder.path("portcullis.yaml")).unwrap();
    let (before, rest) = text.split_once(NAMED)?;
    let pki = Pki::new();
    let other = Controller::https(&pki, |review| match review["request"]["name"].as_str() {
        Some("apple-pod") => no(review, "no apples here"),
        _ => yes(review),
    });
    let (base, _) = other.url.rsplit_once('/').unwrap();
    folder.write("ca.crt", &pki.authority.certificate_pem);
    let text = format!("hostCalls: {{forwardCA: ca.crt}}\n{before}{base}/{rest}");
    folder.write("portcullis.yaml", text);
    Some(other)
}

/// What was recorded is decided again by the same set: every verdict and every patch is the same.
#[track_caller]
fn decided_again(folder: &Folder, count: usize) {
    const REPLAY: &str = "replay --config portcullis.yaml --data-dir data -o json";
    let words: Vec<&str> = REPLAY.split_whitespace().collect();
    let report = eventually("all decisions in the store", || {
        let ran = run_in(folder, &words);
        let report: Value = serde_json::from_str(&ran.out).ok()?;
        assert_eq!(ran.code, Some(0), "{report:#}\n{}", ran.err);
        (report["summary"]["decisions"] == count).then_some(report)
    });
    assert_eq!(report["summary"]["same"], count, "{report:#}");
}

#[test]
fn samples_of_acjs_files_are_answered_as_expected() {
    let examples: Vec<_> = all().into_iter().filter(|e| is_acjs(e)).collect();
    assert!(examples.len() >= 8, "{examples:?}");
    for example in examples {
        let folder = Folder::new();
        copied(&example, &folder, "");
        let ran = run_in(&folder, &["check", "-config-file", "portcullis.yaml"]);
        assert_eq!(ran.code, Some(0), "{}: {}", example.display(), ran.err);
        assert!(!ran.err.contains("warning"), "{}", ran.err);
        let other = redirected(&folder);
        let server = AcjsSetup::of(folder, "portcullis.yaml").start();
        let samples = samples(&example);
        assert!(!samples.is_empty(), "{} has none", example.display());
        for sample in &samples {
            sample.compare(&sample.send(server.connect(), "/"));
            sample.compare_eval(&server.folder, "/");
        }
        drop(other);
        decided_again(&server.folder, samples.len());
    }
}

#[test]
fn samples_of_other_examples_are_answered_as_expected() {
    for example in all().into_iter().filter(|e| !is_acjs(e)) {
        let samples = samples(&example);
        if samples.is_empty() {
            continue;
        }
        let folder = Folder::new();
        copied(&example, &folder, "");
        let file = folder.path("portcullis.yaml");
        let text = std::fs::read_to_string(&file).unwrap();
        let (text, _) = super::moved(&text);
        let port = free_port();
        let own = format!(
            "listeners:\n- {{name: all, tcp: \"127.0.0.1:{port}\", serves: [kubernetes, health]}}\n"
        );
        folder.write("portcullis.yaml", text.replacen("listeners:\n", &own, 1));
        let mut command = program(folder.root());
        command.args(["serve", "--config", "portcullis.yaml", "--data-dir", "data"]);
        let gate = Gate::spawn(folder, port, command);
        for sample in &samples {
            let connection = Connection::tcp(gate.port).unwrap();
            sample.compare(&sample.send(connection, "/mutate"));
            sample.compare_eval(&gate.folder, "/mutate");
        }
        decided_again(&gate.folder, samples.len());
    }
}
