use std::pin::pin;
use std::task::{Context, Poll, Waker};

use portcullis_core::{Kind, Resource};
use serde_json::json;

use super::super::testing::{create, create_pod, denial};
use super::*;
use crate::cluster_objects::{NoCluster, Reading, StaticObjects, Unknown};
use crate::registry::Registry;

/// What a watch knows, and what the API server has.
#[derive(Debug, Default)]
struct Cluster {
    watched: StaticObjects,
    live: StaticObjects,
    is_synced: bool,
    is_reachable: bool,
}

impl ClusterObjects for Cluster {
    fn get(
        &self,
        kind: &ObjectKind,
        namespace: &str,
        name: &str,
    ) -> Result<Option<Arc<Value>>, Unknown> {
        match self.is_synced {
            true => self.watched.get(kind, namespace, name),
            false => Err(Unknown::NotSynced(kind.clone())),
        }
    }

    fn list(&self, kind: &ObjectKind, namespace: Option<&str>) -> Result<Vec<Arc<Value>>, Unknown> {
        self.watched.list(kind, namespace)
    }

    fn read(
        &self,
        kind: &ObjectKind,
        namespace: &str,
        name: &str,
        deadline: Instant,
    ) -> Reading<Option<Arc<Value>>> {
        match self.is_reachable {
            true => self.live.read(kind, namespace, name, deadline),
            false => Box::pin(std::future::ready(Err("connection refused".to_owned()))),
        }
    }

    fn list_now(&self, _: &ObjectKind, _: &str, _: Instant) -> Reading<Vec<Arc<Value>>> {
        panic!("nothing is listed")
    }
}

fn namespaces(all: &[(&str, &str)]) -> StaticObjects {
    let mut known = StaticObjects::default();
    for (name, phase) in all {
        let namespace = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name},
            "status": {"phase": phase}});
        known.add(namespace).unwrap();
    }
    known
}

fn synced(watched: &[(&str, &str)], live: &[(&str, &str)]) -> Cluster {
    Cluster {
        watched: namespaces(watched),
        live: namespaces(live),
        is_synced: true,
        is_reachable: true,
    }
}

fn plugin(cluster: Cluster) -> Arc<dyn Plugin> {
    let environment = PluginEnvironment {
        objects: Arc::new(cluster),
        ..PluginEnvironment::default()
    };
    (descriptor(&environment).factory)(None).unwrap()
}

fn judge(plugin: &Arc<dyn Plugin>, request: &Attributes) -> Result<Outcome, PluginError> {
    let mut pending = pin!(plugin.begin(Phase::Admit, request, None));
    match pending
        .as_mut()
        .poll(&mut Context::from_waker(Waker::noop()))
    {
        Poll::Ready(finished) => finished.outcome,
        Poll::Pending => panic!("it waits"),
    }
}

fn deletion(request: Attributes) -> Attributes {
    Attributes {
        operation: Operation::Delete,
        object: None,
        ..request
    }
}

/// A request about a namespace of this name.
fn namespace(name: &str, operation: Operation) -> Attributes {
    Attributes {
        operation,
        name: name.to_owned(),
        namespace: name.to_owned(),
        ..create(
            "Namespace",
            "namespaces",
            json!({"metadata": {"name": name}}),
        )
    }
}

#[test]
fn a_namespace_that_does_not_exist_is_not_found() {
    let plugin = plugin(synced(&[("other", "Active")], &[]));
    for operation in [Operation::Create, Operation::Update] {
        let request = Attributes {
            operation,
            ..create_pod(json!({}))
        };
        let denial = denial(judge(&plugin, &request).unwrap());
        assert_eq!(denial.message, "namespaces \"shop\" not found");
        assert_eq!((denial.code, denial.reason.as_ref()), (404, "NotFound"));
    }
    let gone = deletion(create_pod(json!({})));
    assert_eq!(judge(&plugin, &gone).unwrap(), Outcome::Pass);
}

#[test]
fn a_namespace_that_the_watch_has_not_seen_is_read() {
    let plugin = plugin(synced(&[], &[("shop", "Active")]));
    assert_eq!(
        judge(&plugin, &create_pod(json!({}))).unwrap(),
        Outcome::Pass
    );
}

#[test]
fn nothing_is_created_in_a_namespace_that_is_being_terminated() {
    let plugin = plugin(synced(&[("shop", "Terminating")], &[]));
    let denial = denial(judge(&plugin, &create_pod(json!({}))).unwrap());
    assert_eq!(
        denial.message,
        "pods \"web\" is forbidden: unable to create new content in namespace shop because it is being terminated"
    );
    assert_eq!((denial.code, denial.reason.as_ref()), (403, "Forbidden"));
    let cause = &denial.causes[0];
    assert_eq!(cause.reason, "NamespaceTerminating");
    assert_eq!(cause.message, "namespace shop is being terminated");
    assert_eq!(cause.field, "metadata.namespace");
    let update = Attributes {
        operation: Operation::Update,
        ..create_pod(json!({}))
    };
    assert_eq!(judge(&plugin, &update).unwrap(), Outcome::Pass);
}

#[test]
fn after_its_deletion_a_namespace_is_read_each_time() {
    let plugin = plugin(synced(&[("shop", "Active")], &[("shop", "Terminating")]));
    let pod = create_pod(json!({}));
    assert_eq!(judge(&plugin, &pod).unwrap(), Outcome::Pass);
    let gone = namespace("shop", Operation::Delete);
    assert_eq!(judge(&plugin, &gone).unwrap(), Outcome::Pass);
    assert_eq!(denial(judge(&plugin, &pod).unwrap()).code, 403);
    let later = Attributes {
        received: pod.received + Duration::from_secs(60),
        ..pod
    };
    assert_eq!(judge(&plugin, &later).unwrap(), Outcome::Pass);
}

#[test]
fn three_namespaces_are_not_deleted() {
    let plugin = plugin(synced(&[], &[]));
    for name in ["default", "kube-system", "kube-public"] {
        let denial = denial(judge(&plugin, &namespace(name, Operation::Delete)).unwrap());
        assert_eq!(
            denial.message,
            format!("namespaces {name:?} is forbidden: this namespace may not be deleted")
        );
        assert_eq!(denial.code, 403);
        for operation in [Operation::Create, Operation::Update] {
            let allowed = namespace(name, operation);
            assert_eq!(judge(&plugin, &allowed).unwrap(), Outcome::Pass);
        }
    }
    let other = namespace("kube-node-lease", Operation::Delete);
    assert_eq!(judge(&plugin, &other).unwrap(), Outcome::Pass);
}

#[test]
fn what_is_in_no_namespace_and_access_reviews_are_not_its_business() {
    let plugin = plugin(synced(&[], &[]));
    let node = Attributes {
        namespace: String::new(),
        ..create("Node", "nodes", json!({}))
    };
    let review = Attributes {
        resource: Resource {
            group: "authorization.k8s.io".into(),
            version: "v1".into(),
            resource: "localsubjectaccessreviews".into(),
        },
        kind: Kind {
            group: "authorization.k8s.io".into(),
            version: "v1".into(),
            kind: "LocalSubjectAccessReview".into(),
        },
        ..create_pod(json!({}))
    };
    for request in [node, review] {
        let outcome = judge(&plugin, &request).unwrap();
        assert!(matches!(outcome, Outcome::NotApplicable(_)), "{outcome:?}");
    }
}

#[test]
fn what_is_not_known_and_can_not_be_read_is_not_decided() {
    for is_synced in [true, false] {
        let plugin = plugin(Cluster {
            is_synced,
            is_reachable: false,
            ..synced(&[], &[])
        });
        let error = judge(&plugin, &create_pod(json!({}))).unwrap_err();
        assert_eq!(
            error.to_string(),
            "the namespace could not be read: connection refused"
        );
    }
    // Before the first list the API server knows.
    let plugin = plugin(Cluster {
        is_synced: false,
        ..synced(&[], &[("shop", "Active")])
    });
    assert_eq!(
        judge(&plugin, &create_pod(json!({}))).unwrap(),
        Outcome::Pass
    );
}

#[test]
fn it_can_not_be_made_without_a_cluster() {
    let environment = PluginEnvironment {
        objects: Arc::new(NoCluster::Unconfigured),
        ..PluginEnvironment::default()
    };
    let mut registry = Registry::default();
    registry.register(descriptor(&environment));
    let faults = (registry.get("NamespaceLifecycle").unwrap().factory)(None)
        .err()
        .unwrap();
    assert_eq!(faults[0].message, config::NEEDS_CLUSTER);
}
