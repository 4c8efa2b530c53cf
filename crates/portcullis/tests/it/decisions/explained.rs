//! `explain`, out of a store.

use serde_json::Value;

use super::{SAMPLES, fill, filled, ids, many, sample, sample_file, samples, summary};
use crate::harness::{Folder, run_in};

#[test]
fn a_decision_is_told_verdict_first() {
    let folder = filled();
    for name in SAMPLES {
        let id = summary(&sample(name)).id;
        let ran = run_in(&folder, &["explain", &id, "--data-dir", "data"]);
        assert_eq!(ran.code, Some(0), "{}", ran.err);
        assert_eq!(ran.out, sample_file(&format!("{name}.txt")));
        let hint = format!("portcullis explain {id} --data-dir data -o json");
        assert!(ran.err.contains(&hint), "{}", ran.err);
        let small = run_in(
            &folder,
            &["explain", &id.to_lowercase(), "--data-dir", "data"],
        );
        assert_eq!((small.code, small.out), (Some(0), ran.out));
    }
}

#[test]
fn everything_can_be_had() {
    let folder = filled();
    let line = sample("policy");
    let wanted: Value = serde_json::from_str(&line).unwrap();
    let id = wanted["id"].as_str().unwrap();
    let explain = |output: &str| {
        let ran = run_in(
            &folder,
            &["explain", id, "--data-dir", "data", "-o", output],
        );
        assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""));
        ran.out
    };
    let json: Value = serde_json::from_str(&explain("json")).unwrap();
    assert_eq!(json, wanted);
    assert_eq!(explain("jsonl"), line.clone() + "\n");
    assert!(explain("yaml").contains("\nverdict: deny\n"));
}

#[test]
fn what_is_unknown_or_no_id_is_told_apart() {
    let folder = filled();
    let unknown = run_in(
        &folder,
        &[
            "explain",
            "01K9ZV3N5J0000000000000ABC",
            "--data-dir",
            "data",
        ],
    );
    assert_eq!(unknown.code, Some(6));
    unknown.says(&["01K9ZV3N5J0000000000000ABC"]);
    for wrong in [
        "",
        "x",
        "01K9ZV3N5J000000000000000",
        "01K9ZV3N5J000000000000000U",
        "../../x",
    ] {
        let ran = run_in(&folder, &["explain", wrong, "--data-dir", "data"]);
        assert_eq!(ran.code, Some(2), "{wrong}: {}", ran.err);
    }
    let nowhere = run_in(
        &folder,
        &["explain", "01K9ZV3N5J0000000000000ABC", "--data-dir", "no"],
    );
    assert_eq!(nowhere.code, Some(3));
}

#[test]
fn the_beginning_of_an_id_is_enough_where_it_is_clear() {
    let folder = filled();
    fill(&folder, "many", &many(12));
    let explain = |id: &str, dir: &str| run_in(&folder, &["explain", id, "--data-dir", dir]);
    let id = ids(&samples())[0].clone();
    let whole = explain(&id, "data");
    // All samples were made at the same time: all but the last character are the same.
    let short = explain(&id[..25], "data");
    assert_eq!(short.code, Some(2), "{}", short.err);
    assert!(
        short.err.contains("several decisions begin with"),
        "{}",
        short.err
    );
    assert!(short.err.contains(&format!("\n  {id}\n")), "{}", short.err);
    let several = explain("01k9zw", "many");
    assert_eq!(several.code, Some(2), "{}", several.err);
    assert!(several.err.ends_with("\n  ...\n"), "{}", several.err);
    let unknown = explain("01AAAAAA", "data");
    assert_eq!(unknown.code, Some(6), "{}", unknown.err);
    fill(&folder, "one", &samples()[..1]);
    let clear = explain(&id[..6].to_lowercase(), "one");
    assert_eq!((clear.code, clear.out), (Some(0), whole.out));
}

#[test]
fn the_newest_decision_is_found_with_the_filters_of_lists() {
    let folder = filled();
    let explain = |more: &[&str]| {
        run_in(
            &folder,
            &[&["explain", "--data-dir", "data"][..], more].concat(),
        )
    };
    let last = |more: &[&str]| {
        let ran = explain(&[&["--last", "-o", "json"][..], more].concat());
        assert_eq!(ran.code, Some(0), "{}", ran.err);
        let value: Value = serde_json::from_str(&ran.out).unwrap();
        value["id"].as_str().unwrap().to_owned()
    };
    let all: Vec<_> = samples().iter().map(|line| summary(line)).collect();
    let newest = |matches: &dyn Fn(&portcullis_record::Summary) -> bool| {
        let found = all
            .iter()
            .filter(|one| matches(one))
            .map(|one| one.id.clone());
        found.max().unwrap()
    };
    assert_eq!(last(&[]), newest(&|_| true));
    for verdict in ["allow", "deny"] {
        let wanted = newest(&|one| one.verdict.as_str() == verdict);
        assert_eq!(last(&["--verdict", verdict]), wanted);
    }
    let none = explain(&["--last", "--user", "of-no-decision"]);
    assert_eq!(none.code, Some(6));
    none.says(&["error: no decisions found"]);
    let id = all[0].id.as_str();
    for wrong in [&[][..], &[id, "--last"], &[id, "--verdict", "deny"]] {
        assert_eq!(explain(wrong).code, Some(2), "{wrong:?}");
    }
    // The hints name the decision that was found.
    let hint = format!(
        "portcullis explain {} --data-dir data -o json",
        newest(&|_| true)
    );
    let ran = explain(&["--last"]);
    assert!(ran.err.contains(&hint), "{}", ran.err);
}

#[test]
fn without_an_id_the_newest_decision_is_suggested() {
    let ran = run_in(&Folder::new(), &["explain"]);
    assert_eq!(ran.code, Some(2));
    ran.says(&["error: no decision given: give its id, or --last for the newest one"]);
}
