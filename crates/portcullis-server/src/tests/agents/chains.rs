//! Profiles as authorizers in chains.

use serde_json::json;

use portcullis_testing::garden::{config, garden, gardenlet, may, review};

use super::{gate, with_objects};
use crate::tests::harness::Setup;

#[test]
fn an_agent_may_touch_what_leads_to_its_seed_and_nothing_else() {
    let gate = gate(&garden());
    for (request, one, two) in [
        ("get secrets garden-a/infra", true, false),
        ("get secrets garden-a/other", false, false),
        (
            "patch shoots.core.gardener.cloud garden-a/crane",
            true,
            false,
        ),
        ("get cloudprofiles.core.gardener.cloud local", true, false),
        ("get configmaps kube-system/cluster-identity", true, true),
        ("get pods garden-a/crane", false, false),
    ] {
        assert_eq!(may(&gate, "one", request), one, "one {request}");
        assert_eq!(may(&gate, "two", request), two, "two {request}");
    }
    assert!(!may(&gate, "never-heard-of", "get secrets garden-a/infra"));
}

#[test]
fn a_refusal_names_the_relationship_that_is_missing() {
    let gate = gate(&garden());
    let asked = review(&gardenlet("two"), "get secrets garden-a/infra");
    let status = gate.access("/authorize/gardener", &asked);
    let reason = status["reason"].as_str().unwrap();
    assert!(reason.starts_with("no relationship found"), "{reason}");
    assert!(reason.contains("Secret:garden-a/infra"), "{reason}");
    assert!(reason.contains("Seed:two"), "{reason}");
}

#[test]
fn an_allow_names_authorizer_rule_and_path() {
    let gate = gate(&garden());
    let asked = review(&gardenlet("one"), "get secrets garden-a/infra");
    let status = gate.access("/authorize/gardener", &asked);
    assert_eq!(
        status["reason"],
        "allowed by authorizer \"gardener\": rule \"secrets: get by path\" (rules[18].path): \
         Secret:garden-a/infra -> SecretBinding:garden-a/binding -> Shoot:garden-a/crane -> Seed:one"
    );
}

#[test]
fn a_namespace_that_can_not_be_leads_nowhere() {
    let gate = gate(&garden());
    for (request, allowed) in [
        ("get seeds.core.gardener.cloud one", true),
        ("get seeds.core.gardener.cloud garden-a/one", false),
        ("get secrets infra", false),
    ] {
        assert_eq!(may(&gate, "one", request), allowed, "{request}");
    }
}

#[test]
fn no_opinion_asks_the_next_authorizer() {
    let mut config = config("gardener");
    config["authorization"]["chains"] = json!({
        "shut": ["gardener", "AlwaysDeny"], "open": ["gardener", "AlwaysAllow"], "default": ["AlwaysDeny"],
    });
    let gate = with_objects(Setup::new(config), &garden()).start();
    let asked = |seed: &str| review(&gardenlet(seed), "get secrets garden-a/infra");
    assert_eq!(
        gate.access("/authorize/shut", &asked("one"))["allowed"],
        true
    );
    assert_eq!(
        gate.access("/authorize/shut", &asked("two"))["denied"],
        true
    );
    assert_eq!(
        gate.access("/authorize/open", &asked("two"))["allowed"],
        true
    );
    assert_eq!(gate.access("/authorize", &asked("one"))["denied"], true);
    gate.post("/authorize/gardener", &asked("one")).error(404);
}

#[test]
fn both_versions_of_the_review_and_both_names_of_groups_are_understood() {
    let gate = gate(&garden());
    let mut asked = review(&gardenlet("one"), "get secrets garden-a/infra");
    asked["apiVersion"] = json!("authorization.k8s.io/v1beta1");
    asked["spec"]["group"] = asked["spec"]["groups"].take();
    let status = gate.access("/authorize/gardener", &asked);
    assert_eq!(status["allowed"], true, "{status}");
}

#[test]
fn lists_need_the_selector_that_scopes_them() {
    let mut config = config("gardener");
    let mut open = config["graph"]["profiles"][0].clone();
    open["name"] = json!("open");
    open["selectors"] = json!("not-forwarded");
    config["graph"]["profiles"]
        .as_array_mut()
        .unwrap()
        .push(open);
    config["authorization"]["chains"]["open"] = json!(["open"]);
    let gate = with_objects(Setup::new(config), &garden()).start();
    let mut asked = review(
        &gardenlet("one"),
        "list shoots.core.gardener.cloud garden-a/",
    );
    assert_eq!(gate.access("/authorize/gardener", &asked)["allowed"], false);
    assert_eq!(gate.access("/authorize/open", &asked)["allowed"], true);
    let own = json!({"key": "name.seed.gardener.cloud/one", "operator": "In", "values": ["true"]});
    let foreign =
        json!({"key": "name.seed.gardener.cloud/two", "operator": "In", "values": ["true"]});
    let without = json!({"key": "x", "operator": "NotIn", "values": ["y"]});
    for (requirement, wanted) in [(own, true), (foreign, false), (without, false)] {
        let attributes = &mut asked["spec"]["resourceAttributes"];
        attributes["labelSelector"] = json!({"requirements": [requirement.clone()]});
        let status = gate.access("/authorize/gardener", &asked);
        assert_eq!(status["allowed"], wanted, "{requirement}");
    }
}

#[test]
fn several_profiles_have_graphs_of_their_own() {
    let mut config = config("gardener");
    let node = json!({"name": "node", "profile": "node", "objects": "nodes"});
    config["graph"]["profiles"]
        .as_array_mut()
        .unwrap()
        .push(node);
    config["authorization"]["chains"]["node"] = json!(["node"]);
    let pod = json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p", "namespace": "ns"},
        "spec": {"nodeName": "n1", "containers": [], "volumes": [{"name": "v", "configMap": {"name": "settings"}}]}});
    let setup = with_objects(Setup::new(config), &garden());
    let gate = setup.file("nodes/pod.json", pod.to_string()).start();
    let node = |name: &str| {
        (
            format!("system:node:{name}"),
            vec!["system:nodes".to_owned()],
        )
    };
    let ask = |who: &_, chain: &str| {
        gate.access(chain, &review(who, "get configmaps ns/settings"))["allowed"] == true
    };
    assert!(ask(&node("n1"), "/authorize/node"));
    assert!(!ask(&node("n2"), "/authorize/node"));
    assert!(!ask(&node("n1"), "/authorize/gardener"));
    assert!(!ask(&gardenlet("one"), "/authorize/node"));
}
