//! What is denied before any rule is evaluated: an impossible namespace, and users of whom it can't be
//! determined which agent they are.

use portcullis_core::UserInfo;
use serde_json::json;

use super::super::{AdmissionRequest, Judgement};
use super::world::{Ask, World, now};
use crate::access_rules::AgentIdentity;
use crate::built_in;
use crate::lookups::Nothing;
use crate::profile::Profile;
use crate::spec::ProfileSpec;

fn spec(profile: &str) -> ProfileSpec {
    serde_saphyr::from_str(built_in::find(profile).unwrap()).unwrap()
}

#[test]
fn a_namespace_that_can_not_be_is_refused() {
    let mut asked = 0;
    for (profile, subject) in [
        ("gardener", ("gardenlet", "Seed", "s1")),
        ("gardener", ("shoot-gardenlet", "Shoot", "garden-p/h")),
        ("gardener-2021", ("gardenlet", "Seed", "s1")),
        ("node", ("node", "Node", "s1")),
    ] {
        let spec = spec(profile);
        let admission = spec.admission.as_ref().unwrap();
        for rule in &admission.rules {
            let is_for = |ids: &Vec<String>| ids.iter().any(|id| id == subject.0);
            if !rule.subjects.as_ref().is_none_or(is_for) {
                continue;
            }
            for text in &rule.resources {
                let whole = text
                    .split_once('/')
                    .map_or(text.as_str(), |(whole, _)| whole);
                let (resource, group) = whole.split_once('.').unwrap_or((whole, ""));
                let mut kinds = spec.vertices.iter();
                let kind = kinds.find(|(_, k)| k.resource == resource && k.group == group);
                let Some((name, kind)) = kind.filter(|_| resource != "namespaces") else {
                    continue;
                };
                let key = if kind.namespaced { "s1" } else { "garden/s1" };
                // Not even an object that is there already lets it pass.
                let world = World::of(profile).with(name, "s1", json!({}));
                for operation in &rule.operations {
                    let operation = match operation.as_str() {
                        "CREATE" => "CREATE",
                        "UPDATE" => "UPDATE",
                        "DELETE" => "DELETE",
                        "CONNECT" => "CONNECT",
                        other => panic!("{other}"),
                    };
                    let object = json!({"metadata": {"name": "s1"}, "spec": {"seedName": "s1"}});
                    let ask = Ask {
                        subject,
                        operation,
                        resource: Box::leak(text.clone().into_boxed_str()),
                        key: key.to_owned(),
                        object: Some(object.clone()),
                        old_object: Some(object),
                    };
                    let message = world.message(&ask);
                    let told = match kind.namespaced {
                        true => "are namespaced, but the request has no namespace",
                        false => "are cluster-scoped, but the request has the namespace `garden`",
                    };
                    assert!(message.contains(told), "{profile} {text}: {message}");
                    asked += 1;
                }
            }
        }
    }
    assert!(asked > 40, "{asked}");
}

#[test]
fn who_can_not_be_determined_may_write_nothing() {
    for (profile, name, groups, refused) in [
        ("node", "system:node:", "system:nodes", true),
        ("node", "system:node:a:b", "system:nodes", true),
        ("node", "system:node:a/b", "system:nodes", true),
        ("node", "system:node:", "system:authenticated", false),
        ("node", "alice", "system:nodes", false),
        (
            "gardener",
            "gardener.cloud:system:seed:",
            "gardener.cloud:system:seeds",
            true,
        ),
        (
            "gardener",
            "gardener.cloud:system:seed:a:b",
            "gardener.cloud:system:seeds",
            true,
        ),
        (
            "gardener",
            "gardener.cloud:system:shoot:a",
            "gardener.cloud:system:shoots",
            true,
        ),
        (
            "gardener",
            "gardener.cloud:system:shoot::b",
            "gardener.cloud:system:shoots",
            true,
        ),
        (
            "gardener",
            "gardener.cloud:gardenadm:shoot:a:",
            "gardener.cloud:system:shoots",
            true,
        ),
        (
            "gardener",
            "system:serviceaccount:seed-a:extension-x",
            "system:serviceaccounts,system:serviceaccounts:seed-a,system:serviceaccounts:seed-b",
            true,
        ),
        (
            "gardener-2021",
            "gardener.cloud:system:seed:",
            "gardener.cloud:system:seeds",
            true,
        ),
    ] {
        let profile = Profile::compile(&spec(profile)).unwrap();
        let user = UserInfo {
            username: name.to_owned(),
            groups: groups.split(',').map(str::to_owned).collect(),
            ..UserInfo::default()
        };
        let object = json!({"metadata": {"name": "x"}});
        let request = AdmissionRequest {
            operation: "CREATE",
            group: "",
            resource: "nodes",
            subresource: "",
            namespace: "",
            name: "x",
            user: &user,
            object: Some(&object),
            old_object: None,
            options: None,
        };
        let said = match profile.rules.identify(&user) {
            AgentIdentity::Agent(agent) => profile.admit_agent(&agent, &request, &Nothing, now()),
            AgentIdentity::Unclear(why) => Judgement::unclear(why),
            AgentIdentity::Other => Judgement::NotApplicable,
        };
        match said {
            Judgement::Refuse {
                code: 403, message, ..
            } if refused => {
                assert!(!message.is_empty() && !message.contains('\n'), "{message}");
            }
            Judgement::NotApplicable if !refused => {}
            other => panic!("{name}: {other:?}"),
        }
    }
}
