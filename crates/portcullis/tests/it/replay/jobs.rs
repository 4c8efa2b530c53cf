//! Decisions about CI jobs: shown, and decided again by other policies. What controllers did is taken from the record.

use portcullis_testing::{Reply, Server};
use serde_json::{Value, json};

use super::value;
use crate::api::{Api, admin, setup};
use crate::harness::{eventually, run_in};

/// What judges jobs after the controllers.
fn policies(code: &str) -> Value {
    json!([{"name": "door", "match": {"doors": ["ci"]}, "code": code}])
}

/// Root may run nothing; every job gets the tag `zone-a`.
const THEN: &str =
    "if (object.user.username === 'root') deny('not as root')\nobject.tags.push('zone-a')";

/// Nothing of branch `next` may have the tag that the webhook adds.
const NOW: &str = "if (object.tags.includes('gpu') && object.ref === 'next') deny('no gpu for next')\nobject.tags.push('zone-a')";

/// A server that has ended, with the decisions about four jobs in its store: admitted, admitted for branch `next`, denied by the policy, denied by the
/// webhook. They are named by their refs and users.
fn recorded() -> Api {
    let hook = Server::http(|request| {
        let entry = &request.json()[0];
        let verdict = match entry["ref"] == "denied" {
            true => json!({"id": entry["id"], "admission": "denied", "reason": "over budget"}),
            false => json!({"id": entry["id"], "admission": "accepted",
                "tags": {"add": ["gpu"], "remove": []}}),
        };
        Reply::json(&verdict)
    });
    let (setup, port) = setup(None);
    let setup = setup
        .key("ci", json!({"webhooks": {"allow": [hook.place()]}}))
        .key("policies", policies(THEN));
    let api = Api::of(setup.start(), port);
    let made = |path: &str, body: Value| {
        let answer = api.call(Some(&admin()), "POST", path, Some(&body));
        assert_eq!(answer.status, 201, "{}", answer.text());
        answer.json()
    };
    made(
        "/api/v1/controllers",
        json!({"name": "budget", "level": "project", "path": "shop/web", "kind": "both",
            "url": format!("{}/hook", hook.url())}),
    );
    made(
        "/api/v1/controllers",
        json!({"name": "zones", "level": "instance", "kind": "both",
            "policy": {"code": "object.tags.push('eu')"}}),
    );
    for (git_ref, user) in [
        ("main", "ann"),
        ("next", "ann"),
        ("main", "root"),
        ("denied", "ann"),
    ] {
        made(
            "/api/v1/jobs",
            json!({"project": "shop/web", "name": format!("{git_ref}-{user}"), "ref": git_ref,
                "ref_protected": true, "user": {"id": 1, "username": user}, "tags": ["linux"],
                "script": ["true"]}),
        );
    }
    eventually("every decision is recorded", || {
        let list = api.get(Some(&admin()), "/api/v1/decisions?door=ci").json();
        (list["items"].as_array()?.len() == 4).then_some(())
    });
    let mut api = api;
    api.gate.terminate();
    api.gate.wait();
    api
}

fn replayed(api: &Api, arguments: &[&str]) -> (Option<i32>, Value) {
    let base = ["replay", "--data-dir", "data", "-o", "json"];
    let ran = run_in(&api.gate.folder, &[&base[..], arguments].concat());
    (ran.code, value(&ran))
}

#[test]
fn other_policies_decide_about_jobs_as_the_controllers_left_them() {
    let api = recorded();
    let folder = &api.gate.folder;
    let config =
        |code: &str| json!({"policies": policies(code), "defaultAction": "allow"}).to_string();
    folder.write("then.yaml", config(THEN));
    folder.write("now.yaml", config(NOW));
    folder.write("bare.yaml", json!({"defaultAction": "allow"}).to_string());
    let (code, same) = replayed(&api, &["--config", "then.yaml"]);
    assert_eq!(code, Some(0), "{same:#}");
    let summary = |report: &Value| report["summary"].clone();
    assert_eq!(summary(&same)["same"], 4, "{same:#}");
    let (code, now) = replayed(&api, &["--config", "now.yaml"]);
    assert_eq!(code, Some(1));
    let counts = summary(&now);
    assert_eq!(counts["same"], 2, "{now:#}");
    assert_eq!(counts["newlyDenied"], 1, "{now:#}");
    assert_eq!(counts["newlyAllowed"], 1, "{now:#}");
    let text = now.to_string();
    assert!(
        text.contains("no gpu for next") && text.contains("next-ann"),
        "{now:#}"
    );
    assert!(text.contains("main-root"), "{now:#}");
    // Policies judge last, so nothing more could have been asked.
    assert!(!text.contains("later plug-ins"), "{now:#}");
    // What a controller denied stays denied, whatever the policies are.
    let (_, bare) = replayed(&api, &["--config", "bare.yaml"]);
    assert_eq!(summary(&bare)["newlyDenied"], 0, "{bare:#}");
    assert!(!bare.to_string().contains("denied-ann"), "{bare:#}");
    folder.write("policies/freeze.js", "export const policy = {match: {doors: ['ci']}}\nexport default function () { if (object.ref === 'next') deny('frozen') }");
    let (code, frozen) = replayed(&api, &["--policies", "policies"]);
    assert_eq!(code, Some(1));
    assert_eq!(summary(&frozen)["newlyDenied"], 1, "{frozen:#}");
}

#[test]
fn explain_shows_what_every_controller_did() {
    let api = recorded();
    let folder = &api.gate.folder;
    let ran = |arguments: &[&str]| {
        let ran = run_in(folder, &[arguments, &["--data-dir", "data"]].concat());
        assert_eq!(ran.code, Some(0), "{}", ran.err);
        ran
    };
    let list = value(&ran(&["decisions", "list", "--door", "ci", "-o", "json"]));
    let explained = |name: &str| {
        let mut items = list["items"].as_array().unwrap().iter();
        let found = items.rfind(|item| item["name"] == name).unwrap();
        ran(&["explain", found["id"].as_str().unwrap()]).out
    };
    let steps = |text: &str| -> Vec<String> {
        let (_, after) = text.split_once("Evaluation, in order\n").unwrap();
        let lines = after.lines().take_while(|line| line.starts_with("  "));
        lines
            .filter_map(|line| {
                let mut words = line.split_whitespace();
                let (who, _, did) = (words.next()?, words.next()?, words.next()?);
                matches!(did, "changed" | "denied" | "passed").then(|| format!("{who} {did}"))
            })
            .collect()
    };
    let admitted = explained("main-ann");
    assert!(admitted.starts_with("allowed, with changes"), "{admitted}");
    let all = ["budget changed", "zones changed", "Policies changed"];
    assert_eq!(steps(&admitted), all, "{admitted}");
    for tag in ["gpu", "eu", "zone-a"] {
        assert!(admitted.contains(tag), "{admitted}");
    }
    assert!(!admitted.contains("0 headers"), "{admitted}");
    let denied = explained("main-root");
    let all = ["budget changed", "zones changed", "Policies denied"];
    assert_eq!(steps(&denied), all, "{denied}");
    assert!(denied.contains("not as root"), "{denied}");
    let by_hook = explained("denied-ann");
    assert_eq!(steps(&by_hook), ["budget denied"], "{by_hook}");
    assert!(by_hook.contains("over budget"), "{by_hook}");
}
