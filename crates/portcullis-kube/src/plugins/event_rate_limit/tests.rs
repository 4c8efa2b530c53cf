//! Floods of events against each kind of limit.

use std::sync::Arc;
use std::time::Duration;

use portcullis_core::{Attributes, Outcome, Plugin};
use serde_json::{Value, json};

use super::super::testing::{
    configured, create, create_pod, denial, faults, registry, update, validate,
};

const NAME: &str = "EventRateLimit";

fn limited(limits: Value) -> Arc<dyn Plugin> {
    configured(&registry(&[]), NAME, configuration(limits))
}

#[expect(clippy::needless_pass_by_value, reason = "shorter calls")]
fn configuration(limits: Value) -> Value {
    json!({
        "apiVersion": "eventratelimit.admission.k8s.io/v1alpha1",
        "kind": "Configuration",
        "limits": limits,
    })
}

fn limit(kind: &str, burst: i32) -> Value {
    json!({"type": kind, "qps": 1, "burst": burst, "cacheSize": 2})
}

fn event(object: Value) -> Attributes {
    create("Event", "events", object)
}

/// Which of these requests pass, all coming at once.
fn pass(plugin: &Arc<dyn Plugin>, requests: &[Attributes]) -> Vec<bool> {
    let at = event(json!({})).received;
    let requests = requests.iter().cloned().map(|request| Attributes {
        received: at,
        ..request
    });
    requests
        .map(|request| match validate(plugin, &request) {
            Outcome::Deny(denial) => {
                assert_eq!(
                    (denial.code, denial.reason.as_ref()),
                    (429, "TooManyRequests")
                );
                assert_eq!(denial.retry_after_seconds, None);
                false
            }
            _ => true,
        })
        .collect()
}

#[test]
fn events_are_refused_once_the_burst_is_used_up() {
    let plugin = limited(json!([limit("Server", 3)]));
    let events: Vec<_> = (0..4).map(|_| event(json!({}))).collect();
    assert_eq!(pass(&plugin, &events), [true, true, true, false]);
}

#[test]
fn updates_of_events_count_like_new_ones() {
    let plugin = limited(json!([limit("Server", 1)]));
    let again = update(event(json!({})), json!({}));
    assert_eq!(pass(&plugin, &[event(json!({})), again]), [true, false]);
}

#[test]
fn tokens_come_back_with_the_time_of_the_request() {
    let plugin = limited(json!([limit("Server", 1)]));
    let first = event(json!({}));
    let after = |ms| Attributes {
        received: first.received + Duration::from_millis(ms),
        ..first.clone()
    };
    for (ms, passes) in [
        (0, true),
        (500, false),
        (1000, true),
        (1999, false),
        (2000, true),
    ] {
        assert_eq!(
            validate(&plugin, &after(ms)) == Outcome::Pass,
            passes,
            "{ms}"
        );
    }
}

#[test]
fn other_kinds_neither_count_nor_are_refused() {
    let plugin = limited(json!([limit("Server", 1)]));
    let mut elsewhere = event(json!({}));
    elsewhere.kind.group = "events.k8s.io".into();
    for request in [&create_pod(json!({})), &elsewhere] {
        let outcome = validate(&plugin, request);
        assert!(matches!(outcome, Outcome::NotApplicable(_)));
    }
    let one = event(json!({}));
    assert_eq!(pass(&plugin, &[one.clone(), one]), [true, false]);
    assert!(matches!(
        validate(&plugin, &elsewhere),
        Outcome::NotApplicable(_)
    ));
}

#[test]
fn dry_runs_pass_and_take_no_token() {
    let plugin = limited(json!([limit("Server", 2)]));
    let real = event(json!({}));
    let dry = Attributes {
        dry_run: true,
        ..real.clone()
    };
    let requests = [
        real.clone(),
        dry.clone(),
        dry.clone(),
        real.clone(),
        real,
        dry,
    ];
    assert_eq!(
        pass(&plugin, &requests),
        [true, true, true, true, false, true]
    );
}

/// Requests that differ in what is set on them, given by letters.
fn lettered(letters: &str, set: impl Fn(&mut Attributes, String)) -> Vec<Attributes> {
    let one = |letter: char| {
        let mut request = event(json!({}));
        set(&mut request, letter.to_string());
        request
    };
    letters.chars().map(one).collect()
}

#[test]
fn namespaces_users_and_sources_have_buckets_of_their_own() {
    let component = |request: &mut Attributes, letter: String| {
        *request = event(json!({"source": {"component": letter}}));
    };
    let sequences = [
        ("AAAA", vec![true, true, true, false]),
        ("AAAB", vec![true, true, true, true]),
        ("AABA", vec![true, true, true, true]),
        ("AAABA", vec![true, true, true, true, false]),
        // C takes the place of B, which is then new again.
        (
            "AABBBABACAB",
            vec![
                true, true, true, true, true, true, false, false, true, false, true,
            ],
        ),
    ];
    for (letters, expected) in sequences {
        let by_namespace = lettered(letters, |request, letter| request.namespace = letter);
        let plugin = limited(json!([limit("Server", 100), limit("Namespace", 3)]));
        assert_eq!(pass(&plugin, &by_namespace), expected, "{letters}");
        let by_user = lettered(letters, |request, letter| request.user.username = letter);
        let plugin = limited(json!([limit("User", 3)]));
        assert_eq!(pass(&plugin, &by_user), expected, "{letters}");
        let plugin = limited(json!([limit("SourceAndObject", 3)]));
        assert_eq!(
            pass(&plugin, &lettered(letters, component)),
            expected,
            "{letters}"
        );
    }
}

#[test]
fn all_of_source_and_object_tells_events_apart() {
    let places = [
        ("source", "component"),
        ("source", "host"),
        ("involvedObject", "kind"),
        ("involvedObject", "namespace"),
        ("involvedObject", "name"),
        ("involvedObject", "uid"),
        ("involvedObject", "apiVersion"),
    ];
    for (outer, inner) in places {
        let plugin = limited(json!([limit("SourceAndObject", 1)]));
        let requests = ["A", "A", "B"].map(|value| event(json!({outer: {inner: value}})));
        assert_eq!(
            pass(&plugin, &requests),
            [true, false, true],
            "{outer}.{inner}"
        );
    }
    let plugin = limited(json!([limit("SourceAndObject", 1)]));
    let other = ["A", "B"]
        .map(|value| event(json!({"reason": value, "involvedObject": {"fieldPath": value}})));
    assert_eq!(pass(&plugin, &other), [true, false]);
}

#[test]
fn every_limit_is_charged_though_another_refuses() {
    let plugin = limited(json!([limit("Server", 1), limit("Namespace", 2)]));
    let by_namespace = lettered("AAAB", |request, letter| request.namespace = letter);
    assert_eq!(pass(&plugin, &by_namespace), [true, false, false, false]);
    let request = Attributes {
        received: by_namespace[0].received,
        ..by_namespace[0].clone()
    };
    assert_eq!(
        denial(validate(&plugin, &request)).message,
        "Too many requests: [limit reached on type Server for key , limit reached on type \
         Namespace for key A]"
    );
}

#[test]
fn the_text_names_the_limit_and_the_key() {
    let plugin = limited(json!([limit("User", 1)]));
    let request = event(json!({}));
    assert_eq!(validate(&plugin, &request), Outcome::Pass);
    assert_eq!(
        denial(validate(&plugin, &request)).message,
        "Too many requests: limit reached on type User for key alice"
    );
}

#[test]
fn a_long_key_is_cut_in_the_text() {
    let plugin = limited(json!([limit("SourceAndObject", 1)]));
    let request = event(json!({"source": {"host": "ä".repeat(100_000)}}));
    assert_eq!(validate(&plugin, &request), Outcome::Pass);
    let message = denial(validate(&plugin, &request)).message;
    assert!(message.ends_with('…') && message.len() < 700);
}

#[test]
fn an_event_that_can_not_be_read_is_refused_and_takes_no_token() {
    let plugin = limited(json!([limit("Server", 1), limit("SourceAndObject", 1)]));
    for object in [
        json!({"source": "me"}),
        json!({"involvedObject": {"name": 1}}),
        json!([]),
    ] {
        assert_eq!(denial(validate(&plugin, &event(object))).code, 400);
    }
    let mut without_object = event(json!({}));
    without_object.object = None;
    assert_eq!(validate(&plugin, &without_object), Outcome::Pass);
}

#[test]
fn many_threads_share_the_tokens() {
    let plugin = limited(json!([{"type": "Namespace", "qps": 1, "burst": 100}]));
    let request = event(json!({}));
    let passed: usize = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..8)
            .map(|_| {
                scope.spawn(|| {
                    let outcomes = (0..50).map(|_| validate(&plugin, &request));
                    outcomes.filter(|o| *o == Outcome::Pass).count()
                })
            })
            .collect();
        workers
            .into_iter()
            .map(|w| w.join().expect("no panic"))
            .sum()
    });
    assert_eq!(passed, 100);
}

#[test]
fn faults_of_the_configuration_name_their_place() {
    let registry = registry(&[]);
    let one = |limit: Value| configuration(json!([limit]));
    let cases = [
        (json!(null), "limits: must not be empty"),
        (configuration(json!([])), "limits: must not be empty"),
        (configuration(json!(null)), "limits: must not be empty"),
        (json!({"limits": []}), "apiVersion: missing"),
        (
            one(json!({"type": "server", "qps": 1, "burst": 1})),
            "limits[0].type: Unsupported value: \"server\": supported values: \"Server\", \
             \"Namespace\", \"User\", \"SourceAndObject\"",
        ),
        (
            one(json!({"qps": 1, "burst": 1})),
            "limits[0].type: Unsupported value: \"\"",
        ),
        (
            one(json!({"type": "Server", "burst": 1})),
            "limits[0].qps: Invalid value: 0: must be positive",
        ),
        (
            one(json!({"type": "Server", "qps": 1, "burst": -1})),
            "limits[0].burst: Invalid value: -1: must be positive",
        ),
        (
            one(json!({"type": "User", "qps": 1, "burst": 1, "cacheSize": -1})),
            "limits[0].cacheSize: Invalid value: -1: must not be negative",
        ),
        (
            one(json!({"type": "User", "qps": 0.5, "burst": 1})),
            "limits[0].qps: expected a whole number, found the number `0.5`",
        ),
        (
            one(json!(["Server", 1, 1, 1])),
            "limits[0]: expected a map, found a list",
        ),
        (
            one(json!({"type": "User", "qps": 1, "burst": 1, "cache": 1})),
            "limits[0].cache: unknown key, did you mean `cacheSize`?",
        ),
    ];
    for (configuration, expected) in cases {
        let found = faults(&registry, NAME, configuration);
        assert!(found.concat().starts_with(expected), "{found:?}");
    }
    let all = json!([{"type": "x"}, {"type": "User", "qps": 1, "burst": 1}, {"cacheSize": -5}]);
    assert_eq!(faults(&registry, NAME, configuration(all)).len(), 7);
    let ignored = json!([{"type": "Server", "qps": 1, "burst": 1, "cacheSize": -1}]);
    assert_eq!(
        faults(&registry, NAME, configuration(ignored)),
        [] as [&str; 0]
    );
}

#[test]
fn the_schema_says_what_is_required() {
    let registry = registry(&[]);
    let schema = registry.get(NAME).and_then(|d| d.schema.as_ref());
    let schema = schema.expect("a schema");
    assert_eq!(schema["required"], json!(["apiVersion", "kind", "limits"]));
    let limit = &schema["$defs"]["ConfiguredLimit"];
    assert_eq!(limit["required"], json!(["type", "qps", "burst"]));
    assert_eq!(
        limit["properties"]["type"]["enum"].as_array().map(Vec::len),
        Some(4)
    );
    assert_eq!(limit["properties"]["qps"]["minimum"], 1);
}
