use serde_json::{Value, json};

use super::*;
use crate::{Event, Job, JobState, Runner, Timestamp, read_job};

fn payload(changes: &Value) -> Value {
    let mut body = json!({"project": "g/app", "name": "build", "ref": "main",
        "user": {"id": 1, "username": "ann"}, "tags": ["linux"], "script": ["make"]});
    body.as_object_mut()
        .unwrap()
        .extend(changes.as_object().unwrap().clone());
    let at = Timestamp::from_millis;
    let mut definition = read_job(&body).unwrap();
    definition.project_id = Some(17);
    let state = JobState::new().apply(&Event::Enqueue, at(1000)).unwrap();
    let take = Event::Take { runner: 3 };
    let job = Job {
        id: 7,
        pipeline: Some(4),
        created_at: at(0),
        definition,
        state: state.state.apply(&take, at(3500)).unwrap().state,
        admission: None,
    };
    let runner: Runner = serde_json::from_value(json!({"id": 3, "runner_type": "instance_type",
        "tag_list": ["linux"], "access_level": "not_protected"}))
    .unwrap();
    let by = TakenBy {
        runner: &runner,
        token: "glcbt-t",
        server_url: "https://ci.example",
        running_on_instance_runners: 2,
        now: at(3500),
    };
    serde_json::to_value(RunnerPayload::new(&job, by, Vec::new())).unwrap()
}

fn variable<'a>(payload: &'a Value, key: &str) -> Option<&'a Value> {
    let mut all = payload["variables"].as_array().unwrap().iter();
    all.find(|variable| variable["key"] == key)
}

#[test]
fn what_old_and_strict_runners_require_is_there() {
    let payload = payload(&json!({}));
    assert_eq!(payload.get("run"), None);
    assert_eq!(
        (&payload["id"], &payload["token"]),
        (&json!(7), &json!("glcbt-t"))
    );
    assert_eq!(payload["allow_git_fetch"], true);
    for key in [
        "dependencies",
        "artifacts",
        "cache",
        "services",
        "credentials",
    ] {
        assert_eq!(payload[key], json!([]), "{key}");
    }
    assert_eq!(payload.get("image"), None);
    let step = json!({"name": "script", "script": ["make"], "timeout": 3600,
        "when": "on_success", "allow_failure": false});
    assert_eq!(payload["steps"], json!([step]));
    assert_eq!(payload["runner_info"]["timeout"], 3600);
    assert_eq!(payload["job_info"]["project_id"], 17);
    assert_eq!(payload["job_info"]["time_in_queue_seconds"], 2.5);
    assert_eq!(
        payload["git_info"]["repo_url"],
        "https://ci.example/g/app.git"
    );
    for variable in payload["variables"].as_array().unwrap() {
        for flag in ["public", "masked", "file", "raw"] {
            assert!(variable[flag].is_boolean(), "{flag} of {variable}");
        }
        assert!(variable["value"].is_string(), "{variable}");
    }
    let reasons = payload["features"]["failure_reasons"].as_array().unwrap();
    assert!(reasons.contains(&json!("script_failure")));
    assert!(!reasons.contains(&json!("admission_denied")));
}

#[test]
fn everything_a_job_defines_reaches_its_runner() {
    let payload = payload(&json!({
        "before_script": "setup", "after_script": ["clean"], "image": "rust:1", "services": ["postgres:17"],
        "timeout": "90s", "dependencies": ["lint"],
        "artifacts": {"paths": ["out/"], "exclude": ["*.o"], "name": "app", "when": "always", "expire_in": "1 week"},
        "cache": {"key": "k", "paths": ["target/"], "policy": "pull"},
        "variables": {"CI_REPOSITORY_URL": "https://git.example/app.git", "CI_COMMIT_SHA": "abc", "CI_COMMIT_TAG": "v1",
            "GIT_STRATEGY": "none"},
    }));
    assert_eq!(payload["steps"][0]["script"], json!(["setup", "make"]));
    let after = json!({"name": "after_script", "script": ["clean"], "timeout": 90,
        "when": "always", "allow_failure": true});
    assert_eq!(payload["steps"][1], after);
    assert_eq!(payload["image"], json!({"name": "rust:1"}));
    assert_eq!(payload["services"], json!([{"name": "postgres:17"}]));
    let artifacts = json!([{"name": "app", "untracked": false, "paths": ["out/"], "exclude": ["*.o"],
        "when": "always", "artifact_type": "archive", "artifact_format": "zip", "expire_in": "1 week"}]);
    assert_eq!(payload["artifacts"], artifacts);
    let cache = json!([{"key": "k", "untracked": false, "policy": "pull", "paths": ["target/"],
        "when": "on_success"}]);
    assert_eq!(payload["cache"], cache);
    let git = &payload["git_info"];
    assert_eq!(git["repo_url"], "https://git.example/app.git");
    assert_eq!(
        (&git["sha"], &git["ref_type"]),
        (&json!("abc"), &json!("tag"))
    );
    assert_eq!(git["refspecs"], json!(["+refs/tags/main:refs/tags/main"]));
    assert_eq!(variable(&payload, "GIT_STRATEGY").unwrap()["value"], "none");
    assert_eq!(variable(&payload, "CI_COMMIT_BRANCH"), None);
}

#[test]
fn variables_keep_their_flags_and_can_not_replace_what_the_server_knows() {
    let variables = json!({"PLAIN": "a$B", "KEY": {"value": "s3cret", "masked": true},
        "FILE": {"value": "text", "file": true}, "PROTECTED": {"value": "p", "protected": true},
        "CI_JOB_ID": "999", "CI_JOB_TOKEN": "mine"});
    let open = payload(&json!({"variables": variables}));
    let flags = |name: &str| {
        let one = variable(&open, name).unwrap();
        ["public", "masked", "file", "raw"].map(|flag| one[flag].as_bool().unwrap())
    };
    assert_eq!(flags("PLAIN"), [true, false, false, false]);
    assert_eq!(flags("KEY"), [false, true, false, false]);
    assert_eq!(flags("FILE"), [true, false, true, false]);
    assert_eq!(flags("CI_JOB_TOKEN"), [false, true, false, true]);
    assert_eq!(variable(&open, "PROTECTED"), None);
    assert_eq!(variable(&open, "CI_JOB_ID").unwrap()["value"], "7");
    assert_eq!(variable(&open, "CI_JOB_TOKEN").unwrap()["value"], "glcbt-t");
    assert_eq!(variable(&open, "CI_PROJECT_ID").unwrap()["value"], "17");
    let keys = open["variables"].as_array().unwrap().iter();
    let mut keys: Vec<&str> = keys.map(|one| one["key"].as_str().unwrap()).collect();
    let count = keys.len();
    keys.sort_unstable();
    keys.dedup();
    assert_eq!(keys.len(), count, "a variable is given twice");
    let protected = payload(&json!({"variables": variables, "ref_protected": true}));
    assert_eq!(variable(&protected, "PROTECTED").unwrap()["public"], false);
}
