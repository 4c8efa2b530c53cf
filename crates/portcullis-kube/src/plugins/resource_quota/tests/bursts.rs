//! Requests that come before any status tells of the ones before them.

use std::time::{Duration, Instant};

use proptest::prelude::*;

use crate::cluster_objects::{Reading, StaticObjects, Unknown};
use crate::registry::Registry;

use super::*;

/// Quotas whose status changes.
#[derive(Debug)]
struct Changing(Mutex<StaticObjects>);

impl Changing {
    fn new(quota: Value) -> Arc<Self> {
        let mut objects = StaticObjects::default();
        objects.add(quota).expect("a quota");
        Arc::new(Self(Mutex::new(objects)))
    }

    fn set(&self, quota: Value) {
        self.0.lock().add(quota).expect("a quota");
    }
}

impl ClusterObjects for Changing {
    fn get(
        &self,
        kind: &ObjectKind,
        namespace: &str,
        name: &str,
    ) -> Result<Option<Arc<Value>>, Unknown> {
        self.0.lock().get(kind, namespace, name)
    }

    fn list(&self, kind: &ObjectKind, namespace: Option<&str>) -> Result<Vec<Arc<Value>>, Unknown> {
        self.0.lock().list(kind, namespace)
    }

    fn read(&self, _: &ObjectKind, _: &str, _: &str, _: Instant) -> Reading<Option<Arc<Value>>> {
        Box::pin(std::future::ready(Ok(None)))
    }

    fn list_now(&self, _: &ObjectKind, _: &str, _: Instant) -> Reading<Vec<Arc<Value>>> {
        Box::pin(std::future::ready(Ok(Vec::new())))
    }
}

fn looking_at(objects: &Arc<Changing>) -> Arc<dyn Plugin> {
    let environment = PluginEnvironment {
        objects: Arc::clone(objects) as Arc<dyn ClusterObjects>,
        ..PluginEnvironment::default()
    };
    let mut registry = Registry::default();
    crate::plugins::register_all(&mut registry, &environment);
    let descriptor = registry.get(NAME).expect("the plug-in");
    (descriptor.factory)(None).expect("a plug-in")
}

fn pods(hard: u32, used: u32) -> Value {
    quota("q", json!({"pods": hard}), json!({"pods": used}), json!({}))
}

fn plain(name: &str) -> Attributes {
    pod(name, json!({}), json!({}))
}

#[test]
fn a_burst_is_held_to_the_quota() {
    let plugin = with(json!({"pods": 3}), json!({"pods": 1}));
    assert_eq!(objection(&plugin, &plain("a")), "");
    assert_eq!(objection(&plugin, &plain("b")), "");
    let exceeded = "exceeded quota: compute, requested: pods=1, used: pods=3, limited: pods=3";
    assert_eq!(objection(&plugin, &plain("c")), exceeded);
    // The same ones may be asked about again: in the other phase, or because they failed.
    assert_eq!(objection(&plugin, &plain("a")), "");
    assert_eq!(objection(&plugin, &plain("c")), exceeded);
}

#[test]
fn dry_runs_and_denied_requests_take_nothing() {
    let plugin = with(json!({"pods": 1}), json!({"pods": 0}));
    for name in ["a", "b"] {
        let dry = Attributes {
            dry_run: true,
            ..plain(name)
        };
        assert_eq!(objection(&plugin, &dry), "");
    }
    assert_eq!(objection(&plugin, &plain("c")), "");
    let dry = Attributes {
        dry_run: true,
        ..plain("d")
    };
    assert!(!objection(&plugin, &dry).is_empty());
    let plugin = with(json!({"cpu": 2}), json!({"cpu": 0}));
    let asks = |name: &str, cpu: u32| pod(name, json!({"cpu": cpu}), json!({}));
    assert!(!objection(&plugin, &asks("a", 3)).is_empty());
    assert_eq!(objection(&plugin, &asks("b", 2)), "");
}

#[test]
fn what_one_quota_denies_no_quota_is_charged_for() {
    let plugin = with_quotas([
        quota("a", json!({"pods": 1}), json!({"pods": 0}), json!({})),
        quota("b", json!({"cpu": 1}), json!({"cpu": 0}), json!({})),
    ]);
    assert!(
        objection(&plugin, &pod("x", json!({"cpu": 2}), json!({})))
            .starts_with("exceeded quota: b")
    );
    assert_eq!(
        objection(&plugin, &pod("y", json!({"cpu": 1}), json!({}))),
        ""
    );
}

#[test]
fn a_pod_in_both_phases_is_one_pod() {
    let plugin = with(json!({"pods": 2}), json!({"pods": 0}));
    let generated = |name: Option<&str>| {
        let mut request = create_pod(json!({
            "metadata": {"generateName": "web-", "name": name}, "spec": {"containers": []},
        }));
        request.name = String::new();
        request
    };
    for name in ["web-1", "web-2"] {
        assert_eq!(objection(&plugin, &generated(None)), "");
        assert_eq!(objection(&plugin, &generated(Some(name))), "");
    }
    assert!(!objection(&plugin, &generated(None)).is_empty());
}

#[test]
fn a_status_that_tells_of_them_makes_room_for_nothing_more() {
    let objects = Changing::new(pods(3, 0));
    let plugin = looking_at(&objects);
    assert_eq!(objection(&plugin, &plain("a")), "");
    assert_eq!(objection(&plugin, &plain("b")), "");
    objects.set(pods(3, 1));
    assert_eq!(objection(&plugin, &plain("c")), "");
    objects.set(pods(3, 2));
    let exceeded = "exceeded quota: q, requested: pods=1, used: pods=3, limited: pods=3";
    assert_eq!(objection(&plugin, &plain("d")), exceeded);
    objects.set(pods(3, 3));
    assert_eq!(objection(&plugin, &plain("d")), exceeded);
    // One was deleted.
    objects.set(pods(3, 2));
    assert_eq!(objection(&plugin, &plain("d")), "");
    assert!(!objection(&plugin, &plain("e")).is_empty());
    // More is allowed.
    objects.set(pods(5, 3));
    assert_eq!(objection(&plugin, &plain("e")), "");
}

#[test]
fn what_is_never_stored_is_forgotten() {
    let plugin = with(json!({"pods": 1}), json!({"pods": 0}));
    let first = plain("a");
    assert_eq!(objection(&plugin, &first), "");
    let later = |after: Duration| Attributes {
        received: first.received + after,
        ..plain("b")
    };
    assert!(!objection(&plugin, &later(ledger::EXPIRY / 2)).is_empty());
    assert_eq!(objection(&plugin, &later(ledger::EXPIRY)), "");
}

#[test]
fn many_threads_share_the_quota() {
    let plugin = with(json!({"pods": 100}), json!({"pods": 0}));
    let passed: usize = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..8)
            .map(|worker| {
                let plugin = &plugin;
                scope.spawn(move || {
                    let names = (0..50).map(|n| format!("pod-{worker}-{n}"));
                    names
                        .filter(|name| objection(plugin, &plain(name)).is_empty())
                        .count()
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

proptest! {
    /// A cluster that stores what is admitted, and tells of it late.
    #[test]
    fn what_is_stored_never_exceeds_the_quota(
        hard in 0..6000u32,
        steps in prop::collection::vec((0..1500u32, any::<bool>()), 1..40),
    ) {
        let status = |used: u32| {
            let milli = |n: u32| json!({"cpu": format!("{n}m")});
            quota("q", milli(hard), milli(used), json!({}))
        };
        let objects = Changing::new(status(0));
        let plugin = looking_at(&objects);
        let mut stored = 0;
        for (n, (asked, tells)) in steps.into_iter().enumerate() {
            let request = pod(&format!("pod-{n}"), json!({"cpu": format!("{asked}m")}), json!({}));
            let fits = stored + asked <= hard;
            let passes = objection(&plugin, &request).is_empty();
            // Nothing is asked of a quota by a pod that asks for nothing.
            prop_assert_eq!(passes, fits || asked == 0, "{} of {} and {}", asked, hard, stored);
            if passes {
                stored += asked;
            }
            if tells {
                objects.set(status(stored));
            }
        }
    }
}
