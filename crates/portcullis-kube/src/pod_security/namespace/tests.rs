use std::collections::BTreeMap;

use super::{
    super::config::Exemptions,
    super::level::{Level, LevelVersion, Policy, Version},
    NamespaceReview, invalid_message, policy_of, review_create, review_update,
};

type Labels = BTreeMap<String, String>;

fn labels(pairs: &[(&str, &str)]) -> Labels {
    pairs
        .iter()
        .map(|(key, value)| {
            (
                format!("pod-security.kubernetes.io/{key}"),
                (*value).to_owned(),
            )
        })
        .collect()
}

fn policy(pairs: &[(&str, &str)]) -> (String, Vec<String>) {
    let (policy, errors) = policy_of(&labels(pairs), &Policy::default());
    let Policy {
        enforce,
        audit,
        warn,
    } = policy;
    (
        format!("{enforce} {audit} {warn}"),
        errors.iter().map(ToString::to_string).collect(),
    )
}

fn exempt(namespace: &str) -> Exemptions {
    Exemptions {
        namespaces: [namespace.to_owned()].into(),
        ..Exemptions::default()
    }
}

#[test]
fn labels_override_the_defaults_one_by_one() {
    assert_eq!(
        policy(&[]).0,
        "privileged:latest privileged:latest privileged:latest"
    );
    let all = [
        ("enforce", "baseline"),
        ("enforce-version", "v1.20"),
        ("audit", "restricted"),
        ("audit-version", "v1.21"),
        ("warn", "privileged"),
        ("warn-version", "v1.22"),
    ];
    assert_eq!(
        policy(&all).0,
        "baseline:v1.20 restricted:v1.21 privileged:v1.22"
    );

    let defaults = Policy {
        enforce: LevelVersion::new(Level::Baseline, Version::V(5)),
        ..Policy::default()
    };
    let (policy, _) = policy_of(&labels(&[("enforce-version", "v1.9")]), &defaults);
    assert_eq!(policy.enforce.to_string(), "baseline:v1.9");
    // The level was not set by a label, so warn stays as it was.
    assert_eq!(policy.warn, LevelVersion::PRIVILEGED);
}

#[test]
fn warn_follows_a_stricter_enforce_level() {
    for (pairs, warn) in [
        (&[("enforce", "restricted")][..], "restricted:latest"),
        (
            &[("enforce", "restricted"), ("enforce-version", "v1.22")],
            "restricted:v1.22",
        ),
        (
            &[
                ("enforce", "restricted"),
                ("enforce-version", "v1.22"),
                ("warn-version", "v1.23"),
            ],
            "restricted:v1.23",
        ),
        (
            &[("enforce", "restricted"), ("warn", "baseline")],
            "baseline:latest",
        ),
        (
            &[("enforce", "restricted"), ("warn", "bad")],
            "privileged:latest",
        ),
        (&[("enforce", "bad")], "privileged:latest"),
    ] {
        let (text, _) = policy(pairs);
        assert!(text.ends_with(&format!(" {warn}")), "{pairs:?}: {text}");
    }
    // Not when the default already warns of more.
    let defaults = Policy {
        warn: LevelVersion::new(Level::Restricted, Version::V(30)),
        ..Policy::default()
    };
    let (policy, _) = policy_of(&labels(&[("enforce", "baseline")]), &defaults);
    assert_eq!(policy.warn.to_string(), "restricted:v1.30");
}

#[test]
fn bad_enforce_labels_fail_closed_and_the_others_open() {
    let (text, errors) = policy(&[
        ("enforce", "x"),
        ("enforce-version", "1.2"),
        ("audit", "y"),
        ("warn", "z"),
        ("warn-version", "v1.01"),
    ]);
    assert_eq!(
        text,
        "restricted:latest privileged:latest privileged:latest"
    );
    let level = "must be one of privileged, baseline, restricted";
    let version = "must be \"latest\" or \"v1.x\"";
    let expected = [
        format!(
            "metadata.labels[pod-security.kubernetes.io/enforce]: Invalid value: \"x\": {level}"
        ),
        format!(
            "metadata.labels[pod-security.kubernetes.io/enforce-version]: Invalid value: \"1.2\": {version}"
        ),
        format!("metadata.labels[pod-security.kubernetes.io/audit]: Invalid value: \"y\": {level}"),
        format!("metadata.labels[pod-security.kubernetes.io/warn]: Invalid value: \"z\": {level}"),
        format!(
            "metadata.labels[pod-security.kubernetes.io/warn-version]: Invalid value: \"v1.01\": {version}"
        ),
    ];
    assert_eq!(errors, expected);
}

#[test]
fn a_new_namespace_needs_labels_that_can_be_understood() {
    let none = Exemptions::default();
    let good = review_create(
        "ns",
        &labels(&[("enforce", "baseline")]),
        &Policy::default(),
        &none,
    );
    assert_eq!(good, NamespaceReview::Allowed);
    let bad = review_create(
        "ns",
        &labels(&[("enforce", "x")]),
        &Policy::default(),
        &none,
    );
    let NamespaceReview::Invalid(errors) = bad else {
        panic!("{bad:?}")
    };
    assert_eq!(
        invalid_message("ns", &errors),
        "Namespace \"ns\" is invalid: metadata.labels[pod-security.kubernetes.io/enforce]: \
         Invalid value: \"x\": must be one of privileged, baseline, restricted"
    );
    assert_eq!(
        errors[0].body(),
        "Invalid value: \"x\": must be one of privileged, baseline, restricted"
    );
    assert_eq!(errors[0].kind.cause(), "FieldValueInvalid");
}

#[test]
fn an_old_fault_does_not_bar_another_change() {
    let review = |old: &[(&str, &str)], new: &[(&str, &str)]| {
        let (old, new) = (labels(old), labels(new));
        review_update("ns", &old, &new, &Policy::default(), &Exemptions::default())
    };
    let bad = [("enforce", "x")];
    assert_eq!(review(&bad, &bad), NamespaceReview::Allowed);
    assert!(matches!(
        review(&bad, &[("enforce", "y")]),
        NamespaceReview::Invalid(_)
    ));
    assert!(matches!(review(&[], &bad), NamespaceReview::Invalid(_)));
    let worse = [("enforce", "x"), ("warn", "x")];
    assert!(matches!(review(&bad, &worse), NamespaceReview::Invalid(_)));
}

#[test]
fn pods_are_scanned_when_more_is_enforced_than_before() {
    let scans = |old: &[(&str, &str)], new: &[(&str, &str)]| {
        let (old, new) = (labels(old), labels(new));
        let review = review_update("ns", &old, &new, &Policy::default(), &Exemptions::default());
        matches!(review, NamespaceReview::EnforcesMore(_))
    };
    let baseline = [("enforce", "baseline")];
    let restricted = [("enforce", "restricted")];
    let older = [("enforce", "baseline"), ("enforce-version", "v1.1")];
    assert!(scans(&[], &restricted));
    assert!(scans(&baseline, &restricted));
    assert!(scans(&older, &baseline));
    assert!(
        scans(&restricted, &older),
        "another version may bar other things"
    );
    assert!(!scans(&restricted, &baseline));
    assert!(!scans(&baseline, &baseline));
    assert!(!scans(&restricted, &[("enforce", "privileged")]));
    assert!(!scans(&[], &[("warn", "restricted")]));
}

#[test]
fn labels_on_an_exempt_namespace_are_said_to_do_nothing() {
    let defaults = Policy::default();
    let set = labels(&[
        ("enforce", "baseline"),
        ("audit", "restricted"),
        ("audit-version", "v1.3"),
    ]);
    let warned = NamespaceReview::AllowedWithWarning(
        "namespace \"ns\" is exempt from Pod Security, and the policy \
         (enforce=baseline:latest, audit=restricted:v1.3) will be ignored"
            .to_owned(),
    );
    assert_eq!(review_create("ns", &set, &defaults, &exempt("ns")), warned);
    assert_eq!(
        review_update("ns", &labels(&[]), &set, &defaults, &exempt("ns")),
        warned
    );
    let nothing = review_create("ns", &labels(&[]), &defaults, &exempt("ns"));
    assert_eq!(nothing, NamespaceReview::Allowed);
    let other = review_create("other", &set, &defaults, &exempt("ns"));
    assert_eq!(other, NamespaceReview::Allowed);
}
