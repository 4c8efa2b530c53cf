use serde_json::{Value, json};

use super::*;
use crate::job::{JobDefinition, JobUser, JobView};
use crate::runners::{RunnerFilter, RunnerLists};
use crate::timestamp::Timestamp;
use crate::variables::{Variable, Variables};
use crate::{AllowFailure, Verdict};

fn strings(text: &str) -> Vec<String> {
    text.split_whitespace().map(str::to_owned).collect()
}

fn definition() -> JobDefinition {
    let plain = Variable::plain;
    let variables = [
        ("REGION", plain("eu")),
        (
            "DEPLOY_KEY",
            Variable {
                masked: true,
                ..plain("s3cret")
            },
        ),
        (
            "DEPLOY_FILE",
            Variable {
                file: true,
                ..plain("content")
            },
        ),
        (
            "DEPLOY_PROTECTED",
            Variable {
                protected: true,
                ..plain("p")
            },
        ),
        ("DEPLOY_ID", plain("5")),
        ("CI_PROJECT_ID", plain("123")),
        ("CI_JOB_ID", plain("999")),
        (
            "CI_TOKEN",
            Variable {
                masked: true,
                ..plain("s3cret")
            },
        ),
    ];
    let variables = variables.map(|(name, variable)| (name.to_owned(), variable));
    JobDefinition {
        project: "lab/tools/something".to_owned(),
        project_id: None,
        name: "build".to_owned(),
        stage: "test".to_owned(),
        git_ref: "feature/Über".to_owned(),
        ref_protected: true,
        source: "push".to_owned(),
        user: JobUser {
            id: 98123,
            username: "ann".to_owned(),
        },
        tags: strings("docker windows"),
        variables: Variables::from(variables),
        script: strings("true"),
        image: Some("rust:1".to_owned()),
        allow_failure: AllowFailure::default(),
        timeout: None,
        work: crate::JobWork::default(),
    }
}

fn with_view<T>(check: impl FnOnce(&JobView<'_>) -> T) -> T {
    let (definition, tags) = (definition(), strings("docker windows zone_a"));
    let filter = RunnerFilter::default();
    check(&JobView {
        id: 123,
        pipeline: Some(40),
        attempt: 2,
        definition: &definition,
        tags: &tags,
        filter: &filter,
    })
}

fn predefined() -> Value {
    json!({
        "CI": "true",
        "CI_COMMIT_REF_NAME": "feature/Über",
        "CI_COMMIT_REF_PROTECTED": "true",
        "CI_COMMIT_REF_SLUG": "feature--ber",
        "CI_JOB_ID": 123,
        "CI_JOB_IMAGE": "rust:1",
        "CI_JOB_NAME": "build",
        "CI_JOB_STAGE": "test",
        "CI_PIPELINE_ID": 40,
        "CI_PIPELINE_SOURCE": "push",
        "CI_PROJECT_ID": 123,
        "CI_PROJECT_NAME": "something",
        "CI_PROJECT_NAMESPACE": "lab/tools",
        "CI_PROJECT_PATH": "lab/tools/something",
        "CI_PROJECT_ROOT_NAMESPACE": "lab",
        "GITLAB_USER_ID": 98123,
        "GITLAB_USER_LOGIN": "ann",
    })
}

#[test]
fn the_entry_of_a_webhook_is_this_json() {
    let deadline = Timestamp::from_millis(1_790_856_000_000);
    let url = "https://p.example/api/v1/admission/callback/t".to_owned();
    let entry = with_view(|job| PayloadEntry::new(job, &strings("REGION"), url, deadline));
    let mut variables = predefined();
    variables["REGION"] = "eu".into();
    let body: Value = serde_json::from_str(&entry.body()).unwrap();
    assert_eq!(
        body,
        json!([{
            "version": 1,
            "id": 123,
            "attempt": 2,
            "variables": variables,
            "tags": ["docker", "windows", "zone_a"],
            "original_tags": ["docker", "windows"],
            "project": "lab/tools/something",
            "ref": "feature/Über",
            "ref_protected": true,
            "source": "push",
            "user": {"id": 98123, "username": "ann"},
            "callback_url": "https://p.example/api/v1/admission/callback/t",
            "deadline": "2026-10-01T12:00:00.000Z",
        }])
    );
}

#[test]
fn a_controller_never_sees_masked_file_or_protected_variables() {
    let seen = with_view(|job| visible_variables(job, &strings("*")));
    for name in ["DEPLOY_KEY", "DEPLOY_FILE", "DEPLOY_PROTECTED", "CI_TOKEN"] {
        assert!(!seen.contains_key(name), "{name}");
    }
    assert_eq!(
        seen.get("DEPLOY_ID"),
        Some(&json!("5")),
        "not a predefined id"
    );
    assert_eq!(
        seen.get("CI_JOB_ID"),
        Some(&json!(123)),
        "can't be replaced"
    );
    let seen = with_view(|job| visible_variables(job, &[]));
    assert_eq!(serde_json::to_value(seen).unwrap(), predefined());
}

#[test]
fn the_object_of_a_policy_is_this_json() {
    let mut variables = predefined();
    for (name, value) in [
        ("REGION", "eu"),
        ("DEPLOY_FILE", "content"),
        ("DEPLOY_PROTECTED", "p"),
        ("DEPLOY_ID", "5"),
    ] {
        variables[name] = value.into();
    }
    assert_eq!(
        with_view(policy_object),
        json!({
            "apiVersion": "ci.portcullis.dev/v1",
            "kind": "Job",
            "metadata": {"name": "build", "namespace": "lab/tools/something"},
            "id": 123,
            "attempt": 2,
            "variables": variables,
            "tags": ["docker", "windows", "zone_a"],
            "original_tags": ["docker", "windows"],
            "project": "lab/tools/something",
            "ref": "feature/Über",
            "ref_protected": true,
            "source": "push",
            "user": {"id": 98123, "username": "ann"},
            "runners": {"accepted_ids": [], "rejected_ids": []},
        })
    );
}

#[test]
fn changes_of_tags_and_runners_are_the_mutation_of_a_policy() {
    let read = |tags: Value, runners: Value| {
        with_view(|job| {
            let mut object = policy_object(job);
            object["tags"] = tags;
            object["runners"] = runners;
            object["project"] = "ignored".into();
            mutation_of_object(job, &object)
        })
    };
    let same = json!(["docker", "windows", "zone_a"]);
    assert_eq!(read(same.clone(), json!({})), Ok(Verdict::accepted(123)));
    let verdict = read(
        json!(["zone_a", "docker", "x"]),
        json!({"rejected_ids": [4, "5"]}),
    );
    let verdict = verdict.unwrap();
    assert_eq!(verdict.tags.add, ["x"]);
    assert_eq!(verdict.tags.remove, ["windows"]);
    let lists = RunnerLists {
        accepted_ids: vec![],
        rejected_ids: vec![4, 5],
    };
    assert_eq!(verdict.runners, Some(lists));
    for (tags, runners) in [
        (json!("x"), json!({})),
        (json!([1]), json!({})),
        (same.clone(), json!([])),
        (same.clone(), json!({"accepted_ids": 5})),
        (same, json!({"accepted_ids": ["R1"]})),
    ] {
        assert!(read(tags, runners).is_err());
    }
    assert!(with_view(|job| mutation_of_object(job, &json!(1))).is_err());
}
