//! `portcullis replay`: recorded decisions, decided again by another set.

mod documentation;
mod jobs;
mod record;
mod sources;

use serde_json::{Value, json};

use crate::harness::{Folder, Ran, run_in};
use record::Recorded;

/// A policy that denies images without a version.
const STRICT: &str =
    "for (const c of object.spec.containers) if (c.image.endsWith(':latest')) return 'no latest'";

/// Runs it in a folder with `decisions.jsonl` of these decisions and `new/p.js` of this text.
fn replay(decisions: &[Recorded], policy: &str, arguments: &[&str]) -> Ran {
    let folder = folder(decisions);
    folder.write("new/p.js", policy);
    replay_in(&folder, &[&["--policies", "new"], arguments].concat())
}

fn folder(decisions: &[Recorded]) -> Folder {
    let folder = Folder::new();
    let lines: String = decisions.iter().map(|d| d.line() + "\n").collect();
    folder.write("decisions.jsonl", lines);
    folder
}

fn replay_in(folder: &Folder, arguments: &[&str]) -> Ran {
    let all = [&["replay", "--file", "decisions.jsonl"], arguments].concat();
    run_in(folder, &all)
}

fn value(ran: &Ran) -> Value {
    serde_json::from_str(&ran.out).unwrap_or_else(|e| panic!("{e}: {}{}", ran.out, ran.err))
}

#[test]
fn a_stricter_set_shows_what_it_would_deny() {
    let decisions = [
        Recorded::pod("01A", "fine", "app:1"),
        Recorded::pod("01C", "second", "app:latest"),
        Recorded::pod("01B", "first", "app:latest"),
        Recorded::pod("01D", "always", "app:latest").denied("p", "p: no latest"),
    ];
    let ran = replay(&decisions, STRICT, &[]);
    assert_eq!(ran.code, Some(1), "{}{}", ran.out, ran.err);
    let (first, second) = (ran.out.find("01B"), ran.out.find("01C"));
    assert!(first.is_some() && first < second, "{}", ran.out);
    for part in [
        "newly denied by p: 2",
        "CREATE Pod dev/first by alice   now: denied: p: no latest",
        "same                  2",
    ] {
        assert!(ran.out.contains(part), "{part}: {}", ran.out);
    }
    // What stays as it is is only counted.
    for name in ["fine", "always"] {
        assert!(!ran.out.contains(name), "{}", ran.out);
    }
    assert!(
        ran.err.contains("2 of 4 decisions would change"),
        "{}",
        ran.err
    );
    let ran = replay(&decisions, STRICT, &["-o", "json", "--examples", "1"]);
    assert_eq!(ran.code, Some(1));
    let value = value(&ran);
    let summary = &value["summary"];
    assert_eq!(
        (
            &summary["same"],
            &summary["newlyDenied"],
            &summary["decisions"]
        ),
        (&json!(2), &json!(2), &json!(4))
    );
    let [group] = value["changes"].as_array().unwrap().as_slice() else {
        panic!("{value}")
    };
    assert_eq!(group["by"], "p");
    assert_eq!(group["examples"].as_array().unwrap().len(), 1);
    assert_eq!(group["examples"][0]["id"], "01B");
    assert_eq!(group["examples"][0]["now"]["message"], "p: no latest");
    let ran = replay(&decisions, STRICT, &["-o", "yaml"]);
    assert_eq!(ran.code, Some(1));
    assert!(ran.out.contains("newlyDenied: 2"), "{}", ran.out);
}

#[test]
fn a_looser_set_shows_what_it_would_allow() {
    let decisions = [Recorded::pod("01A", "web", "app:latest").denied("old", "old: no latest")];
    let ran = replay(&decisions, "return true", &[]);
    assert_eq!(ran.code, Some(1), "{}", ran.err);
    assert!(
        ran.out.contains("newly allowed, then denied by old: 1"),
        "{}",
        ran.out
    );
}

#[test]
fn nothing_changes_under_the_same_set() {
    let decisions = [
        Recorded::pod("01A", "web", "app:1"),
        Recorded::pod("01B", "web", "app:latest").denied("p", "p: no latest"),
    ];
    let ran = replay(&decisions, STRICT, &[]);
    assert_eq!(ran.code, Some(0), "{}{}", ran.out, ran.err);
    assert!(ran.err.contains("nothing would change in 2 decisions"));
}

#[test]
fn other_patches_are_shown_by_what_differs() {
    let labels =
        json!([{"op": "add", "path": "/metadata/labels", "value": {"a": "1", "team": "x"}}]);
    let decisions = [Recorded::pod("01A", "web", "app:1").patched(&labels)];
    let same = "object.metadata.labels = {a: '1', team: 'x'}";
    assert_eq!(replay(&decisions, same, &[]).code, Some(0));
    let ran = replay(&decisions, "object.metadata.labels = {a: '2'}", &[]);
    assert_eq!(ran.code, Some(1), "{}", ran.err);
    for part in [
        "patch differs by p: 1",
        "then  + /metadata/labels: {\"a\":\"1\",\"team\":\"x\"}",
        "now   + /metadata/labels: {\"a\":\"2\"}",
    ] {
        assert!(ran.out.contains(part), "{part}: {}", ran.out);
    }
}

#[test]
fn what_is_masked_is_not_guessed() {
    let decisions = [
        Recorded::secret("01A", "first"),
        Recorded::secret("01B", "second"),
        Recorded::pod("01C", "web", "app:1"),
    ];
    let reads = "if (object.kind === 'Secret' && object.data.password === 'x') return 'no'";
    let ran = replay(&decisions, reads, &[]);
    assert_eq!(ran.code, Some(0), "{}{}", ran.out, ran.err);
    for part in [
        "can't tell: 2",
        "2  p reads object.data.password, which is masked",
        "such as 01A",
    ] {
        assert!(ran.out.contains(part), "{part}: {}", ran.out);
    }
    assert!(ran.err.contains("2 undetermined"), "{}", ran.err);
    let ran = replay(&decisions, reads, &["-o", "json"]);
    let value = value(&ran);
    assert_eq!(value["summary"]["unknown"], 2);
    assert_eq!(value["unknown"][0]["ids"], json!(["01A", "01B"]));
    // Looking around it is fine.
    let ran = replay(&decisions, "Object.keys(object.data || {})", &[]);
    assert_eq!(ran.code, Some(0));
    assert!(!ran.out.contains("can't tell:"), "{}", ran.out);
}

#[test]
fn calls_are_answered_from_the_record_or_not_at_all() {
    let asks = "if (cosignVerify('k.pub') !== true) return 'not signed'";
    let decisions = [Recorded::pod("01A", "web", "app:1").asked("cosignVerify", "k.pub", true)];
    let ran = replay(&decisions, asks, &[]);
    assert_eq!(ran.code, Some(0), "{}{}", ran.out, ran.err);
    assert!(!ran.out.contains("can't tell:"), "{}", ran.out);
    let decisions = [Recorded::pod("01A", "web", "app:1").asked("cosignVerify", "k.pub", false)];
    assert_eq!(replay(&decisions, asks, &[]).code, Some(1));
    let decisions = [Recorded::pod("01A", "web", "app:1")];
    let ran = replay(&decisions, asks, &[]);
    assert_eq!(ran.code, Some(0));
    let said = "p calls cosignVerify(\"k.pub\"), which has no answer in the record";
    assert!(ran.out.contains(said), "{}", ran.out);
    let ran = replay(&decisions, "return ac.GlobalContext.n !== 1", &[]);
    let said = "p reads ac.GlobalContext, which is not recorded";
    assert!(ran.out.contains(said), "{}", ran.out);
}

#[test]
fn a_configuration_takes_the_place_of_everything() {
    let folder = folder(&[
        Recorded::pod("01A", "web", "app:1"),
        Recorded::access("01B", "alice"),
    ]);
    folder.write(
        "strict.yaml",
        "admission: {plugins: [{name: AlwaysDeny}]}\nauthorization: {chains: {default: [AlwaysDeny]}}\n",
    );
    let ran = replay_in(&folder, &["--config", "strict.yaml"]);
    assert_eq!(ran.code, Some(1), "{}{}", ran.out, ran.err);
    assert!(
        ran.out.contains("newly denied by AlwaysDeny: 2"),
        "{}",
        ran.out
    );
    // Policies judge no access.
    folder.write("new/p.js", "return true");
    let ran = replay_in(&folder, &["--policies", "new"]);
    assert_eq!(ran.code, Some(0), "{}{}", ran.out, ran.err);
    assert!(ran.out.contains("not judged"), "{}", ran.out);
}

#[test]
fn what_would_decide_must_be_there() {
    let folder = folder(&[Recorded::pod("01A", "web", "app:1")]);
    folder.write("new/p.js", "return true");
    folder.write("broken/p.js", "return (");
    folder.write("c.yaml", "{}");
    std::fs::create_dir(folder.path("empty")).unwrap();
    let ran = replay_in(&folder, &[]);
    assert_eq!(ran.code, Some(2));
    ran.says(&["--policies", "--config"]);
    let ran = replay_in(&folder, &["--policies", "new", "--config", "c.yaml"]);
    assert_eq!(ran.code, Some(2));
    for (arguments, says) in [
        (["--policies", "missing"], "missing"),
        (["--policies", "empty"], "no policies"),
        (["--policies", "broken"], "p.js"),
        (["--config", "missing.yaml"], "missing.yaml"),
    ] {
        let ran = replay_in(&folder, &arguments);
        assert_eq!(ran.code, Some(3), "{arguments:?}: {}", ran.err);
        ran.says(&[says]);
    }
}
