//! LimitRanges that the watch has not seen.

use std::pin::pin;
use std::task::{Context, Poll, Waker};

use crate::cluster_objects::{Reading, StaticObjects, Unknown};

use super::*;

/// A watch that has seen nothing, and what the API server has.
#[derive(Debug)]
struct Lagging(Result<StaticObjects, String>);

impl ClusterObjects for Lagging {
    fn get(&self, _: &ObjectKind, _: &str, _: &str) -> Result<Option<Arc<Value>>, Unknown> {
        Ok(None)
    }

    fn list(&self, _: &ObjectKind, _: Option<&str>) -> Result<Vec<Arc<Value>>, Unknown> {
        Ok(Vec::new())
    }

    fn read(&self, _: &ObjectKind, _: &str, _: &str, _: Instant) -> Reading<Option<Arc<Value>>> {
        Box::pin(std::future::ready(Ok(None)))
    }

    fn list_now(
        &self,
        kind: &ObjectKind,
        namespace: &str,
        deadline: Instant,
    ) -> Reading<Vec<Arc<Value>>> {
        match &self.0 {
            Ok(objects) => objects.list_now(kind, namespace, deadline),
            Err(why) => Box::pin(std::future::ready(Err(why.clone()))),
        }
    }
}

fn lagging(live: Result<Value, String>) -> Arc<dyn Plugin> {
    let live = live.map(|range| {
        let mut objects = StaticObjects::default();
        objects.add(range).expect("a LimitRange");
        objects
    });
    let environment = PluginEnvironment {
        objects: Arc::new(Lagging(live)),
        ..PluginEnvironment::default()
    };
    (descriptor(&environment).factory)(None).expect("a plug-in")
}

fn begun(plugin: &Arc<dyn Plugin>, phase: Phase, request: &Attributes) -> Finished {
    let mut pending = pin!(plugin.begin(phase, request, None));
    match pending
        .as_mut()
        .poll(&mut Context::from_waker(Waker::noop()))
    {
        Poll::Ready(finished) => finished,
        Poll::Pending => panic!("it waits"),
    }
}

#[test]
fn a_limit_range_that_the_watch_has_not_seen_counts() {
    let plugin = lagging(Ok(json!({
        "apiVersion": "v1", "kind": "LimitRange", "metadata": {"name": "limits", "namespace": "shop"},
        "spec": {"limits": [{"type": "Container", "default": {"cpu": 1}, "max": {"cpu": 2}}]},
    })));
    let admitted = begun(&plugin, Phase::Admit, &pod(json!({})));
    assert!(matches!(admitted.outcome, Ok(Outcome::Pass)));
    let object = admitted.object.expect("a changed pod");
    assert_eq!(
        object["spec"]["containers"][0]["resources"]["limits"]["cpu"],
        "1"
    );
    let validated = begun(
        &plugin,
        Phase::Validate,
        &pod(json!({"limits": {"cpu": 3}})),
    );
    assert!(matches!(validated.outcome, Ok(Outcome::Deny(_))));
    let service = begun(&plugin, Phase::Admit, &service(json!({})));
    assert!(matches!(service.outcome, Ok(Outcome::NotApplicable(_))));
    assert!(service.object.is_none());
}

#[test]
fn limit_ranges_that_can_not_be_listed_are_an_error() {
    let plugin = lagging(Err("connection refused".to_owned()));
    let finished = begun(&plugin, Phase::Validate, &pod(json!({})));
    assert_eq!(
        finished.outcome.expect_err("an error").to_string(),
        "the LimitRanges of the namespace could not be listed: connection refused"
    );
}
