//! Coverage and merging over a small set of tolerations, and faults.

use serde_json::json;

use super::*;

/// Every toleration of the zoo with the others it covers.
const ZOO: &[(&str, &str, &[&str])] = &[
    (
        "all",
        "*///",
        &[
            "all-sched",
            "all-exec",
            "k",
            "k=v",
            "k-sched",
            "k=v-sched",
            "k=w-sched",
            "l-sched",
            "l=w-sched",
            "k-prefer",
            "k-exec",
            "k=v-exec",
            "k-exec-10",
            "k-exec-0",
            "k=v-exec-10",
        ],
    ),
    (
        "all-sched",
        "*//NoSchedule/",
        &["k-sched", "k=v-sched", "k=w-sched", "l-sched", "l=w-sched"],
    ),
    (
        "all-exec",
        "*//NoExecute/",
        &["k-exec", "k=v-exec", "k-exec-10", "k-exec-0", "k=v-exec-10"],
    ),
    (
        "k",
        "k*///",
        &[
            "k=v",
            "k-sched",
            "k=v-sched",
            "k=w-sched",
            "k-prefer",
            "k-exec",
            "k=v-exec",
            "k-exec-10",
            "k-exec-0",
            "k=v-exec-10",
        ],
    ),
    ("k=v", "k/v//", &["k=v-sched", "k=v-exec", "k=v-exec-10"]),
    ("k-sched", "k*//NoSchedule/", &["k=v-sched", "k=w-sched"]),
    ("k=v-sched", "k/v/NoSchedule/", &[]),
    ("k=w-sched", "k/w/NoSchedule/", &[]),
    ("l-sched", "l*//NoSchedule/", &["l=w-sched"]),
    ("l=w-sched", "l/w/NoSchedule/", &[]),
    ("k-prefer", "k*//PreferNoSchedule/", &[]),
    (
        "k-exec",
        "k*//NoExecute/",
        &["k=v-exec", "k-exec-10", "k-exec-0", "k=v-exec-10"],
    ),
    ("k=v-exec", "k/v/NoExecute/", &["k=v-exec-10"]),
    (
        "k-exec-10",
        "k*//NoExecute/10",
        &["k-exec-0", "k=v-exec-10"],
    ),
    ("k-exec-0", "k*//NoExecute/0", &[]),
    ("k=v-exec-10", "k/v/NoExecute/10", &[]),
];

/// Reads `key[*]/value/effect/seconds`.
fn read(text: &'static str) -> Toleration<'static> {
    let parts: Vec<&str> = text.split('/').collect();
    Toleration {
        key: parts[0].trim_end_matches('*').into(),
        operator: if parts[0].ends_with('*') {
            "Exists"
        } else {
            "Equal"
        }
        .into(),
        value: parts[1].into(),
        effect: parts[2].into(),
        toleration_seconds: parts[3].parse().ok(),
    }
}

fn named(name: &str) -> Toleration<'static> {
    let (_, text, _) = ZOO.iter().find(|(n, ..)| *n == name).expect(name);
    read(text)
}

fn all_named(names: &[&str]) -> Vec<Toleration<'static>> {
    names.iter().map(|name| named(name)).collect()
}

#[test]
fn each_covers_itself_and_what_is_narrower_and_nothing_else() {
    for (wider, _, narrower) in ZOO {
        for (other, ..) in ZOO {
            assert_eq!(
                covers(&named(wider), &named(other)),
                wider == other || narrower.contains(other),
                "{wider} over {other}"
            );
        }
    }
}

#[test]
fn an_operator_left_out_covers_what_says_equal_but_not_what_leaves_it_out() {
    let silent = |effect: &'static str| Toleration {
        operator: "".into(),
        effect: effect.into(),
        ..named("k=v")
    };
    assert!(covers(&silent(""), &named("k=v-sched")));
    assert!(covers(&silent(""), &silent("")));
    assert!(!covers(&silent(""), &silent("NoSchedule")));
    assert!(!covers(&named("k=v"), &silent("NoSchedule")));
}

#[test]
fn an_unknown_operator_covers_nothing_but_itself() {
    let odd = Toleration {
        operator: "Gt".into(),
        ..named("k=v")
    };
    assert!(covers(&odd, &odd));
    assert!(!covers(&odd, &named("k=v")));
}

#[test]
fn seconds_count_only_where_the_wider_one_is_for_no_execute() {
    let limited = Toleration {
        toleration_seconds: Some(1),
        ..named("k")
    };
    assert!(covers(&limited, &named("k-exec")));
}

#[test]
fn allowed_is_what_one_of_the_list_covers() {
    let cases: &[(&[&str], &[&str], bool)] = &[
        (
            &["k=v-sched", "k=w-sched"],
            &["k=v-sched", "k=w-sched"],
            true,
        ),
        (
            &["k=v-sched", "k=v-sched"],
            &["k=v-sched", "k=w-sched"],
            true,
        ),
        (&["k=v-sched", "k=v-sched"], &["all"], true),
        (&["k=v-sched", "k=v-sched"], &["k=w-sched"], false),
        (&["k=v-sched", "k=w-sched"], &["k=w-sched"], false),
        (&["k=v"], &["k-sched"], false),
        (&["k-exec"], &["k-exec-10"], false),
        (&["k-exec-10"], &["k-exec-0"], false),
        (&["k-exec-0"], &["k-exec-10"], true),
        (&["k=v"], &[], true),
        (&[], &["k=v"], true),
    ];
    for (tolerations, allowed, expected) in cases {
        assert_eq!(
            are_allowed(&all_named(tolerations), &all_named(allowed)),
            *expected,
            "{tolerations:?} in {allowed:?}"
        );
    }
}

#[test]
fn merging_keeps_the_widest_in_order() {
    let cases: &[(&[&str], &[&str])] = &[
        (
            &[
                "k=v-sched",
                "l=w-sched",
                "k-exec-10",
                "k-prefer",
                "k=w-sched",
            ],
            &[
                "k=v-sched",
                "l=w-sched",
                "k-exec-10",
                "k-prefer",
                "k=w-sched",
            ],
        ),
        (
            &["k=v-sched", "k-exec-10", "k=v-sched", "k-exec-10"],
            &["k=v-sched", "k-exec-10"],
        ),
        (
            &["k=v-sched", "k=w-sched", "k-sched", "l=w-sched"],
            &["k-sched", "l=w-sched"],
        ),
        (&["k=v-sched", "k=w-sched", "k-exec-10", "all"], &["all"]),
        (&["all", "k=v-sched", "k=w-sched", "k-exec-10"], &["all"]),
        (&[], &[]),
    ];
    for (all, expected) in cases {
        let stays = without_covered(&all_named(all));
        assert_eq!(stays.len(), all.len());
        let kept = all.iter().zip(stays).filter(|(_, stays)| *stays);
        let kept: Vec<&str> = kept.map(|(name, _)| *name).collect();
        assert_eq!(&kept, expected, "{all:?}");
    }
}

#[test]
fn merging_loses_nothing() {
    let zoo: Vec<_> = ZOO.iter().map(|(_, text, _)| read(text)).collect();
    for first in &zoo {
        for second in &zoo {
            for third in &zoo {
                let all = [first.clone(), second.clone(), third.clone()];
                let stays = without_covered(&all);
                let is_kept = |one: &Toleration<'_>| {
                    let mut kept = all.iter().zip(&stays).filter(|(_, stays)| **stays);
                    kept.any(|(wider, _)| covers(wider, one))
                };
                assert!(all.iter().all(is_kept), "{all:?}");
            }
        }
    }
}

#[test]
fn only_what_is_set_is_written() {
    assert_eq!(to_json(&named("all")), json!({"operator": "Exists"}));
    assert_eq!(
        to_json(&named("k=v-exec-10")),
        json!({
            "key": "k", "operator": "Equal", "value": "v", "effect": "NoExecute",
            "tolerationSeconds": 10,
        })
    );
    assert_eq!(to_json(&named("k-exec-0"))["tolerationSeconds"], 0);
}

#[test]
fn faults_of_configured_tolerations_name_their_place() {
    let cases = [
        ("k/v/NoSchedule/", ""),
        ("*///", ""),
        (
            "/v//",
            "default[0].operator: Invalid value: \"Equal\": operator must be Exists",
        ),
        (
            "a b*///",
            "default[0].key: Invalid value: \"a b\": name part must consist of",
        ),
        (
            "k*//NoSchedule/5",
            "default[0].effect: Invalid value: \"NoSchedule\": effect must be",
        ),
        (
            "k*/v//",
            "default[0].value: Invalid value: \"v\": value must be empty",
        ),
        (
            "k/a b//",
            "default[0].value: Invalid value: \"a b\": a valid label must be",
        ),
        (
            "k*//Never/",
            "default[0].effect: Unsupported value: \"Never\": supported values: \"NoSchedule\", \
             \"PreferNoSchedule\", \"NoExecute\"",
        ),
    ];
    for (text, expected) in cases {
        let found: Vec<String> = faults("default", &[read(text)])
            .iter()
            .map(ToString::to_string)
            .collect();
        assert_eq!(found.is_empty(), expected.is_empty(), "{text}: {found:?}");
        assert!(found.concat().starts_with(expected), "{text}: {found:?}");
    }
    for operator in ["Lt", "Gt", "exists"] {
        let odd = Toleration {
            operator: operator.into(),
            ..named("k=v")
        };
        let found = faults("whitelist", &[odd]);
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].path, "whitelist[0].operator");
        assert!(
            found[0]
                .message
                .ends_with("supported values: \"Equal\", \"Exists\"")
        );
    }
}
