//! Whether the cluster can start Portcullis again when it is gone.

use std::collections::{BTreeMap, BTreeSet};

use portcullis_gate::registration::{RuleScope, VITAL_REQUESTS, VitalRequest};
use portcullis_graph::condition_holds;
use serde_json::Value;

use super::super::api_server::SYSTEM;
use super::super::finding::Finding;
use super::super::registered::{Registered, Target};
use super::super::selector::{Labels, labels_of_name, selects};
use super::CHECK;

/// Pods that must start, and requests that nodes and the control plane can't do without.
pub(super) fn check(one: &Registered, namespaces: &BTreeMap<String, Labels>) -> Vec<Finding> {
    let place = one.place();
    if !one.fails_closed() {
        let message = "can't lock anything out: failurePolicy is Ignore";
        return vec![Finding::ok(CHECK, place, message)];
    }
    let mut found = Vec::new();
    found.extend(pods(one, namespaces));
    found.extend(requests(one, namespaces));
    if found.is_empty() {
        let message = "leaves out what is needed to start Portcullis again";
        found.push(Finding::ok(CHECK, place, message));
    }
    found
}

/// The namespaces with the pods that have to start.
fn pods(one: &Registered, namespaces: &BTreeMap<String, Labels>) -> Option<Finding> {
    let is_elsewhere = |scope: RuleScope| scope == RuleScope::Cluster;
    if one.rules().iter().all(|rule| is_elsewhere(rule.scope)) {
        return None;
    }
    let own = match one.target() {
        Target::Service { namespace, .. } => Some(namespace),
        Target::Url { .. } | Target::Unknown => None,
    };
    let critical = own.iter().map(String::as_str).chain([SYSTEM]);
    let selector = one.webhook.get("namespaceSelector");
    let is_selected = |name: &&str| {
        let labels = namespaces.get(*name);
        labels.is_some_and(|labels| selects(selector, labels))
    };
    let locked: BTreeSet<&str> = critical.filter(is_selected).collect();
    if locked.is_empty() {
        return None;
    }
    let locked: Vec<&str> = locked.into_iter().collect();
    let message = format!(
        "applies to {}: pods there can't be created while Portcullis does not answer, perhaps not even its own",
        locked.join(" and ")
    );
    let fix = format!(
        "exempt it in the namespaceSelector: kubernetes.io/metadata.name NotIn [{}]",
        locked.join(", ")
    );
    Some(Finding::problem(CHECK, one.place(), message, fix))
}

/// What is known of a request: whether the webhook is called for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Called {
    Yes,
    No,
    /// A condition can't be evaluated here.
    Perhaps,
}

/// What nodes and the control plane ask for, whatever happens.
fn requests(one: &Registered, namespaces: &BTreeMap<String, Labels>) -> Vec<Finding> {
    let of = |wanted: Called| -> Vec<&str> {
        let all = VITAL_REQUESTS.iter();
        let all = all.filter(|request| called(one, request, namespaces) == wanted);
        all.map(|request| request.what).collect()
    };
    let mut found = Vec::new();
    let (held_up, unclear) = (of(Called::Yes), of(Called::Perhaps));
    if !held_up.is_empty() {
        let message = format!(
            "applies to {}: while Portcullis does not answer, nodes turn NotReady, and nothing can start it again",
            held_up.join(", ")
        );
        let fix = "name the resources in the rules, or leave these out with matchConditions, as `portcullis generate \
                   webhooks` does";
        found.push(Finding::problem(CHECK, one.place(), message, fix));
    }
    if !unclear.is_empty() {
        let message = format!(
            "the rules cover {}, and whether matchConditions leave them out can't be told here",
            unclear.join(", ")
        );
        let fix = "check that the conditions are false for these requests, which nodes and the control plane send";
        found.push(Finding::warning(CHECK, one.place(), message, fix));
    }
    found
}

fn called(
    one: &Registered,
    request: &VitalRequest,
    namespaces: &BTreeMap<String, Labels>,
) -> Called {
    if !request.is_covered(&one.rules()) {
        return Called::No;
    }
    // What has no namespace is sent whatever the selector says.
    let is_selected = request.namespace.is_none_or(|name| {
        let known = namespaces.get(name).cloned();
        let labels = known.unwrap_or_else(|| labels_of_name(name));
        selects(one.webhook.get("namespaceSelector"), &labels)
    });
    // Those who send it set no labels that a selector could know.
    let has_labels = selects(one.webhook.get("objectSelector"), &Labels::new());
    if !is_selected || !has_labels {
        return Called::No;
    }
    let conditions = one.webhook.get("matchConditions").and_then(Value::as_array);
    let request = request.request();
    let mut called = Called::Yes;
    for condition in conditions.into_iter().flatten() {
        let expression = condition.get("expression").and_then(Value::as_str);
        match condition_holds(expression.unwrap_or_default(), &[("request", &request)]) {
            Some(true) => {}
            Some(false) => return Called::No,
            None => called = Called::Perhaps,
        }
    }
    called
}

#[cfg(test)]
mod tests {
    use portcullis_gate::registration::{EXCLUSIONS, VITAL_NAMESPACES};
    use serde_json::json;

    use super::super::super::finding::State;
    use super::super::tests::{namespaces, webhook};
    use super::*;

    /// States and messages, for a webhook with these keys besides.
    fn found(more: Value) -> Vec<(State, String)> {
        let found = check(&webhook(more), &namespaces());
        let short = |one: Finding| (one.state, one.message);
        found.into_iter().map(short).collect()
    }

    fn exempting(names: &[&str]) -> Value {
        json!({"matchExpressions": [{"key": "kubernetes.io/metadata.name", "operator": "NotIn", "values": names}]})
    }

    #[test]
    fn selectors_that_lock_out_are_problems() {
        let with = |names: &[&str]| json!({"namespaceSelector": exempting(names)});
        for (more, expected, named) in [
            (json!({}), State::Problem, "gate and kube-system"),
            (with(&["kube-system"]), State::Problem, "applies to gate:"),
            (with(&["gate"]), State::Problem, "applies to kube-system:"),
            (with(&["gate", "kube-system"]), State::Ok, ""),
            (json!({"failurePolicy": "Ignore"}), State::Ok, "Ignore"),
        ] {
            let found = found(more);
            assert_eq!(found.len(), 1, "{found:?}");
            assert_eq!(found[0].0, expected, "{found:?}");
            assert!(found[0].1.contains(named), "{found:?}");
        }
    }

    #[test]
    fn rules_that_hold_up_nodes_are_problems() {
        let everything = |more: Value| {
            let rule = json!({"apiGroups": ["*"], "apiVersions": ["*"], "resources": ["*/*"], "operations": ["*"]});
            let exempt = [&VITAL_NAMESPACES[..], &["gate"]].concat();
            let mut all = json!({"rules": [rule], "namespaceSelector": exempting(&exempt)});
            for (key, value) in more.as_object().unwrap() {
                all[key] = value.clone();
            }
            found(all)
        };
        let all = everything(json!({}));
        assert_eq!(all.len(), 1, "{all:?}");
        assert_eq!(all[0].0, State::Problem, "{all:?}");
        for part in [
            "status of nodes",
            "taints",
            "token reviews",
            "access reviews",
            "roles",
        ] {
            assert!(all[0].1.contains(part), "{part}: {all:?}");
        }
        // The selector does its part for leases, and only that.
        assert!(!all[0].1.contains("leases"), "{all:?}");
        let leases = everything(json!({"namespaceSelector": exempting(&["gate", "kube-system"])}));
        assert!(leases[0].1.contains("leases of nodes"), "{leases:?}");

        let conditions = EXCLUSIONS.iter();
        let conditions =
            conditions.map(|one| json!({"name": one.name, "expression": one.expression}));
        let conditions: Vec<Value> = conditions.collect();
        let excluded = everything(json!({"matchConditions": conditions}));
        assert_eq!(excluded[0].0, State::Ok, "{excluded:?}");
        // Reviews that nodes ask for are left out by the last condition, too.
        for (at, missing) in [(2, "roles"), (3, "status of nodes")] {
            let mut some = conditions.clone();
            some.remove(at);
            let found = everything(json!({"matchConditions": some}));
            assert_eq!(found[0].0, State::Problem, "{found:?}");
            assert!(found[0].1.contains(missing), "{missing}: {found:?}");
        }
        // An expression that can't be evaluated here is no reason to call anything fine.
        let unknown = json!([{"name": "x", "expression": "!authorizer.group('').resource('x').check('y').allowed()"}]);
        let found = everything(json!({"matchConditions": unknown}));
        assert_eq!(found[0].0, State::Warning, "{found:?}");
        assert_eq!(
            everything(json!({"failurePolicy": "Ignore"}))[0].0,
            State::Ok
        );
    }

    #[test]
    fn rules_for_single_resources_hold_up_nothing_else() {
        let of = |group: &str, resource: &str, scope: &str| {
            let rule = json!({"apiGroups": [group], "apiVersions": ["*"], "resources": [resource], "operations": ["UPDATE"], "scope": scope});
            found(
                json!({"rules": [rule], "namespaceSelector": exempting(&["gate", "kube-system"])}),
            )
        };
        assert_eq!(of("", "nodes", "*")[0].0, State::Problem);
        assert_eq!(of("", "nodes", "Namespaced")[0].0, State::Ok);
        assert_eq!(of("apps", "*", "*")[0].0, State::Ok);
        assert_eq!(of("", "*", "Namespaced")[0].0, State::Ok);
        assert_eq!(
            of("coordination.k8s.io", "*", "Namespaced")[0].0,
            State::Problem
        );
    }
}
