//! What is not known is read, within bounds; what can't be read is denied.

use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use portcullis_core::{
    Attributes, Chain, ChainEntry, FailureMode, Operation, Phase, UserInfo, clock,
};
use serde_json::{Value, json};

use super::super::ScopedProfile;
use super::world::{
    Server, finished_by, object, outcome, plugin, poll, profile, refusal, request, short, state,
    user,
};

/// Agents of sites; `Thing` is watched, `Secret` is not.
const SITES: &str = "
kind: RelationshipGraph
targets: [Site]
vertices:
  Site: {resource: sites}
  Thing: {group: example.org, resource: things, namespaced: true}
  Secret: {resource: secrets, namespaced: true}
sources:
  - kind: Thing
    keep: [site]
    edges: [{to: Site, names: self.site}]
subjects:
  - {id: agent, user: 'agent:{name}', groups: [agents], target: {kind: Site, name: '{name}'}}
admission:
  skipExisting: true
  rules:
    - resources: [parts]
      operations: [CREATE]
      cases:
        - when: request.name == 'plain'
        - let: [{name: thing, value: \"lookup('Thing', 'ns', object.of)\"}]
          require: [{that: thing.site == subject.name, message: not yours}]
    - resources: [keys]
      operations: [CREATE]
      cases:
        - let: [{name: secret, value: \"lookup('Secret', 'ns', object.of)\"}]
          require:
            - {that: secret.site == subject.name, message: not yours}
    - resources: [chains]
      operations: [CREATE]
      cases:
        - let:
            - {name: a, value: \"lookup('Secret', 'ns', object.of).next\"}
            - {name: b, value: \"lookup('Secret', 'ns', a).next\"}
            - {name: c, value: \"lookup('Secret', 'ns', b).next\"}
            - {name: d, value: \"lookup('Secret', 'ns', c).next\"}
            - {name: e, value: \"lookup('Secret', 'ns', d).next\"}
            - {name: f, value: \"lookup('Secret', 'ns', e).next\"}
            - {name: g, value: \"lookup('Secret', 'ns', f).next\"}
            - {name: h, value: \"lookup('Secret', 'ns', g).next\"}
            - {name: i, value: \"lookup('Secret', 'ns', h).next\"}
          require: [{that: i == 'end' || c == 'end', message: no end}]
    - resources: [many]
      operations: [CREATE]
      cases:
        - require: [{that: \"object.of.all(n, lookup('Secret', 'ns', n) != null)\", message: one is missing}]
    - resources: [secrets, things.example.org]
      operations: [CREATE]
      cases: []
      otherwise: {message: never}
";

fn agent() -> UserInfo {
    user("agent:north", &["agents"])
}

#[expect(clippy::needless_pass_by_value, reason = "shorter calls")]
fn asks(resource: &str, of: Value) -> Attributes {
    let object = object("v1", "Any", "ns/new", json!({"of": of}));
    request(agent(), Operation::Create, resource, object)
}

fn thing(name: &str, site: &str) -> Value {
    object(
        "example.org/v1",
        "Thing",
        &format!("ns/{name}"),
        json!({"site": site}),
    )
}

/// Reads `things ns/live`, `secrets ns/live` and a chain of secrets.
fn server() -> Server {
    let mut server = Server::default();
    for kind in ["things", "secrets"] {
        server
            .objects
            .insert(format!("{kind} ns/live"), json!({"site": "north"}));
    }
    for (from, to) in [
        ("a", "b"),
        ("b", "c"),
        ("c", "end"),
        ("l1", "l2"),
        ("l2", "l1"),
    ] {
        server
            .objects
            .insert(format!("secrets ns/{from}"), json!({"next": to}));
    }
    for n in 0..10 {
        let next = json!({"next": format!("k{}", n + 1)});
        server.objects.insert(format!("secrets ns/k{n}"), next);
    }
    server
}

fn reading(server: &Arc<Server>) -> ScopedProfile {
    ScopedProfile {
        reader: Some(Arc::clone(server) as _),
        ..profile(
            "sites",
            SITES,
            &[thing("here", "north"), thing("there", "south")],
        )
    }
}

#[test]
fn what_is_watched_is_not_read_and_what_is_missing_is() {
    let server = Arc::new(server());
    let plugin = plugin(vec![reading(&server)]);
    assert_eq!(short(&plugin, &asks("parts", json!("here"))), "ok");
    assert!(server.take_reads().is_empty());
    assert_eq!(short(&plugin, &asks("parts", json!("there"))), "403");
    assert!(server.take_reads().is_empty());
    // The watch may lag behind.
    assert_eq!(short(&plugin, &asks("parts", json!("live"))), "ok");
    assert_eq!(server.take_reads(), ["things ns/live"]);
    assert_eq!(short(&plugin, &asks("parts", json!("gone"))), "403");
    assert_eq!(server.take_reads(), ["things ns/gone"]);
    assert_eq!(short(&plugin, &asks("keys", json!("live"))), "ok");
    assert_eq!(server.take_reads(), ["secrets ns/live"]);
}

#[test]
fn what_exists_is_asked_of_the_server_and_not_of_the_watch() {
    let server = Arc::new(server());
    let with_reader = plugin(vec![reading(&server)]);
    let create = |resource: &str, key: &str| {
        request(
            agent(),
            Operation::Create,
            resource,
            object("v1", "Any", key, json!({})),
        )
    };
    assert_eq!(short(&with_reader, &create("secrets", "ns/live")), "ok");
    assert_eq!(short(&with_reader, &create("secrets", "ns/gone")), "403");
    assert_eq!(server.take_reads(), ["secrets ns/live", "secrets ns/gone"]);
    // The watch still has it, the server does not.
    assert_eq!(
        short(&with_reader, &create("things.example.org", "ns/here")),
        "403"
    );
    let without = plugin(vec![profile("sites", SITES, &[thing("here", "north")])]);
    assert_eq!(
        short(&without, &create("things.example.org", "ns/here")),
        "ok"
    );
    assert_eq!(short(&without, &create("secrets", "ns/live")), "403");
}

#[test]
fn what_can_not_be_read_refuses() {
    let broken = Arc::new(Server {
        broken: Some("connection refused".to_owned()),
        ..server()
    });
    let with_broken = plugin(vec![reading(&broken)]);
    let denial = refusal(outcome(&with_broken, &asks("keys", json!("live"))));
    assert_eq!(
        (denial.code, denial.reason.as_ref()),
        (500, "InternalError")
    );
    assert_eq!(
        denial.message,
        "profile sites can't decide: Secret \\\"live\\\" could not be read: connection refused"
    );
    // If it can't be determined whether it exists, the check goes on.
    let existing = request(
        agent(),
        Operation::Create,
        "secrets",
        object("v1", "Secret", "ns/live", json!({})),
    );
    assert_eq!(short(&with_broken, &existing), "403");
    // Without an API server other kinds are not known.
    let without = plugin(vec![profile("sites", SITES, &[])]);
    assert_eq!(short(&without, &asks("keys", json!("live"))), "500?");
    assert_eq!(short(&without, &asks("parts", json!("live"))), "403");
}

#[test]
fn no_failure_mode_lets_it_pass() {
    for failure in [FailureMode::Open, FailureMode::Closed] {
        let without = plugin(vec![profile("sites", SITES, &[])]);
        let entry = ChainEntry::new("ScopedAccess", without).failure(failure);
        let mut asked = asks("keys", json!("live"));
        let verdict = Chain::new(vec![entry]).decide(&mut asked);
        assert!(!verdict.is_allowed() && verdict.is_undecided());
        assert_eq!(verdict.policy.as_deref(), Some("sites"));
    }
}

#[test]
fn rounds_and_reads_are_bounded() {
    let server = Arc::new(server());
    let plugin = plugin(vec![reading(&server)]);
    assert_eq!(short(&plugin, &asks("chains", json!("a"))), "ok");
    assert_eq!(server.take_reads().len(), 4);
    assert_eq!(short(&plugin, &asks("chains", json!("k0"))), "500?");
    assert_eq!(server.take_reads().len(), 8);
    // A loop is read once around.
    assert_eq!(short(&plugin, &asks("chains", json!("l1"))), "403");
    let reads = server.take_reads();
    assert!(
        reads.starts_with(&["secrets ns/l1".to_owned(), "secrets ns/l2".to_owned()]),
        "{reads:?}"
    );
    let names = |count: usize| json!((0..count).map(|n| format!("n{n}")).collect::<Vec<_>>());
    assert_eq!(short(&plugin, &asks("many", names(1000))), "500?");
    assert!(server.take_reads().len() <= 16);
}

#[test]
fn time_is_bounded() {
    let server = Arc::new(server());
    let quick = plugin(vec![reading(&server)]);
    let past = clock::monotonic();
    let finished = finished_by(&quick, &asks("keys", json!("live")), Some(past));
    let denial = refusal(finished.outcome.expect("an outcome"));
    assert!(
        denial.message.contains("could not be read in time"),
        "{}",
        denial.message
    );
    assert!(server.take_reads().is_empty());
    // What needs no reading needs no time.
    let finished = finished_by(&quick, &asks("parts", json!("here")), Some(past));
    assert_eq!(
        finished.outcome.expect("an outcome"),
        portcullis_core::Outcome::Pass
    );
    // While an object is being read, it waits.
    let stuck = Arc::new(Server {
        is_stuck: true,
        ..Server::default()
    });
    let waiting = plugin(vec![reading(&stuck)]);
    let deadline = clock::monotonic() + Duration::from_mins(1);
    let mut pending = waiting.begin(
        Phase::Validate,
        &asks("keys", json!("live")),
        Some(deadline),
    );
    assert!(matches!(poll(&mut pending), Poll::Pending));
}

#[test]
fn names_that_would_change_a_path_are_not_read() {
    let server = Arc::new(server());
    let plugin = plugin(vec![reading(&server)]);
    for name in [
        "..",
        ".",
        "a/b",
        "../secrets/live",
        "a?b",
        "a%2fb",
        "a#b",
        "a b",
        "é",
        "a\0b",
        &"x".repeat(300),
    ] {
        assert_eq!(
            short(&plugin, &asks("keys", json!(name))),
            "403",
            "{name:?}"
        );
    }
    assert!(server.take_reads().is_empty());
}

#[test]
fn before_the_graph_has_caught_up_only_what_needs_it_waits() {
    let unready = || ScopedProfile {
        name: Arc::from("sites"),
        state: state(SITES, &[thing("here", "north")]),
        reader: None,
    };
    let without = plugin(vec![unready()]);
    let denial = refusal(outcome(&without, &asks("parts", json!("here"))));
    assert_eq!(denial.code, 500);
    assert!(
        denial
            .message
            .ends_with("the relationship graph has not caught up"),
        "{}",
        denial.message
    );
    let plain = request(
        agent(),
        Operation::Create,
        "parts",
        object("v1", "Part", "ns/plain", json!({})),
    );
    assert_eq!(short(&without, &plain), "ok");
    let server = Arc::new(server());
    let with_reader = plugin(vec![ScopedProfile {
        reader: Some(Arc::clone(&server) as _),
        ..unready()
    }]);
    assert_eq!(short(&with_reader, &asks("parts", json!("live"))), "ok");
    assert_eq!(short(&with_reader, &asks("parts", json!("here"))), "403");
    assert_eq!(server.take_reads(), ["things ns/live", "things ns/here"]);
}

#[test]
fn every_profile_that_knows_the_user_must_agree() {
    let strict = SITES
        .replace("resources: [parts]", "resources: [keys]")
        .replace("resources: [chains]", "resources: [parts]");
    let strict = strict.replace("i == 'end' || c == 'end'", "false");
    let ask =
        |profiles: Vec<ScopedProfile>| short(&plugin(profiles), &asks("parts", json!("here")));
    let lenient = || profile("lenient", SITES, &[thing("here", "north")]);
    let strict = || profile("strict", &strict, &[]);
    let foreign = || {
        profile(
            "foreign",
            &SITES.replace("agent:{name}", "other:{name}"),
            &[],
        )
    };
    assert_eq!(ask(vec![lenient()]), "ok");
    assert_eq!(ask(vec![lenient(), foreign()]), "ok");
    assert_eq!(ask(vec![foreign()]), "none");
    assert_eq!(ask(vec![]), "none");
    assert_ne!(ask(vec![lenient(), strict()]), "ok");
    assert_ne!(ask(vec![strict(), lenient()]), "ok");
    let without_rules = SITES.split("admission:").next().expect("a part");
    assert_eq!(ask(vec![profile("silent", without_rules, &[])]), "none");
}
