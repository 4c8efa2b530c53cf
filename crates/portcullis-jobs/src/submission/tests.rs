use std::fmt::Write as _;

use portcullis_document::{Fault, Source};
use serde_json::{Value, json};

use super::*;
use crate::job::JobUser;
use crate::variables::Variable;

fn job() -> Value {
    json!({"project": "g/p", "name": "build", "ref": "main", "user": {"id": 5, "username": "ann"}})
}

fn pipeline() -> Value {
    json!({"project": "g/p", "ref": "main", "user": {"id": 5, "username": "ann"},
        "jobs": [{"name": "build"}]})
}

fn lines(faults: &[Fault]) -> Vec<String> {
    faults.iter().map(Fault::to_string).collect()
}

#[test]
fn a_job_needs_little() {
    let read = read_job(&job()).unwrap();
    assert_eq!((read.stage.as_str(), read.source.as_str()), ("test", "api"));
    assert!(!read.ref_protected && read.tags.is_empty() && read.timeout.is_none());
    let stored = serde_json::to_string(&read).unwrap();
    let again: crate::JobDefinition = serde_json::from_str(&stored).unwrap();
    assert_eq!(again, read);
}

#[test]
fn a_job_has_everything_that_is_submitted() {
    let mut body = job();
    for (key, value) in [
        ("stage", json!("lint")),
        ("ref_protected", json!(true)),
        ("source", json!("merge_request_event")),
        ("tags", json!(["linux", "docker", "linux"])),
        (
            "variables",
            json!({"A": "1", "B": {"value": "s", "masked": true}}),
        ),
        ("script", json!(["make", "make test"])),
        ("image", json!("rust:1")),
        ("allow_failure", json!({"on_denied_admission": true})),
        ("timeout", json!(90)),
    ] {
        body[key] = value;
    }
    let read = read_job(&body).unwrap();
    assert_eq!(read.tags, ["linux", "docker"]);
    assert_eq!(read.variables["A"], Variable::plain("1"));
    assert!(read.variables["B"].masked && read.allow_failure.on_denied_admission);
    assert_eq!(read.timeout.unwrap().to_string(), "90s");
    assert_eq!(read.script.len(), 2);
}

#[test]
fn everything_that_is_wrong_with_a_job_is_reported() {
    let mut body = job();
    for (key, value) in [
        ("project", json!("g//p")),
        ("name", json!("")),
        ("ref", json!("a b")),
        ("source", json!("a b")),
        ("tags", json!(["ok", "", "x".repeat(256)])),
        ("variables", json!({"1A": "x", "B": "a\u{0}"})),
        ("script", json!(["ok", "a\u{0}"])),
        ("timeout", json!("0s")),
    ] {
        body[key] = value;
    }
    assert_eq!(
        lines(&read_job(&body).unwrap_err()),
        [
            "project: expected names separated by single slashes",
            "name: it can't be empty",
            "ref: a ref can't contain spaces",
            "source: expected a word like `push`, of letters, digits, `_` and `-`",
            "tags[1]: a tag can't be empty",
            "tags[2]: a tag has at most 255 bytes",
            "variables.1A: a name has letters, digits and `_`, and doesn't begin with a digit",
            "variables.B: a value can't contain a NUL character",
            "script[1]: a command can't contain a NUL character",
            "timeout: expected more than 0s and at most 30d",
        ]
    );
}

#[test]
fn wrong_forms_and_unknown_keys_are_reported_with_their_paths() {
    let mut body = pipeline();
    body["stagse"] = json!([]);
    body["jobs"] = json!([
        {"name": "a", "tags": ["x", 1]},
        {"name": "b", "allow_failure": {"exit_code": 1}},
        {"name": "c", "variables": {"A": {"value": "x", "mask": true}}},
        {"stage": "test"},
    ]);
    let faults = lines(&read_pipeline(&body).unwrap_err());
    for wanted in [
        "stagse: unknown key, did you mean `stages`?",
        "jobs[0].tags[1]: expected text",
        "jobs[1].allow_failure",
        "jobs[2].variables.A",
        "jobs[3]: the key `name` is missing",
    ] {
        assert!(
            faults.iter().any(|f| f.starts_with(wanted)),
            "{wanted}: {faults:#?}"
        );
    }
    assert!(read_job(&json!([])).is_err());
    assert!(read_pipeline(&Value::Null).is_err());
}

#[test]
fn the_variables_of_a_job_win_over_those_of_its_pipeline() {
    let mut body = pipeline();
    body["variables"] = json!({"A": "pipeline", "B": "pipeline"});
    body["jobs"][0]["variables"] = json!({"B": "job", "C": "job"});
    let read = read_pipeline(&body).unwrap();
    let of_job: Vec<&str> = read.jobs[0]
        .variables
        .values()
        .map(|v| v.value.as_str())
        .collect();
    assert_eq!(of_job, ["pipeline", "job", "job"]);
    assert_eq!(read.origin.name, "default");
    assert_eq!(read.stages, [".pre", "build", "test", "deploy", ".post"]);
    let stored = serde_json::to_string(&read).unwrap();
    let again: PipelineDefinition = serde_json::from_str(&stored).unwrap();
    assert_eq!(again, read);
}

#[test]
fn everything_that_is_wrong_with_a_pipeline_is_reported() {
    let mut body = pipeline();
    body["stages"] = json!(["build", "build", ""]);
    body["change"] = json!("\n");
    body["jobs"] = json!([
        {"name": "a", "stage": "build"},
        {"name": "a", "stage": "lint", "tags": ["a\u{7}"]},
        {"name": "b"},
    ]);
    assert_eq!(
        lines(&read_pipeline(&body).unwrap_err()),
        [
            "change: it can't be empty",
            "stages[1]: stage `build` is given twice",
            "stages[2]: it can't be empty",
            "jobs[1].name: job `a` is given twice",
            "jobs[1].stage: unknown stage `lint`: expected one of .pre, build, build, , .post",
            "jobs[1].tags[0]: a tag can't contain control characters",
            "jobs[2].stage: unknown stage `test`: expected one of .pre, build, build, , .post",
        ]
    );
    body = pipeline();
    body["jobs"] = json!([]);
    let faults = read_pipeline(&body).unwrap_err();
    assert_eq!(lines(&faults), ["jobs: a pipeline has at least one job"]);
    let many: Vec<Value> = (0..501).map(|i| json!({"name": format!("j{i}")})).collect();
    body["jobs"] = many.into();
    let faults = read_pipeline(&body).unwrap_err();
    assert_eq!(
        lines(&faults),
        ["jobs: expected at most 500 jobs, found 501"]
    );
}

fn origin() -> PipelineOrigin {
    PipelineOrigin {
        project: "g/p".to_owned(),
        name: "check".to_owned(),
        git_ref: "main".to_owned(),
        ref_protected: false,
        change: None,
        source: "push".to_owned(),
        user: JobUser {
            id: 5,
            username: "ann".to_owned(),
        },
    }
}

fn file(text: &str) -> Result<PipelineDefinition, String> {
    let source = Source::text_named("ci.yml", text);
    read_ci_file(&source, origin()).map_err(|faults| {
        faults.iter().fold(String::new(), |mut all, fault| {
            writeln!(all, "{fault}").unwrap();
            all
        })
    })
}

#[test]
fn a_ci_file_is_a_pipeline() {
    let read = file(
        "stages: [build, deploy]
variables: {REGION: eu, COUNT: 3}
default: {tags: [linux], image: 'rust:1'}
.hidden: {anything: goes}
compile:
  stage: build
  script: make
ship it:
  stage: deploy
  tags: [secure]
  script: [make ship, make clean]
  variables: {REGION: us}
  allow_failure: {on_denied_admission: true}
  timeout: 10m
",
    )
    .unwrap();
    let names: Vec<&str> = read.jobs.iter().map(|job| job.name.as_str()).collect();
    assert_eq!(names, ["compile", "ship it"]);
    let [compile, ship] = &read.jobs[..] else {
        panic!("{read:?}");
    };
    assert_eq!(
        (compile.tags.clone(), compile.script.clone()),
        (vec!["linux".to_owned()], vec!["make".to_owned()])
    );
    assert_eq!(compile.image.as_deref(), Some("rust:1"));
    assert_eq!(compile.variables["COUNT"], Variable::plain("3"));
    assert_eq!(ship.variables["REGION"], Variable::plain("us"));
    assert_eq!(ship.tags, ["secure"]);
    assert!(ship.allow_failure.on_denied_admission);
    assert_eq!(read.origin, origin());
}

#[test]
fn what_is_wrong_with_a_ci_file_has_a_line_and_a_column() {
    let faults = file(
        "stages: [build]
include: other.yml
compile:
  stage: bild
  script: make
ship it:
  scirpt: make
  stage: build
",
    )
    .unwrap_err();
    assert_eq!(
        faults.lines().collect::<Vec<_>>(),
        [
            "ci.yml:2:10: include: this key isn't supported",
            "ci.yml:4:10: compile.stage: unknown stage `bild`: expected one of .pre, build, .post",
            "ci.yml:7:3: [\"ship it\"].scirpt: unknown key, did you mean `script`? (known keys: \
             after_script, allow_failure, artifacts, before_script, cache, dependencies, image, script, services, \
             stage, tags, timeout, variables)",
        ]
    );
    let none = file("stages: [build]\n").unwrap_err();
    assert!(none.contains("a pipeline has at least one job"), "{none}");
    assert!(
        file("- a")
            .unwrap_err()
            .contains("expected a map at the top of the file")
    );
    let bad = file("a: {script: [1]}\n").unwrap_err();
    assert!(
        bad.starts_with("ci.yml:1:14: a.script[0]: expected text"),
        "{bad}"
    );
}

#[test]
fn what_only_runners_need_is_read_and_checked() {
    let mut body = job();
    body["before_script"] = json!("setup");
    body["after_script"] = json!(["clean"]);
    body["artifacts"] = json!({"paths": ["out/"], "expire_in": "1 week"});
    let read = read_job(&body).unwrap();
    assert_eq!(read.work.before_script, ["setup"]);
    assert_eq!(read.work.artifacts.unwrap().paths, ["out/"]);
    body["artifacts"] = json!({"paths": ["", "a\u{0}"], "expire_in": "soon"});
    body["services"] = json!([""]);
    assert_eq!(
        lines(&read_job(&body).unwrap_err()),
        [
            "services[0]: it can't be empty",
            "artifacts.paths[0]: a path has 1 to 4096 bytes",
            "artifacts.paths[1]: a path can't contain a NUL character",
            "artifacts.expire_in: expected a time like `1 week`, or `never`",
        ]
    );
    let defined = file(
        "default: {before_script: [a], artifacts: {paths: [x]}}
one: {script: make}
two: {script: make, before_script: [], cache: {key: k, paths: [c]}, dependencies: [one]}
",
    )
    .unwrap();
    let [one, two] = &defined.jobs[..] else {
        panic!("{:?}", defined.jobs);
    };
    assert_eq!(one.work.before_script, ["a"]);
    assert!(two.work.before_script.is_empty() && two.work.artifacts.is_some());
    assert_eq!(
        two.work.dependencies.as_deref(),
        Some(&["one".to_owned()][..])
    );
}

#[test]
fn jobs_before_the_first_artifacts_look_for_none() {
    let mut body = pipeline();
    body["stages"] = json!(["build", "test"]);
    body["jobs"] = json!([
        {"name": "lint", "stage": "build"},
        {"name": "pack", "stage": "build", "artifacts": {"paths": ["out"]}},
        {"name": "unit", "stage": "test"},
        {"name": "smoke", "stage": "test", "dependencies": ["pack"]},
    ]);
    let dependencies = |body: &Value| {
        let read = read_pipeline(body).unwrap();
        let jobs = read.jobs_with_dependencies();
        jobs.map(|job| job.work.dependencies).collect::<Vec<_>>()
    };
    let none = Some(Vec::new());
    let named = Some(vec!["pack".to_owned()]);
    let wanted = [none.clone(), none.clone(), None, named.clone()];
    assert_eq!(dependencies(&body), wanted);
    body["jobs"][1]["artifacts"] = json!(null);
    let wanted = [none.clone(), none.clone(), none, named];
    assert_eq!(dependencies(&body), wanted);
}
