//! Submissions, written before they are sent: jobs of 64 projects in 8 groups, by 32 users, on two kinds of refs.

use serde_json::{Value, json};

use super::case::Submission;
use crate::asker::request;

/// How many submissions differ.
const DIFFERENT: usize = 256;

/// How many sets of tags jobs need.
pub(super) const TAG_SETS: usize = 50;

/// What a policy of this benchmark does with every job: it looks at its tags and its ref, and adds a tag.
pub(super) const POLICY: &str = r#"if (object.tags.indexOf("linux") < 0) deny("only jobs for linux are run here");
object.tags.push(object.ref === "main" ? "protected" : "shared");
"#;

/// The tag that every controller of this benchmark adds to a job for this ref.
pub(super) fn added_tag(git_ref: &str) -> &'static str {
    match git_ref {
        "main" => "protected",
        _ => "shared",
    }
}

/// The requests of this kind, with this header.
pub(super) fn submissions(submission: Submission, header: &str) -> Vec<Vec<u8>> {
    (0..DIFFERENT)
        .map(|number| match submission {
            Submission::Single => {
                let body = single(number).to_string();
                request("POST", "/api/v1/jobs", header, &body)
            }
            Submission::Pipeline => {
                let body = pipeline(number, submission.jobs()).to_string();
                request("POST", "/api/v1/pipelines", header, &body)
            }
        })
        .collect()
}

/// Large pipelines, with this header: what a backlog is filled with, so many jobs in each.
pub(super) fn large_pipelines(jobs: usize, header: &str) -> Vec<Vec<u8>> {
    (0..DIFFERENT)
        .map(|number| {
            let body = pipeline(number, jobs).to_string();
            request("POST", "/api/v1/pipelines", header, &body)
        })
        .collect()
}

/// A pipeline of so many jobs in one stage.
fn pipeline(number: usize, jobs: usize) -> Value {
    let mut pipeline = origin(number);
    let jobs: Vec<Value> = (0..jobs).map(|place| job(number, place)).collect();
    if let Some(map) = pipeline.as_object_mut() {
        map.insert("stages".to_owned(), json!(["test"]));
        map.insert("jobs".to_owned(), jobs.into());
    }
    pipeline
}

fn single(number: usize) -> Value {
    let mut all = origin(number);
    if let (Some(all), Value::Object(job)) = (all.as_object_mut(), job(number, 0)) {
        all.extend(job);
    }
    all
}

/// The project of a submission.
pub(super) fn project(number: usize) -> String {
    format!("group{}/project{}", number % 8, number % 64)
}

fn origin(number: usize) -> Value {
    let is_main = number.is_multiple_of(4);
    let git_ref = match is_main {
        true => "main".to_owned(),
        false => format!("feature-{number}"),
    };
    let user = number % 32 + 1;
    json!({
        "project": project(number),
        "ref": git_ref,
        "ref_protected": is_main,
        "source": "push",
        "user": {"id": user, "username": format!("user{user}")},
    })
}

/// The tag that makes one of the sets of tags that jobs need.
pub(super) fn tag_set(number: usize) -> String {
    format!("pool{}", number % TAG_SETS)
}

fn job(number: usize, place: usize) -> Value {
    json!({
        "name": format!("test-{place}"),
        "stage": "test",
        "tags": ["linux", tag_set(number + place)],
        "variables": {"SUITE": format!("suite-{place}"), "RUST_BACKTRACE": "1"},
        "image": "registry.example/ci/rust:1.90",
        "script": ["cargo build --locked", "cargo test --locked --workspace"],
        "timeout": "1h",
    })
}

/// The ids of jobs in the answer to a submission.
pub(super) fn ids(submission: Submission, body: &[u8]) -> Vec<u64> {
    match submission {
        Submission::Single => first_id(body).into_iter().collect(),
        Submission::Pipeline => {
            let mut found = Vec::with_capacity(submission.jobs());
            let jobs = crate::http1::find(body, b"\"jobs\":");
            let mut rest = jobs.and_then(|at| body.get(at..)).unwrap_or_default();
            while let Some(at) = crate::http1::find(rest, b"\"id\":") {
                rest = rest.get(at..).unwrap_or_default();
                found.extend(first_id(rest));
                rest = rest.get(b"\"id\":".len()..).unwrap_or_default();
            }
            found
        }
    }
}

/// The first `"id": N`.
pub(super) fn first_id(body: &[u8]) -> Option<u64> {
    let at = crate::http1::find(body, b"\"id\":")? + b"\"id\":".len();
    let digits = body.get(at..)?.trim_ascii_start();
    let end = digits.iter().position(|byte| !byte.is_ascii_digit())?;
    std::str::from_utf8(digits.get(..end)?).ok()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_of_jobs_are_found_and_others_are_not() {
        let job = br#"{"id": 17, "project": "a/b", "runner_id": 4, "pipeline": {"id": 3}}"#;
        assert_eq!(ids(Submission::Single, job), [17]);
        let pipeline =
            br#"{"id":3,"status":"running","jobs":[{"id":8,"name":"a"},{"id":9,"name":"b"}]}"#;
        assert_eq!(ids(Submission::Pipeline, pipeline), [8, 9]);
        assert_eq!(ids(Submission::Pipeline, br#"{"id":3}"#), [0_u64; 0]);
        assert_eq!(ids(Submission::Single, br#"{"id":"#), [0_u64; 0]);
    }

    #[test]
    fn submissions_differ_and_are_spread_over_projects() {
        let all = submissions(Submission::Single, "");
        let different: std::collections::BTreeSet<_> = all.iter().collect();
        assert!(different.len() > 100, "{}", different.len());
        let projects: std::collections::BTreeSet<_> = (0..DIFFERENT).map(project).collect();
        assert_eq!(projects.len(), 64);
        let pipeline = pipeline(4, 20);
        assert_eq!(pipeline["jobs"].as_array().map(Vec::len), Some(20));
        assert_eq!(pipeline["ref_protected"], true);
    }
}
