//! CI jobs: as objects, and as the bodies of the calls that submit them.

use serde_json::{Value, json};

use super::eval;
use crate::api::{Api, admin, setup};
use crate::harness::{Folder, run_in};

/// Says who asks for what, and changes the tags.
const ROUTES: &str = "export const policy = {match: {doors: ['ci']}}\n\
    export default function () {\n\
      if (object.ref === 'main' && !object.ref_protected) deny('main is protected');\n\
      warn([req.userInfo.username, req.namespace, object.project, object.variables.CI_JOB_NAME].join(' '));\n\
      object.tags.push('eu');\n\
    }";

fn folder() -> Folder {
    let folder = Folder::new();
    folder.write("policies/routes.js", ROUTES);
    folder.write("policies/never.js", "deny('for Kubernetes only')");
    folder
}

fn body() -> Value {
    json!({
        "project": "shop/web", "name": "build", "ref": "dev", "tags": ["linux"],
        "user": {"id": 7, "username": "ann"}, "script": ["make"],
    })
}

#[test]
fn the_body_that_submits_a_job_is_judged_as_the_job() {
    let folder = folder();
    folder.write("job.json", body().to_string());
    let done = eval(&folder, &["job.json", "--policies", "policies"]);
    assert_eq!(done.code, Some(0), "{}{}", done.value, done.err);
    let result = &done.results()[0];
    assert_eq!(
        (&result["kind"], &result["namespace"], &result["name"]),
        (&json!("Job"), &json!("shop/web"), &json!("build"))
    );
    assert_eq!(
        result["warnings"],
        json!(["routes: ann shop/web shop/web build"])
    );
    assert_eq!(
        result["patch"],
        json!([{"op": "add", "path": "/tags/1", "value": "eu"}])
    );
    // Its object, written down, is judged the same.
    let mut object = result["object"].clone();
    object["tags"] = json!(["linux"]);
    folder.write("object.json", object.to_string());
    let again = eval(&folder, &["object.json", "--policies", "policies"]);
    for key in [
        "warnings",
        "patch",
        "object",
        "policies",
        "name",
        "namespace",
    ] {
        assert_eq!(again.results()[0][key], result[key], "{key}");
    }
    let table = run_in(&folder, &["eval", "job.json", "--policies", "policies"]).out;
    assert!(
        table.starts_with("Job shop/web/build   CREATE by ann   job.json:1\n"),
        "{table}"
    );
    // The command line says otherwise.
    let other = run_in(
        &folder,
        &["eval", "job.json", "--policies", "policies", "--as", "zoe"],
    )
    .out;
    assert!(
        other.contains("CREATE by zoe") && other.contains("zoe shop/web"),
        "{other}"
    );
}

#[test]
fn all_jobs_of_a_pipeline_are_judged() {
    let folder = folder();
    let pipeline = "project: shop/web\nref: main\nuser: {id: 7, username: ann}\nstages: [build, test]\njobs:\n\
        - {name: compile, stage: build, tags: [linux], script: make}\n\
        - name: unit\n  stage: test\n  tags: [linux]\n  script: [make test]\n";
    folder.write("pipeline.yaml", pipeline);
    let done = eval(&folder, &["pipeline.yaml", "--policies", "policies"]);
    assert_eq!(
        (done.code, done.summary()),
        (Some(1), [0, 2, 0, 0]),
        "{}",
        done.value
    );
    let named = done.results().iter().map(|r| (&r["name"], &r["message"]));
    let why = json!("routes: main is protected");
    assert_eq!(
        named.collect::<Vec<_>>(),
        [(&json!("compile"), &why), (&json!("unit"), &why)]
    );
    let protected = pipeline.replace("ref: main", "ref: main\nref_protected: true");
    folder.write("pipeline.yaml", protected);
    let table = run_in(
        &folder,
        &["eval", "pipeline.yaml", "--policies", "policies"],
    );
    assert_eq!(table.code, Some(0), "{}", table.err);
    assert!(
        table
            .out
            .contains("Job shop/web/compile   CREATE by ann   pipeline.yaml:7\n"),
        "{}",
        table.out
    );
    assert!(
        table
            .out
            .contains("Job shop/web/unit   CREATE by ann   pipeline.yaml:8\n"),
        "{}",
        table.out
    );
}

#[test]
fn what_can_not_be_judged_says_why() {
    let folder = folder();
    let broken = "project: shop/web\nname: build\nref: dev\nuser: ann\ntags: [linux]\n";
    let ci_file = "stages: [build]\ncompile: {stage: build, script: [make]}\n";
    for (text, place, needles) in [
        (
            broken,
            "job.yaml:4:7: document 0: ",
            &["invalid CI job: user: "][..],
        ),
        (
            "{\"project\": \"shop/web\", \"ref\": \"a b\", \"name\": \"\", \"user\": {\"id\": 1, \"username\": \"a\"}}",
            "job.yaml:1:",
            &["invalid CI job: ", "name: ", "ref: "],
        ),
        (
            "{project: p, ref: main, jobs: []}",
            "job.yaml:1:1: document 0: ",
            &["invalid pipeline: "],
        ),
        (
            ci_file,
            "job.yaml:1:1: document 0: ",
            &["a CI file does not say the project, ref and user"],
        ),
        (
            "{project: p}",
            "job.yaml:1:1: document 0: ",
            &["not a Kubernetes object: apiVersion is missing"],
        ),
    ] {
        folder.write("job.yaml", text);
        let done = eval(&folder, &["job.yaml", "--policies", "policies"]);
        assert_eq!(done.code, Some(3), "{text}");
        let message = done.results()[0]["message"].as_str().unwrap();
        assert!(message.starts_with(place), "{message}");
        for needle in needles {
            assert!(message.contains(needle), "{needle}: {message}");
        }
    }
}

#[test]
fn the_server_says_the_same_of_the_same_body() {
    let code = "if (object.ref === 'main' || req.userInfo.username !== 'ann') deny(`not for ${req.userInfo.username}`)\nobject.tags.push('eu')";
    let policies = json!([{"name": "door", "match": {"doors": ["ci"]}, "code": code}]);
    let (setup, port) = setup(None);
    let api = Api::of(setup.key("policies", policies.clone()).start(), port);
    let folder = Folder::new();
    let configuration = json!({"policies": policies, "defaultAction": "allow"});
    folder.write("portcullis.yaml", configuration.to_string());
    for (git_ref, user) in [("dev", "ann"), ("main", "ann"), ("dev", "root")] {
        let mut job = body();
        job["ref"] = json!(git_ref);
        job["user"]["username"] = json!(user);
        folder.write("job.json", job.to_string());
        let done = eval(&folder, &["job.json"]);
        let result = &done.results()[0];
        let answer = api.call(Some(&admin()), "POST", "/api/v1/jobs", Some(&job));
        let served = answer.json();
        let is_denied = served["failure_reason"] == "admission_denied";
        assert_eq!(result["allowed"], !is_denied, "{served}{result}");
        if is_denied {
            let why = api.get(Some(&admin()), &format!("/api/v1/jobs/{}", served["id"]));
            let said = format!("not for {user}");
            assert!(why.text().contains(&said), "{}", why.text());
            assert_eq!(result["message"], format!("door: {said}"));
        } else {
            assert_eq!(result["object"]["tags"], served["tags"]);
        }
    }
}
