//! The reason of an allow.

use std::sync::Arc;

use portcullis_core::{Authorizer, Opinion};
use serde_json::json;

use super::whole::followed;
use crate::access_rules::tests::shipped::{asked, group};
use crate::authorizer::PATH_EDGES;
use crate::{Compat, GraphAuthorizer, Selectors, State};

fn said(state: &Arc<State>, line: &str) -> String {
    let authorizer = GraphAuthorizer::new(Arc::clone(state), Compat::Strict, Selectors::Forwarded);
    let access = asked(line, |resource| group(&state.profile().rules, resource));
    match authorizer.authorize(&access).unwrap() {
        Opinion::Allow(reason) => reason,
        other => panic!("{line}: {other:?}"),
    }
}

#[test]
fn an_allow_names_the_rule_and_the_path() {
    let gardener = followed("gardener");
    for (line, wanted) in [
        (
            "U1 get secrets garden-shared/infra1",
            "rule \"secrets: get by path\" (rules[18].path): Secret:garden-shared/infra1 -> SecretBinding:garden-p1/sb1 -> \
             Shoot:garden-p1/sh1 -> Seed:s1",
        ),
        (
            "U1 update backupbuckets/finalizers bb1",
            "rule \"backupbuckets.core.gardener.cloud/finalizers: update by path\" (rules[0].path): BackupBucket:bb1 -> Seed:s1",
        ),
        (
            "U1 create events default/",
            "rule \"events: create always\" (rules[12].always), for Seed:s1",
        ),
        (
            "U1 list shoots l:name.seed.gardener.cloud/s1=true",
            "rule \"shoots.core.gardener.cloud: list by selector\" (rules[23].selectors[0]), for Seed:s1",
        ),
        (
            "U1 list secrets seed-s1/",
            "rule \"secrets: list by shortcut\" (rules[18].shortcuts[0]), for Seed:s1",
        ),
    ] {
        assert_eq!(said(&gardener, line), wanted, "{line}");
    }
    let node = followed("node");
    assert_eq!(
        said(&node, "n0 get nodes node0"),
        "rule \"nodes: get by name\" (rules[7].named[0]), for Node:node0"
    );
    assert_eq!(
        said(&node, "n0 list services"),
        "rule \"services: list always\" (static[1]), for Node:node0"
    );
}

#[test]
fn a_path_that_is_far_to_seek_is_left_out() {
    let state = followed("node");
    for number in 0..=PATH_EDGES {
        state.apply(&json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"namespace": "ns0", "name": format!("p{number}")},
            "spec": {"nodeName": format!("m{number}"), "volumes": [{"configMap": {"name": "popular"}}]}}));
    }
    let found: Vec<bool> = (0..=PATH_EDGES)
        .map(|number| {
            let user = crate::access_rules::tests::support::user(
                &format!("system:node:m{number}"),
                "system:nodes",
            );
            let access =
                crate::access_rules::tests::support::access(user, "get configmaps ns0/popular");
            let authorizer =
                GraphAuthorizer::new(Arc::clone(&state), Compat::Strict, Selectors::Forwarded);
            let Opinion::Allow(reason) = authorizer.authorize(&access).unwrap() else {
                panic!("m{number}")
            };
            let short = format!(": ConfigMap:ns0/popular leads to Node:m{number}");
            let whole = format!(": ConfigMap:ns0/popular -> Pod:ns0/p{number} -> Node:m{number}");
            assert!(
                reason.ends_with(&short) || reason.ends_with(&whole),
                "{reason}"
            );
            reason.ends_with(&whole)
        })
        .collect();
    assert!(found.contains(&true) && found.contains(&false), "{found:?}");
}

#[test]
fn nothing_odd_is_repeated() {
    let state = followed("gardener");
    let mut access = asked("X1 update leases seed-s1/foo", |_| {
        "coordination.k8s.io".to_owned()
    });
    let portcullis_core::Target::Resource(target) = &mut access.target else {
        panic!("resource")
    };
    target.subresource = "a\nb\u{202e}".to_owned();
    let authorizer = GraphAuthorizer::new(Arc::clone(&state), Compat::Strict, Selectors::Forwarded);
    let reason = authorizer.authorize(&access).unwrap().reason().to_owned();
    assert!(
        reason.contains(r"leases.coordination.k8s.io/a\nb\u{202e}: update"),
        "{reason}"
    );
}
