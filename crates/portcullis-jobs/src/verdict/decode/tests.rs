use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::tags::TagFault;

fn linux() -> Vec<String> {
    vec!["linux".to_owned()]
}

fn rules(tags: &[String]) -> VerdictRules<'_> {
    VerdictRules {
        job: 7,
        tags,
        may_mutate: true,
        may_untag: false,
    }
}

fn read_json(json: &Value) -> Result<Verdict, VerdictFault> {
    decode_verdict(json.to_string().as_bytes(), &rules(&linux()))
}

fn message(json: &Value) -> String {
    read_json(json).unwrap_err().to_string()
}

#[test]
fn a_list_of_one_and_an_object_are_the_same() {
    // Case 22.
    let one = json!({"id": 7, "admission": "accepted", "reason": "ok"});
    let verdict = read_json(&one).unwrap();
    assert_eq!(read_json(&json!([one])).unwrap(), verdict);
    assert_eq!(verdict.reason.as_deref(), Some("ok"));
    assert!(verdict.is_accepted() && !verdict.is_mutation());
    // Case 21.
    assert_eq!(message(&json!([one, one])), "expected one verdict, found 2");
    assert_eq!(message(&json!([])), "expected one verdict, found 0");
}

#[test]
fn rejected_is_denied() {
    // Cases 3 and 4.
    for word in ["denied", "rejected"] {
        let verdict = read_json(&json!({"id": 7, "admission": word, "reason": "no"})).unwrap();
        assert_eq!(verdict, Verdict::denied(7, "no"));
        assert!(
            serde_json::to_string(&verdict)
                .unwrap()
                .contains("\"denied\"")
        );
    }
}

#[test]
fn every_spelling_of_a_tag_change_is_read() {
    for changes in [
        json!({"tags": {"add": ["a"], "remove": ["b"]}}),
        json!({"tags": {"additions": ["a"], "removals": ["b"]}}),
        json!({"mutations": {"additions": ["a"], "removals": ["b"]}}),
        json!({"mutations": {"add": ["a"], "remove": ["b"]}}),
        json!({"additions": ["a"], "removals": ["b"]}),
        json!({"additions": ["a", "a"], "tags": {"add": ["a"], "remove": ["b"], "new": 1}}),
    ] {
        let mut body = json!({"id": 7, "admission": "accepted", "unknown": {"x": 1}});
        body.as_object_mut()
            .unwrap()
            .extend(changes.as_object().unwrap().clone());
        let verdict = read_json(&body).unwrap();
        assert_eq!(verdict.tags.add, ["a"], "{body}");
        assert_eq!(verdict.tags.remove, ["b"], "{body}");
    }
}

#[test]
fn every_spelling_of_the_runner_lists_is_read() {
    // Case 18.
    for changes in [
        json!({"runners": {"accepted_ids": ["82"], "rejected_ids": ["83"]}}),
        json!({"runners": {"accepted_ids": [82], "rejected_ids": [83]}}),
        json!({"runners": {"accepted": [82, "82"], "rejected": [83]}}),
        json!({"accepted_runners": ["82"], "rejected_runners": [83]}),
        json!({"accepted_ids": ["82"], "rejected_ids": ["83"]}),
    ] {
        let mut body = json!({"id": 7, "admission": "accepted"});
        body.as_object_mut()
            .unwrap()
            .extend(changes.as_object().unwrap().clone());
        let verdict = read_json(&body).unwrap();
        let lists = verdict.runners.clone().unwrap();
        assert_eq!(
            (lists.accepted_ids, lists.rejected_ids),
            (vec![82], vec![83])
        );
        let written = serde_json::to_value(&verdict).unwrap();
        assert_eq!(
            written["runners"],
            json!({"accepted_ids": ["82"], "rejected_ids": ["83"]})
        );
    }
    // Case 15: empty lists are lists, and leave every runner.
    let empty = json!({"id": 7, "admission": "accepted", "runners": {"accepted_ids": []}});
    assert_eq!(
        read_json(&empty).unwrap().runners,
        Some(RunnerLists::default())
    );
    let absent = json!({"id": 7, "admission": "accepted", "runners": null});
    assert_eq!(read_json(&absent).unwrap().runners, None);
}

#[test]
fn the_changes_of_a_denial_are_ignored() {
    // Case 19.
    let body = json!({"id": 7, "admission": "denied", "tags": {"add": ["x", 1]}, "runners": 5});
    let verdict = read_json(&body).unwrap();
    assert!(!verdict.is_mutation() && !verdict.is_accepted());
}

#[test]
fn what_is_wrong_is_named() {
    let accepted = |key: &str, value: Value| {
        let mut body = json!({"id": 7, "admission": "accepted"});
        body[key] = value;
        body
    };
    for (body, wanted) in [
        (json!(1), "expected an object, found a number"),
        (json!([[]]), "expected an object, found a list"),
        (json!({"admission": "accepted"}), "`id` is required"),
        // Case 20.
        (
            accepted("id", json!(8)),
            "`id`: the verdict is for job `8`, expected 7",
        ),
        (
            accepted("id", json!(-7)),
            "`id`: the verdict is for job `-7`, expected 7",
        ),
        (json!({"id": 7}), "`admission` is required"),
        // Case 5.
        (
            accepted("admission", json!("maybe")),
            "`admission`: unknown value `\"maybe\"`: expected accepted or denied",
        ),
        (
            accepted("admission", json!("Accepted")),
            "`admission`: unknown value `\"Accepted\"`: expected accepted or denied",
        ),
        (
            accepted("reason", json!(1)),
            "`reason`: expected a string, found a number",
        ),
        (
            accepted("tags", json!(["a"])),
            "`tags`: expected an object, found a list",
        ),
        (
            accepted("tags", json!({"add": "a"})),
            "`tags.add`: expected a list, found a string",
        ),
        (
            accepted("additions", json!(["a", 1])),
            "`additions[1]`: expected a string, found a number",
        ),
        (
            accepted("tags", json!({"add": ["a\u{7}"]})),
            "`tags.add[0]`: a tag can't contain control characters",
        ),
        (
            accepted("runners", json!({"rejected_ids": ["R2"]})),
            "`runners.rejected_ids[0]`: expected a runner id, found `\"R2\"`",
        ),
        // Case 10.
        (
            accepted("tags", json!({"remove": ["linux"]})),
            "removing every tag needs `may_untag`: a job without tags runs on any untagged runner",
        ),
    ] {
        assert_eq!(message(&body), wanted, "{body}");
    }
    let error = decode_verdict(b"{", &rules(&[])).unwrap_err();
    assert!(
        error
            .to_string()
            .starts_with("the verdict is not valid JSON: ")
    );
}

#[test]
fn limits_hold() {
    let with_tags = |count: usize| {
        let tags: Vec<String> = (0..count).map(|i| format!("t{i}")).collect();
        json!({"id": 7, "admission": "accepted", "tags": {"add": tags}})
    };
    assert!(read_json(&with_tags(63)).is_ok());
    assert_eq!(
        read_json(&with_tags(64)),
        Err(VerdictFault::TooManyTags(65))
    );
    let long = json!({"id": 7, "admission": "accepted", "tags": {"add": ["x".repeat(256)]}});
    let fault = TagFault::TooLong;
    let path = "tags.add[0]".to_owned();
    assert_eq!(read_json(&long), Err(VerdictFault::BadTag { path, fault }));
    let large = vec![b' '; MOST_BODY_BYTES + 1];
    assert!(matches!(
        decode_verdict(&large, &rules(&[])),
        Err(VerdictFault::TooLarge { .. })
    ));
}

#[test]
fn a_validating_controller_changes_nothing() {
    let tags = linux();
    let validating = VerdictRules {
        may_mutate: false,
        ..rules(&tags)
    };
    for (changes, is_good) in [
        (json!({"add": [], "remove": []}), true),
        (json!({"add": ["a"]}), false),
    ] {
        let body = json!({"id": 7, "admission": "accepted", "tags": changes}).to_string();
        assert_eq!(
            decode_verdict(body.as_bytes(), &validating).is_ok(),
            is_good
        );
    }
    let body = json!({"id": 7, "admission": "accepted", "accepted_runners": [1]}).to_string();
    let fault = decode_verdict(body.as_bytes(), &validating).unwrap_err();
    assert_eq!(fault, VerdictFault::MutationByValidating);
}

#[test]
fn untagging_needs_permission_and_something_to_untag() {
    // Case 11.
    let body = json!({"id": 7, "admission": "accepted", "tags": {"remove": ["linux"]}});
    let body = body.to_string();
    let tags = linux();
    let may = VerdictRules {
        may_untag: true,
        ..rules(&tags)
    };
    assert!(decode_verdict(body.as_bytes(), &may).is_ok());
    assert!(decode_verdict(body.as_bytes(), &rules(&[])).is_ok());
}

#[test]
fn reasons_are_cleaned_and_cut_between_characters() {
    let reason = format!("a\u{1b}[31m\n{}", "é".repeat(1000));
    let verdict = read_json(&json!({"id": 7, "admission": "denied", "reason": reason})).unwrap();
    let reason = verdict.reason.unwrap();
    assert!(reason.starts_with("a[31mé") && reason.len() <= 1024 && reason.len() >= 1023);
    assert_eq!(clean_reason(" \n\t"), None);
}

#[test]
fn a_key_that_is_given_twice_is_invalid() {
    let body = br#"{"id": 7, "admission": "denied", "admission": "accepted"}"#;
    let fault = decode_verdict(body, &rules(&linux())).unwrap_err();
    assert!(fault.to_string().contains("duplicate key"), "{fault}");
}

fn any_json() -> impl Strategy<Value = Value> {
    let words = proptest::sample::select(vec![
        "id",
        "admission",
        "accepted",
        "denied",
        "rejected",
        "tags",
        "add",
        "remove",
        "additions",
        "removals",
        "mutations",
        "runners",
        "accepted_ids",
        "rejected_ids",
        "reason",
        "7",
        "é\n",
    ]);
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        Just(json!(7)),
        words.clone().prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 32, 6, move |inner| {
        let keys = words.clone().prop_map(str::to_owned);
        prop_oneof![
            vec(inner.clone(), 0..4).prop_map(Value::from),
            proptest::collection::btree_map(keys, inner, 0..8)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn no_bytes_panic(body in vec(any::<u8>(), 0..200)) {
        let _ = decode_verdict(&body, &rules(&linux()));
    }

    #[test]
    fn no_json_panics_and_what_is_read_is_read_again(json in any_json()) {
        if let Ok(verdict) = read_json(&json) {
            let written = serde_json::to_value(&verdict).unwrap();
            prop_assert_eq!(read_json(&written), Ok(verdict));
        }
    }

    #[test]
    fn a_canonical_verdict_is_read_back(
        add in vec("[a-z]{1,4}", 0..4),
        remove in vec("[m-z]{1,4}", 0..4),
        accepted_ids in vec(any::<u64>(), 0..3),
        reason in proptest::option::of("[a-z]{1,9}"),
    ) {
        let mut accepted_ids = accepted_ids;
        accepted_ids.sort_unstable();
        accepted_ids.dedup();
        let runners = RunnerLists { accepted_ids, rejected_ids: vec![1] };
        let verdict = Verdict {
            reason,
            tags: TagChange { add: without_repetitions(add), remove: without_repetitions(remove) },
            runners: Some(runners),
            ..Verdict::accepted(7)
        };
        let written = serde_json::to_value(&verdict).unwrap();
        prop_assert_eq!(read_json(&written), Ok(verdict));
    }
}
