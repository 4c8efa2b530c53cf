//! What to say of pods that are there when a namespace begins to enforce more.
//!
//! The namespace is changed all the same; the user is told which pods would not
//! get in again. Listing the pods, the limit on their number and the deadline
//! are the caller's: it feeds what it has time for.

use std::collections::{BTreeMap, HashSet};

use super::{config::Exemptions, evaluate::evaluate, level::LevelVersion, text::go_quoted};
use crate::pod::PodObject;

/// How many pods Kubernetes looks at, at most.
pub const MAX_PODS: usize = 3000;

/// The order in which to look at pods, as indexes: one pod of each controller
/// first, so that a limit does not leave whole workloads unseen. Pods of exempt
/// runtime classes are left out.
#[must_use]
pub fn prioritize<'p, 'a: 'p>(
    pods: impl IntoIterator<Item = &'p PodObject<'a>>,
    exemptions: &Exemptions,
) -> Vec<usize> {
    let (mut first, mut others) = (Vec::new(), Vec::new());
    let mut seen = HashSet::new();
    for (index, pod) in pods.into_iter().enumerate() {
        let class = pod.spec.runtime_class_name.as_deref();
        if class.is_some_and(|class| exemptions.has_runtime_class(class)) {
            continue;
        }
        let controller = pod.metadata.controller().map(|owner| &*owner.uid);
        if controller.is_none_or(|uid| seen.insert(uid)) {
            first.push(index);
        } else {
            others.push(index);
        }
    }
    first.append(&mut others);
    first
}

/// Gathers violations of existing pods into warnings.
#[derive(Debug)]
pub struct Scan {
    enforce: LevelVersion,
    checked: usize,
    /// By violation text: the first pod by name, and how many there are.
    found: BTreeMap<String, (String, usize)>,
}

impl Scan {
    /// A scan for what is now enforced.
    #[must_use]
    pub fn new(enforce: LevelVersion) -> Self {
        Self {
            enforce,
            checked: 0,
            found: BTreeMap::new(),
        }
    }

    /// Looks at one pod.
    pub fn check(&mut self, pod: &PodObject<'_>) {
        self.checked += 1;
        let violations = evaluate(self.enforce, pod);
        if violations.is_empty() {
            return;
        }
        let name = &*pod.metadata.name;
        self.found
            .entry(violations.reasons())
            .and_modify(|(first, count)| {
                *count += 1;
                if name < first.as_str() {
                    name.clone_into(first);
                }
            })
            .or_insert_with(|| (name.to_owned(), 1));
    }

    /// The warnings, given how many pods there were to look at.
    #[must_use]
    pub fn warnings(&self, namespace: &str, total: usize) -> Vec<String> {
        let mut warnings = Vec::new();
        if self.checked < total {
            warnings.push(format!(
                "new PodSecurity enforce level only checked against the first {} of {total} existing pods",
                self.checked
            ));
        }
        if !self.found.is_empty() {
            warnings.push(format!(
                "existing pods in namespace {} violate the new PodSecurity enforce level \"{}\"",
                go_quoted(namespace),
                self.enforce
            ));
        }
        let mut lines: Vec<String> = self
            .found
            .iter()
            .map(|(reasons, (first, count))| match count {
                1 => format!("{first}: {reasons}"),
                2 => format!("{first} (and 1 other pod): {reasons}"),
                _ => format!("{first} (and {} other pods): {reasons}", count - 1),
            })
            .collect();
        lines.sort_unstable();
        warnings.append(&mut lines);
        warnings
    }
}

/// The warning when the pods cannot be listed.
pub const LIST_FAILED: &str = "failed to list pods while checking new PodSecurity enforce level";

#[cfg(test)]
mod tests {
    use super::{
        super::{Level, LevelVersion, Version, config::Exemptions},
        Scan, prioritize,
    };
    use crate::pod::PodObject;

    const BASELINE: LevelVersion = LevelVersion::new(Level::Baseline, Version::Latest);

    #[test]
    fn equal_violations_share_a_line() {
        let mut scan = Scan::new(BASELINE);
        for text in [
            r#"{"metadata":{"name":"c"},"spec":{"hostPID":true}}"#,
            r#"{"metadata":{"name":"b"},"spec":{"hostIPC":true}}"#,
            r#"{"metadata":{"name":"d"},"spec":{"hostNetwork":true}}"#,
            r#"{"metadata":{"name":"a"},"spec":{"volumes":[{"name":"v","hostPath":{}}]}}"#,
            r#"{"metadata":{"name":"fine"},"spec":{}}"#,
        ] {
            scan.check(&PodObject::from_json(text).expect("a pod"));
        }
        assert_eq!(
            scan.warnings("ns", 7),
            [
                "new PodSecurity enforce level only checked against the first 5 of 7 existing pods",
                "existing pods in namespace \"ns\" violate the new PodSecurity enforce level \"baseline:latest\"",
                "a: hostPath volumes",
                "b (and 2 other pods): host namespaces",
            ]
        );
    }

    #[test]
    fn pods_that_are_fine_give_no_warnings() {
        let mut scan = Scan::new(BASELINE);
        scan.check(&PodObject::default());
        assert!(scan.warnings("ns", 1).is_empty());
    }

    #[test]
    fn one_pod_of_each_controller_comes_first() {
        let owned = |uid: &str| {
            format!(r#"{{"metadata":{{"ownerReferences":[{{"uid":"{uid}","controller":true}}]}}}}"#)
        };
        let exempt = r#"{"spec":{"runtimeClassName":"kata"}}"#.to_owned();
        let texts = [
            owned("a"),
            owned("a"),
            exempt,
            "{}".to_owned(),
            owned("b"),
            owned("a"),
        ];
        let pods: Vec<_> = texts
            .iter()
            .map(|text| PodObject::from_json(text).expect("a pod"))
            .collect();
        let exemptions = Exemptions {
            runtime_classes: ["kata".to_owned()].into(),
            ..Exemptions::default()
        };
        assert_eq!(prioritize(&pods, &exemptions), [0, 3, 4, 1, 5]);
    }
}
