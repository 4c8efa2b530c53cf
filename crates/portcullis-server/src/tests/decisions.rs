//! Decisions over REST: what is listed, found and filtered, and who may read it.

use serde_json::{Value, json};

use super::harness::{Answer, Gate, Review, access, pod, pod_security, privileged, request, until};

/// A configuration whose REST API is at a unix socket.
fn with_socket(mut config: Value) -> Value {
    let socket = json!({"name": "api", "unix": {"path": "api.sock"}, "serves": ["api"]});
    config["listeners"] = json!([socket]);
    config
}

/// Asks the REST API at the unix socket.
#[track_caller]
fn ask(gate: &Gate, path: &str) -> Answer {
    gate.at("api").get(path)
}

/// What a list over REST holds.
#[track_caller]
fn items(gate: &Gate, query: &str) -> Vec<Value> {
    let answer = ask(gate, &format!("/api/v1/decisions{query}"));
    assert_eq!(answer.status, 200, "{}", answer.text());
    answer.json()["items"].as_array().unwrap().clone()
}

/// The creation of a pod of this name by this user.
fn creation(name: &str, user: &str) -> Review {
    let mut pod = pod();
    pod["metadata"]["name"] = name.into();
    Review::create(&pod).set("userInfo", json!({"username": user}))
}

/// A gate with a few decisions of each kind.
fn with_history() -> Gate {
    let mut config = with_socket(pod_security(&json!({"enforce": "baseline"})));
    config["authorization"] = json!({"chains": {"default": ["AlwaysAllow"], "no": ["AlwaysDeny"]}});
    config["policies"] = json!([
        {"name": "no-curse", "code": "if (object.metadata.name === 'cursed') return 'cursed'"},
        {"name": "trial", "mode": "dry-run", "code": "return 'not so'"},
    ]);
    config["defaultAction"] = json!("allow");
    let gate = Gate::start(config);
    gate.ask("/mutate", &creation("fine", "alice")).allowed();
    gate.validate(&privileged()).denied("privileged");
    gate.ask("/validate", &creation("cursed", "bob"))
        .denied("cursed");
    gate.access("/authorize", &access("v1", "carol", &[], &json!({})));
    gate.access(
        "/authorize/no",
        &access("v1", "carol", &[], &json!({"verb": "delete"})),
    );
    until("five decisions", || items(&gate, "").len() == 5);
    gate
}

#[test]
fn the_list_shows_what_was_decided_and_one_shows_all_of_it() {
    let gate = with_history();
    let all = items(&gate, "");
    let cursed = all.iter().find(|d| d["name"] == "cursed").unwrap();
    for (key, value) in [
        ("door", json!("kubernetes")),
        ("operation", json!("CREATE")),
        ("kind", json!("Pod")),
        ("namespace", json!("default")),
        ("user", json!("bob")),
        ("verdict", json!("deny")),
        ("mutated", json!(false)),
        ("plugin", json!("Policies")),
        ("policy", json!("no-curse")),
        ("message", json!("no-curse: cursed")),
    ] {
        assert_eq!(cursed[key], value, "{key}: {cursed}");
    }
    assert!(cursed["digest"].as_str().unwrap().starts_with("sha256:"));
    assert!(cursed["gate"].as_str().unwrap().starts_with("sha256:"));
    for key in ["trace", "input", "patch"] {
        assert!(cursed.get(key).is_none(), "{key}");
    }
    let id = cursed["id"].as_str().unwrap();
    let answer = ask(&gate, &format!("/api/v1/decisions/{id}"));
    assert_eq!(answer.status, 200);
    let whole = answer.json();
    let policies = whole["trace"]
        .as_array()
        .unwrap()
        .iter()
        .find(|step| step["plugin"] == "Policies")
        .map(|step| step["policies"].clone())
        .unwrap();
    assert_eq!(policies[0]["outcome"], "deny");
    assert!(policies[0]["duration_us"].is_u64(), "{policies}");
    assert_eq!(policies[1]["outcome"], "skip");
    let review = &whole["input"]["review"]["request"];
    assert_eq!(review["object"]["spec"], pod()["spec"]);
    assert_eq!(whole["input"]["webhook"]["name"], "validate");
    // ULIDs don't care about the case.
    let lower = ask(&gate, &format!("/api/v1/decisions/{}", id.to_lowercase()));
    assert_eq!(lower.json(), whole);
}

#[test]
fn an_access_review_is_a_decision_with_its_verb_and_resource() {
    let gate = with_history();
    let all = items(&gate, "?door=authorization");
    assert_eq!(all.len(), 2);
    assert_eq!(all[0]["operation"], "delete");
    assert_eq!(all[0]["verdict"], "deny");
    assert_eq!(all[0]["plugin"], "AlwaysDeny");
    assert_eq!(all[1]["kind"], "pods");
    assert_eq!(all[1]["namespace"], "dev");
    assert_eq!(all[1]["user"], "carol");
    assert_eq!(all[1]["verdict"], "allow");
}

#[test]
fn filters_have_the_names_of_the_flags() {
    let gate = with_history();
    for (query, count) in [
        ("?user=bob", 1),
        ("?verdict=deny", 3),
        ("?verdict=deny&door=kubernetes", 2),
        ("?kind=Pod", 3),
        ("?namespace=dev", 2),
        ("?policy=PodSecurity", 1),
        ("?policy=no-curse", 1),
        // Also where it would have denied, had it been in force.
        ("?policy=trial", 2),
        ("?policy=never-heard-of", 0),
        ("?since=1h", 5),
        ("?until=1h", 0),
        ("?since=2001-01-01T00:00:00Z&user=alice", 2),
        ("?user=al%69ce", 2),
    ] {
        assert_eq!(items(&gate, query).len(), count, "{query}");
    }
    for (query, word) in [
        ("?verdict=maybe", "verdict"),
        ("?door=back", "door"),
        ("?since=yesterday", "since"),
        ("?limit=0", "limit"),
        ("?limit=many", "limit"),
        ("?usr=bob", "usr"),
        ("?user=a&user=b", "user"),
    ] {
        let answer = ask(&gate, &format!("/api/v1/decisions{query}"));
        assert_eq!(answer.status, 400, "{query}");
        let message = answer.json()["error"]["message"].to_string();
        assert!(message.contains(word), "{query}: {message}");
    }
}

#[test]
fn pages_follow_one_another_without_a_gap() {
    let gate = with_history();
    let all: Vec<Value> = items(&gate, "").iter().map(|d| d["id"].clone()).collect();
    let (mut seen, mut next) = (Vec::new(), None);
    loop {
        let after = next.map_or(String::new(), |n: String| format!("&after={n}"));
        let page = ask(&gate, &format!("/api/v1/decisions?limit=2{after}")).json();
        seen.extend(
            page["items"]
                .as_array()
                .unwrap()
                .iter()
                .map(|d| d["id"].clone()),
        );
        match page["next"].as_str() {
            Some(more) => next = Some(more.to_owned()),
            None => break,
        }
    }
    assert_eq!(seen, all);
}

#[test]
fn what_is_not_there_is_404() {
    let gate = with_history();
    for path in [
        "/api/v1/decisions/01ARZ3NDEKTSV4RRFFQ69G5FAV",
        "/api/v1/decisions/no-such-thing",
        "/api/v1/decisions/a/b",
        "/api/v1/nothing",
        "/api",
    ] {
        let answer = ask(&gate, path);
        assert_eq!(answer.status, 404, "{path}: {}", answer.text());
        assert_eq!(answer.json()["error"]["code"], "not_found");
    }
    let mut connection = gate.at("api").connect();
    let answer = connection.ask("DELETE", "/api/v1/decisions", b"").unwrap();
    assert_eq!(answer.status, 405);
}

#[test]
fn nobody_reads_decisions_over_the_network() {
    let mut config = with_socket(json!({"admission": {"order": ["AlwaysAdmit"]}}));
    let listeners = config["listeners"].as_array_mut().unwrap();
    listeners.push(json!({"name": "rest", "tcp": "127.0.0.1:2", "serves": ["api"]}));
    let gate = Gate::start(config);
    gate.validate(&pod()).allowed();
    for path in [
        "/api/v1/decisions",
        "/api/v1/decisions/stream",
        "/api/v1/decisions/01ARZ3NDEKTSV4RRFFQ69G5FAV",
    ] {
        let mut connection = gate.at("rest").connect();
        let answer = connection.ask("GET", path, b"").unwrap();
        assert_eq!(answer.status, 401, "{path}: {}", answer.text());
        assert_eq!(answer.json()["error"]["code"], "missing_token");
        let challenge = answer.header("www-authenticate").unwrap();
        assert!(challenge.starts_with("Bearer"), "{challenge}");
        let with_token = request("GET", path, &[("authorization", "Bearer x.y.z")], b"");
        connection.send(&with_token).unwrap();
        let answer = connection.receive().unwrap();
        assert_eq!(answer.status, 401, "{path}: {}", answer.text());
        // A listener that doesn't serve the API knows nothing of it.
        assert_eq!(gate.get(path).status, 404);
    }
}

#[test]
fn counts_have_the_filters_of_the_list() {
    let gate = with_history();
    let counts = |query: &str| {
        let answer = ask(&gate, &format!("/api/v1/decisions/summary{query}"));
        assert_eq!(answer.status, 200, "{}", answer.text());
        answer.json()
    };
    let all = counts("");
    assert_eq!(all["buckets"].as_array().unwrap().len(), 48);
    assert_eq!(all["bucket_seconds"], 1800);
    let totals = &all["totals"];
    assert_eq!(
        (&totals["allowed"], &totals["denied"]),
        (&json!(2), &json!(3))
    );
    assert_eq!(
        (&totals["at_least"], &totals["sampled"]),
        (&json!(false), &json!(false))
    );
    assert_eq!(
        totals["by_door"],
        json!([{"name": "authorization", "allowed": 1, "denied": 1}, {"name": "kubernetes", "allowed": 1, "denied": 2}])
    );
    let last = &all["buckets"][47];
    assert_eq!((&last["allowed"], &last["denied"]), (&json!(2), &json!(3)));
    assert!(last["p99_us"].as_u64() >= last["p50_us"].as_u64(), "{last}");
    assert_eq!(all["buckets"][0]["p50_us"], Value::Null);
    let bob = counts("?user=bob&since=1h&buckets=3");
    assert_eq!(bob["buckets"].as_array().unwrap().len(), 3);
    assert_eq!(
        bob["totals"]["by_policy"],
        json!([{"name": "no-curse", "allowed": 0, "denied": 1}])
    );
    let authorization = counts("?door=authorization&verdict=deny");
    assert_eq!(authorization["totals"]["denied"], 1);
    assert_eq!(authorization["totals"]["allowed"], 0);
}

#[test]
fn counts_of_no_time_or_of_too_many_parts_are_rejected() {
    let gate = with_history();
    for query in [
        "buckets=0",
        "buckets=201",
        "buckets=x",
        "since=1h&until=2h",
        "limit=5",
        "since=soon",
    ] {
        let answer = ask(&gate, &format!("/api/v1/decisions/summary?{query}"));
        assert_eq!(answer.status, 400, "{query}: {}", answer.text());
    }
}
