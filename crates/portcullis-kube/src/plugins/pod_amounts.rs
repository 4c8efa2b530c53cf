//! What the containers of a pod ask for, and what the pod asks for as a whole.
//!
//! Containers that run beside each other add up. Init containers run one after the other, so the largest counts;
//! one with `restartPolicy: Always` (a sidecar) goes on running beside everything that comes after it. Ephemeral
//! containers can't ask for resources.

use crate::pod::{ContainerKind, PodSpec, Resources, ShapeError};
use crate::quantity::ResourceList;

/// What is requested, and what it is limited to.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Amounts {
    /// Guaranteed amounts.
    pub(crate) requests: ResourceList,
    /// Upper bounds.
    pub(crate) limits: ResourceList,
}

impl Amounts {
    /// Reads the resources that stand at this place of an object.
    ///
    /// # Errors
    ///
    /// When one of them is not an amount.
    pub(crate) fn read(
        resources: &Resources<'_>,
        path: &dyn std::fmt::Display,
    ) -> Result<Self, ShapeError> {
        let list = |name| format!("{path}.{name}");
        Ok(Self {
            requests: ResourceList::read(&resources.requests, &list("requests"))?,
            limits: ResourceList::read(&resources.limits, &list("limits"))?,
        })
    }
}

/// A container or init container with its resources.
#[derive(Clone, Debug)]
pub(crate) struct ContainerAmounts<'p> {
    /// Init or regular.
    pub(crate) kind: ContainerKind,
    /// Its name.
    pub(crate) name: &'p str,
    /// Whether it goes on running beside those after it.
    pub(crate) is_sidecar: bool,
    /// Its resources.
    pub(crate) amounts: Amounts,
}

/// The containers, then the init containers of a pod, with their resources.
///
/// # Errors
///
/// When one of those is not an amount.
pub(crate) fn containers<'p>(
    spec: &'p PodSpec<'_>,
) -> Result<Vec<ContainerAmounts<'p>>, ShapeError> {
    let of = |kind| {
        let all = spec.all_containers().filter(move |one| one.kind == kind);
        all.map(|one| {
            let path = format!("{}.resources", one.path());
            let restarts = one.container.restart_policy.as_deref();
            Ok(ContainerAmounts {
                kind: one.kind,
                name: &one.container.name,
                is_sidecar: one.kind == ContainerKind::Init && restarts == Some("Always"),
                amounts: Amounts::read(&one.container.resources, &path)?,
            })
        })
    };
    of(ContainerKind::Regular)
        .chain(of(ContainerKind::Init))
        .collect()
}

/// The sum of what containers ask for, given as [`containers`] lists them.
pub(crate) fn total(containers: &[ContainerAmounts<'_>]) -> Amounts {
    Amounts {
        requests: total_of(containers, |amounts| &amounts.requests),
        limits: total_of(containers, |amounts| &amounts.limits),
    }
}

fn total_of(
    containers: &[ContainerAmounts<'_>],
    list: impl Fn(&Amounts) -> &ResourceList,
) -> ResourceList {
    let mut total = ResourceList::default();
    let mut sidecars = ResourceList::default();
    let mut largest = ResourceList::default();
    for container in containers {
        let own = list(&container.amounts);
        match container.kind {
            ContainerKind::Init if container.is_sidecar => {
                total.add(own);
                sidecars.add(own);
                largest.raise_to(&sidecars);
            }
            ContainerKind::Init => {
                let mut together = own.clone();
                together.add(&sidecars);
                largest.raise_to(&together);
            }
            ContainerKind::Regular | ContainerKind::Ephemeral => total.add(own),
        }
    }
    total.raise_to(&largest);
    total
}

/// Puts amounts of the pod as a whole in place of the containers'.
pub(crate) fn override_with(
    total: &mut ResourceList,
    of_pod: &ResourceList,
    counts: fn(&str) -> bool,
) {
    for (name, amount) in of_pod.iter().filter(|(name, _)| counts(name)) {
        total.insert(name, amount.clone());
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::*;
    use crate::pod::PodObject;
    use crate::quantity::Quantity;

    #[expect(clippy::needless_pass_by_value, reason = "shorter calls")]
    fn requests(spec: Value) -> String {
        let pod = json!({"spec": spec});
        let pod = PodObject::from_value(&pod).unwrap();
        total(&containers(&pod.spec).unwrap()).requests.to_string()
    }

    fn asks(cpu: &str) -> Value {
        json!({"resources": {"requests": {"cpu": cpu}}})
    }

    fn sidecar(cpu: &str) -> Value {
        json!({"restartPolicy": "Always", "resources": {"requests": {"cpu": cpu}}})
    }

    #[test]
    fn containers_add_up_and_the_largest_init_container_counts() {
        for (init, regular, expected) in [
            (json!([]), json!([]), ""),
            (json!([]), json!([asks("100m"), asks("200m")]), "cpu=300m"),
            (
                json!([asks("1")]),
                json!([asks("100m"), asks("200m")]),
                "cpu=1",
            ),
            (
                json!([asks("250m"), asks("200m")]),
                json!([asks("300m")]),
                "cpu=300m",
            ),
            (json!([sidecar("1")]), json!([asks("2")]), "cpu=3"),
            // The second init container runs beside the sidecar, but not beside the container.
            (
                json!([sidecar("1"), asks("5")]),
                json!([asks("2")]),
                "cpu=6",
            ),
            (
                json!([asks("5"), sidecar("1")]),
                json!([asks("2")]),
                "cpu=5",
            ),
            (
                json!([sidecar("1"), asks("1"), sidecar("2"), asks("3")]),
                json!([asks("1")]),
                "cpu=6",
            ),
            (
                json!([{"restartPolicy": "Never", "resources": {"requests": {"cpu": 3}}}]),
                json!([asks("1")]),
                "cpu=3",
            ),
        ] {
            let spec = json!({"initContainers": init, "containers": regular});
            assert_eq!(requests(spec.clone()), expected, "{spec}");
        }
        let spec = json!({"containers": [asks("1")], "ephemeralContainers": [asks("5")]});
        assert_eq!(requests(spec), "cpu=1");
    }

    #[test]
    fn a_restart_policy_does_not_make_a_sidecar_of_a_container() {
        let spec =
            json!({"containers": [sidecar("1"), sidecar("1")], "initContainers": [asks("3")]});
        assert_eq!(requests(spec), "cpu=3");
    }

    #[test]
    fn an_error_names_its_place() {
        let pod =
            json!({"spec": {"initContainers": [{}, {"resources": {"limits": {"cpu": "much"}}}]}});
        let pod = PodObject::from_value(&pod).unwrap();
        assert_eq!(
            containers(&pod.spec).unwrap_err().to_string(),
            "spec.initContainers[1].resources.limits.cpu: `much` is not a quantity"
        );
    }

    proptest! {
        #[test]
        fn a_total_is_at_least_each_part(init in prop::collection::vec((0..5000u32, any::<bool>()), 0..6),
            regular in prop::collection::vec(0..5000u32, 0..6)) {
            let milli = |n: &u32| format!("{n}m");
            let init: Vec<Value> = init.iter().map(|(n, beside)| if *beside { sidecar(&milli(n)) } else { asks(&milli(n)) })
                .collect();
            let sum: u32 = regular.iter().sum();
            let regular: Vec<Value> = regular.iter().map(|n| asks(&milli(n))).collect();
            let pod = json!({"spec": {"initContainers": init, "containers": regular}});
            let pod = PodObject::from_value(&pod).unwrap();
            let containers = containers(&pod.spec).unwrap();
            let total = total(&containers).requests.get("cpu").cloned().unwrap_or(Quantity::ZERO);
            for one in &containers {
                prop_assert!(one.amounts.requests.get("cpu").is_none_or(|cpu| *cpu <= total));
            }
            let sum = Quantity::parse(&format!("{sum}m")).unwrap();
            prop_assert!(total >= sum);
        }
    }
}
