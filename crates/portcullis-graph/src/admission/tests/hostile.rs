//! Whatever an agent sends, the rules of the built-in profiles terminate, with short messages.

use proptest::prelude::*;
use serde_json::{Map, Value, json};

use super::super::{AdmissionRequest, Judgement};
use super::world::{Ask, World};

const MEMBERS: [&str; 20] = [
    "metadata",
    "spec",
    "status",
    "name",
    "namespace",
    "labels",
    "annotations",
    "ownerReferences",
    "seedName",
    "shootRef",
    "nodeName",
    "taints",
    "volumes",
    "containers",
    "env",
    "data",
    "description",
    "type",
    "request",
    "usages",
];

const RESOURCES: [&str; 16] = [
    "secrets",
    "configmaps",
    "serviceaccounts",
    "serviceaccounts/token",
    "pods",
    "pods/status",
    "pods/eviction",
    "nodes",
    "persistentvolumeclaims/status",
    "leases.coordination.k8s.io",
    "seeds.core.gardener.cloud",
    "backupbuckets.core.gardener.cloud",
    "backupentries.core.gardener.cloud",
    "certificatesigningrequests.certificates.k8s.io",
    "clusterrolebindings.rbac.authorization.k8s.io",
    "resourceslices.resource.k8s.io",
];

const NAMES: [&str; 8] = [
    "s1",
    "node0",
    "source-x",
    "generated-bucket-x",
    "bootstrap-token-x",
    "gardenlet-bootstrap-x",
    "gardener.cloud:system:seed-bootstrapper:garden:gardenlet-bootstrap-x",
    "x.ssh-keypair.old",
];

fn tree() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        prop::sample::select(&NAMES[..]).prop_map(Value::from),
        ".{0,8}".prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 40, 5, |inner| {
        let member = (prop::sample::select(&MEMBERS[..]), inner.clone());
        prop_oneof![
            prop::collection::vec(inner, 0..4).prop_map(Value::from),
            prop::collection::vec(member, 0..6).prop_map(|members| {
                let members = members
                    .into_iter()
                    .map(|(key, value)| (key.to_owned(), value));
                Value::Object(members.collect::<Map<_, _>>())
            }),
        ]
    })
}

fn name() -> impl Strategy<Value = String> {
    prop_oneof![
        prop::sample::select(&NAMES[..]).prop_map(str::to_owned),
        ".{0,300}".prop_map(|name| name),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn rules_come_to_an_end_in_few_words(
        object in tree(),
        old in proptest::option::of(tree()),
        resource in prop::sample::select(&RESOURCES[..]),
        operation in prop::sample::select(&["CREATE", "UPDATE", "DELETE", "CONNECT"][..]),
        namespace in prop::sample::select(&["", "garden", "kube-system", "seed-s1", "gardener-system-shoot-issuer"][..]),
        name in name(),
    ) {
        for (profile, subject) in [
            ("gardener", ("gardenlet", "Seed", "s1")),
            ("gardener", ("shoot-gardenlet", "Shoot", "garden/s1")),
            ("gardener-2021", ("gardenlet", "Seed", "s1")),
            ("node", ("node", "Node", "node0")),
        ] {
            let ask = Ask {
                subject,
                operation,
                resource,
                key: format!("{namespace}/{name}"),
                object: Some(object.clone()),
                old_object: old.clone(),
            };
            match World::of(profile).judge(&ask) {
                Judgement::Refuse { code, message, rule } => {
                    prop_assert!((400..600).contains(&code) && !rule.is_empty());
                    prop_assert!(message.len() < 8192 && !message.contains(char::is_control), "{}", message);
                }
                Judgement::Failed(why) => prop_assert!(false, "nothing can fail here: {}", why),
                _ => {}
            }
        }
    }
}

#[test]
fn a_request_knows_its_name_whatever_the_object_is() {
    let user = portcullis_core::UserInfo::default();
    for object in [
        json!(null),
        json!([]),
        json!({"metadata": 1}),
        json!({"metadata": {"name": 1}}),
    ] {
        let request = AdmissionRequest {
            operation: "CREATE",
            group: "",
            resource: "x",
            subresource: "",
            namespace: "",
            name: "",
            user: &user,
            object: Some(&object),
            old_object: None,
            options: None,
        };
        assert_eq!(request.effective_name(), "");
    }
}
