//! The pods that a namespace has when it begins to enforce more: which of them it would deny.
//!
//! Nothing happens to them; the user is told, in Kubernetes' words. Not all are looked at if there are very many, so
//! those come first that no other pod of the same controller stands for.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use serde_json::Value;

use super::config::Exemptions;
use super::evaluate::evaluate;
use super::level::LevelVersion;
use super::text::go_quoted;
use crate::pod::{PodObject, read_value};

/// So many pods are looked at.
pub(crate) const MOST: usize = 3000;
/// What is said where the pods aren't known.
pub(crate) const UNKNOWN: &str = "failed to list pods while checking new PodSecurity enforce level";

/// The pods with the same violations.
struct Found {
    first: String,
    count: usize,
}

/// What a user is told of the namespace's pods. No more of them are looked at once `is_late` says so.
#[must_use]
pub(crate) fn warnings(
    namespace: &str,
    enforce: LevelVersion,
    exemptions: &Exemptions,
    pods: &[Arc<Value>],
    mut is_late: impl FnMut() -> bool,
) -> Vec<String> {
    let pods = pods.iter().filter_map(|pod| read_value(pod).ok());
    let pods = in_order(pods, exemptions);
    let mut checked = 0;
    let mut found: BTreeMap<String, Found> = BTreeMap::new();
    for pod in pods.iter().take(MOST) {
        let violations = evaluate(enforce, pod);
        if !violations.is_empty() {
            let first = || Found {
                first: pod.metadata.name.clone().into_owned(),
                count: 0,
            };
            found
                .entry(violations.reasons())
                .or_insert_with(first)
                .count += 1;
        }
        checked += 1;
        if is_late() {
            break;
        }
    }
    let mut warnings = Vec::new();
    if checked < pods.len() {
        let all = pods.len();
        warnings.push(format!(
            "new PodSecurity enforce level only checked against the first {checked} of {all} existing pods"
        ));
    }
    if !found.is_empty() {
        let namespace = go_quoted(namespace);
        warnings.push(format!(
            "existing pods in namespace {namespace} violate the new PodSecurity enforce level \"{enforce}\""
        ));
    }
    let mut lines: Vec<String> = found.iter().map(|(why, pods)| line(why, pods)).collect();
    lines.sort();
    warnings.extend(lines);
    warnings
}

fn line(why: &str, Found { first, count }: &Found) -> String {
    match count {
        0 | 1 => format!("{first}: {why}"),
        2 => format!("{first} (and 1 other pod): {why}"),
        count => format!("{first} (and {} other pods): {why}", count - 1),
    }
}

/// Those that are not exempt, with one of each controller before the others.
fn in_order<'a>(
    pods: impl Iterator<Item = PodObject<'a>>,
    exemptions: &Exemptions,
) -> Vec<PodObject<'a>> {
    let mut controllers: HashSet<String> = HashSet::new();
    let (mut first, mut others) = (Vec::new(), Vec::new());
    for pod in pods {
        let class = pod.spec.runtime_class_name.as_deref();
        if class.is_some_and(|class| exemptions.has_runtime_class(class)) {
            continue;
        }
        let mut owners = pod.metadata.owner_references.iter();
        let controller = owners.find(|owner| owner.controller);
        let uid = controller.map(|owner| owner.uid.clone().into_owned());
        match uid.is_some_and(|uid| !controllers.insert(uid)) {
            true => others.push(pod),
            false => first.push(pod),
        }
    }
    first.append(&mut others);
    first
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::level::{Level, Version};
    use super::*;

    const BASELINE: LevelVersion = LevelVersion {
        level: Level::Baseline,
        version: Version::Latest,
    };

    fn pod(name: &str, spec: &Value, controller: Option<&str>) -> Arc<Value> {
        let owners = controller.map(|uid| json!([{"uid": uid, "controller": true}]));
        Arc::new(json!({"metadata": {"name": name, "ownerReferences": owners}, "spec": spec}))
    }

    fn bad() -> Value {
        json!({"hostPID": true, "containers": [{"name": "a", "securityContext": {"privileged": true}}]})
    }

    fn told(pods: &[Arc<Value>]) -> Vec<String> {
        warnings("shop", BASELINE, &Exemptions::default(), pods, || false)
    }

    #[test]
    fn violations_are_told_with_one_pod_and_the_number_of_the_others() {
        let fine = json!({"containers": [{"name": "a"}]});
        let path = json!({"containers": [], "volumes": [{"name": "v", "hostPath": {"path": "/"}}]});
        assert_eq!(told(&[pod("a", &fine, None)]), Vec::<String>::new());
        let pods = [
            pod("z", &path, None),
            pod("a", &bad(), None),
            pod("b", &bad(), None),
            pod("c", &fine, None),
        ];
        let expected = [
            "existing pods in namespace \"shop\" violate the new PodSecurity enforce level \"baseline:latest\"",
            "a (and 1 other pod): host namespaces, privileged",
            "z: hostPath volumes",
        ];
        assert_eq!(told(&pods), expected);
        let three = [
            pod("a", &bad(), None),
            pod("b", &bad(), None),
            pod("c", &bad(), None),
        ];
        assert_eq!(
            told(&three)[1],
            "a (and 2 other pods): host namespaces, privileged"
        );
    }

    #[test]
    fn one_pod_of_each_controller_comes_first() {
        let mut pods: Vec<_> = (0..MOST)
            .map(|n| pod(&format!("a{n:04}"), &json!({}), Some("x")))
            .collect();
        pods.push(pod("z", &bad(), Some("y")));
        let all = MOST + 1;
        let expected = [
            format!(
                "new PodSecurity enforce level only checked against the first {MOST} of {all} existing pods"
            ),
            "existing pods in namespace \"shop\" violate the new PodSecurity enforce level \"baseline:latest\""
                .to_owned(),
            "z: host namespaces, privileged".to_owned(),
        ];
        assert_eq!(told(&pods), expected);
    }

    #[test]
    fn it_ends_when_the_time_is_up() {
        let pods = [pod("a", &bad(), None), pod("b", &bad(), None)];
        let mut left = 1;
        let late = || {
            left -= 1;
            left == 0
        };
        let warnings = warnings("shop", BASELINE, &Exemptions::default(), &pods, late);
        assert_eq!(
            warnings[0],
            "new PodSecurity enforce level only checked against the first 1 of 2 existing pods"
        );
        assert_eq!(warnings[2], "a: host namespaces, privileged");
    }

    #[test]
    fn exempt_runtime_classes_and_pods_that_can_not_be_read_are_left_out() {
        let mut spec = bad();
        spec["runtimeClassName"] = json!("kata");
        let exemptions = Exemptions {
            runtime_classes: ["kata".to_owned()].into(),
            ..Exemptions::default()
        };
        let pods = [pod("a", &spec, None), Arc::new(json!({"spec": 1}))];
        let told = warnings("shop", BASELINE, &exemptions, &pods, || false);
        assert_eq!(told, Vec::<String>::new());
    }
}
