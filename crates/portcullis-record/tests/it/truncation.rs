//! Reviews that are too large to be recorded in full.

use portcullis_record::Decision;
use serde_json::{Value, json};

use crate::fixtures::{allowed, creation, denied, masker, written};

const LIMIT: usize = 4096;

fn review(size: usize) -> Value {
    creation(&json!({
        "apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "big"},
        "password": "not-to-be-seen", "data": {"x": "y".repeat(size)},
    }))
}

#[test]
fn a_review_that_fits_is_kept_whole() {
    let masker = masker().with_max_input(LIMIT);
    let whole = written(&masker, &review(LIMIT / 2), allowed());
    assert!(!whole.is_truncated && !whole.line.contains("truncated"));
    // Four times as much where it was denied.
    let refused = written(&masker, &review(LIMIT * 2), denied("no"));
    assert!(!refused.is_truncated);
}

#[test]
fn of_a_large_review_the_objects_are_left_out_and_named() {
    let masker = masker().with_max_input(LIMIT);
    for verdict in [allowed(), denied("no")] {
        let is_denied = !verdict.is_allowed();
        let written = written(&masker, &review(LIMIT * 5), verdict);
        assert!(
            written.is_truncated && written.line.len() < LIMIT,
            "{is_denied}"
        );
        let decision = Decision::from_line(&written.line).unwrap();
        assert_eq!(decision.input.truncated, ["/review/request/object"]);
        assert!(
            decision.input.masked.is_empty(),
            "{:?}",
            decision.input.masked
        );
        let kept: Value = serde_json::from_str(decision.input.review_text()).unwrap();
        assert_eq!(kept["request"]["object"], Value::Null);
        assert_eq!(kept["request"]["userInfo"]["username"], "ci-bot");
        assert_eq!(decision.summary.name, "big");
        assert!(!written.line.contains("not-to-be-seen"));
    }
}

#[test]
fn what_is_masked_does_not_count() {
    let mut review = review(10);
    review["request"]["object"]["password"] = json!("x".repeat(LIMIT * 3));
    assert!(!written(&masker().with_max_input(LIMIT), &review, allowed()).is_truncated);
}

#[test]
fn a_review_that_is_large_elsewhere_is_left_out_as_a_whole() {
    let mut review = review(10);
    for number in 0..LIMIT {
        review["request"][format!("odd{number}")] = json!("odd");
    }
    let written = written(&masker().with_max_input(LIMIT), &review, allowed());
    let decision = Decision::from_line(&written.line).unwrap();
    assert_eq!(decision.input.truncated, ["/review"]);
    assert_eq!(decision.input.review_text(), "{}");
    assert_eq!(decision.summary.user, "ci-bot");
}
