//! `warn` and `dry-run`.

use portcullis_core::{PolicyMode, PolicyOutcome};
use portcullis_js::{Evaluation, Plan, PolicyVerdict};

use crate::support::*;

fn with(policies: &[(&str, &str)], plan: &[Plan]) -> Evaluation {
    let mut i = input(pod());
    i.plan = plan.to_vec();
    pool("", policies).evaluate(i).unwrap()
}

const ENFORCE: Plan = Plan::Run(PolicyMode::Enforce);
const WARN: Plan = Plan::Run(PolicyMode::Warn);
const DRY: Plan = Plan::Run(PolicyMode::DryRun);

#[test]
fn a_refusal_becomes_a_warning_or_a_record() {
    let policies = [
        ("A", "return 'a'"),
        ("B", "return 'b'"),
        ("C", "object.c = 1"),
        ("D", "return 'd'"),
    ];
    let e = with(&policies, &[WARN, DRY, ENFORCE, Plan::Skip]);
    assert_eq!(e.verdict, PolicyVerdict::None);
    assert_eq!(e.warnings, ["A: a"]);
    let outcomes: Vec<_> = e.steps.iter().map(|s| s.outcome).collect();
    assert_eq!(
        outcomes,
        [
            PolicyOutcome::Deny,
            PolicyOutcome::Deny,
            PolicyOutcome::Pass,
            PolicyOutcome::Skip
        ]
    );
    assert_eq!(e.steps[1].message.as_deref(), Some("b"));
    assert_eq!(e.object.unwrap()["c"], 1);
}

#[test]
fn an_allow_does_not_end_it_and_errors_count_as_refusals() {
    let e = with(
        &[("A", "return true"), ("B", "throw 1"), ("C", "return 'c'")],
        &[WARN, WARN, ENFORCE],
    );
    assert_eq!(denied(&e).denial.message, "C: c");
    assert_eq!(e.warnings.len(), 1);
    assert_eq!(e.steps[1].outcome, PolicyOutcome::Error);
}

#[test]
fn changes_are_not_kept_but_those_of_others_are_seen() {
    let policies = [
        ("A", "object.a = 1"),
        (
            "B",
            "if (object.a !== 1) return 'unseen'; object.a = 2; object.b = 2; object = null",
        ),
        ("C", "return object.a === 1 && object.b === undefined"),
    ];
    let e = with(&policies, &[ENFORCE, WARN, ENFORCE]);
    assert_eq!(e.verdict, PolicyVerdict::Allow, "{e:?}");
    assert!(e.warnings.is_empty());
    let o = e.object.unwrap();
    assert_eq!((o["a"].as_i64(), o.get("b")), (Some(1), None));
}

#[test]
fn a_limit_in_warn_mode_goes_on() {
    let e = with(
        &[
            ("A", "(function f() { f() })()"),
            ("B", "return 'x'.repeat(2**29)"),
            ("C", "return true"),
        ],
        &[WARN, DRY, ENFORCE],
    );
    assert_eq!(e.verdict, PolicyVerdict::Allow, "{e:?}");
    assert!(e.warnings[0].contains("stack"), "{e:?}");
    assert!(
        e.steps[1].message.as_ref().unwrap().contains("memory"),
        "{e:?}"
    );
}

#[test]
fn steps_say_who_changed_the_object() {
    let changers = |policies: &[(&str, &str)]| -> Vec<String> {
        let evaluation = with(policies, &vec![ENFORCE; policies.len()]);
        let steps = evaluation.steps.into_iter();
        let changed = steps.filter(|step| step.changed);
        changed.map(|step| step.name).collect()
    };
    let nobody = Vec::<String>::new();
    let reads = ("reads", "object.kind");
    let adds = ("adds", "object.metadata.labels = {a: '2'}");
    let same = ("same", "object.metadata.labels.a = '2'");
    let more = ("more", "object.metadata.labels.b = '2'");
    assert_eq!(changers(&[reads, adds]), ["adds"]);
    assert_eq!(changers(&[adds, same, reads, more]), ["adds", "more"]);
    assert_eq!(changers(&[reads]), nobody);
    let idle = ("idle", "if (object.kind === 'None') object.kind = 'Pod'");
    assert_eq!(changers(&[idle]), nobody);
    // What was changed before a denial is discarded.
    assert_eq!(changers(&[adds, more, ("denies", "return 'no'")]), nobody);
}
