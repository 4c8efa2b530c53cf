//! `LimitPodHardAntiAffinityTopology`: a pod may keep others off its node, but
//! not off a whole zone.
//!
//! Denies pods with a *required* anti-affinity term whose topology key is not
//! `kubernetes.io/hostname`. Preferred terms are not looked at.

use crate::registry::{DependsOn, Descriptor};
use portcullis_core::{
    Attributes, Notes, Operation, Operations, Outcome, Phases, Plugin, PluginError,
};

use super::read::{self, OrOutcome, settled};
use super::refusal::forbidden;

const HOSTNAME: &str = "kubernetes.io/hostname";

#[derive(Clone, Copy, Debug)]
struct LimitPodHardAntiAffinityTopology;

pub(super) fn descriptor() -> Descriptor {
    Descriptor {
        name: "LimitPodHardAntiAffinityTopology",
        summary: "Denies pods whose required anti-affinity is not limited to their node.",
        phases: Phases::VALIDATE,
        operations: Operations::WRITES,
        depends_on: DependsOn::Request,
        reads: Vec::new(),
        schema: None,
        factory: super::without_configuration(LimitPodHardAntiAffinityTopology),
    }
}

impl Plugin for LimitPodHardAntiAffinityTopology {
    fn handles(&self, operation: Operation) -> bool {
        Operations::WRITES.contains(operation)
    }

    fn phases(&self) -> Phases {
        Phases::VALIDATE
    }

    fn resources(&self) -> Option<&'static [(&'static str, &'static str)]> {
        Some(&[("", "pods")])
    }

    fn validate(&self, request: &Attributes, _: &mut Notes) -> Result<Outcome, PluginError> {
        settled(check(request))
    }
}

fn check(request: &Attributes) -> OrOutcome<Outcome> {
    let pod = read::pod(request)?;
    let mut terms = pod.object.spec.affinity.pod_anti_affinity.required.iter();
    Ok(match terms.find(|term| term.topology_key != HOSTNAME) {
        None => Outcome::Pass,
        Some(term) => {
            let key = &term.topology_key;
            let detail = format!(
                "affinity.PodAntiAffinity.RequiredDuringScheduling has TopologyKey {key} but only \
                 key {HOSTNAME} is allowed"
            );
            forbidden(request, &detail)
        }
    })
}

#[cfg(test)]
mod tests {
    use portcullis_core::Outcome;
    use serde_json::{Value, json};

    use super::super::testing::{
        assert_looks_at_pods_proper_only, create_spec, denial, plugin, update_spec, validate,
    };

    const NAME: &str = "LimitPodHardAntiAffinityTopology";

    fn required(keys: &[&str]) -> Value {
        let term = |key: &&str| json!({"labelSelector": {}, "topologyKey": key});
        json!({"affinity": {"podAntiAffinity": {
            "requiredDuringSchedulingIgnoredDuringExecution":
                keys.iter().map(term).collect::<Value>(),
        }}})
    }

    #[test]
    fn only_required_anti_affinity_counts() {
        let term = json!([{"topologyKey": "zone"}]);
        let weighted = json!([{"weight": 5, "podAffinityTerm": {"topologyKey": "zone"}}]);
        for affinity in [
            json!(null),
            json!({}),
            json!({"podAntiAffinity": null}),
            json!({"podAntiAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": weighted}}),
            json!({"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": null}}),
            json!({"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": term}}),
        ] {
            let request = create_spec(json!({"affinity": affinity}));
            assert_eq!(
                validate(&plugin(NAME), &request),
                Outcome::Pass,
                "{affinity}"
            );
        }
    }

    #[test]
    fn the_hostname_is_the_only_key_that_is_allowed() {
        let hostname = "kubernetes.io/hostname";
        let good = create_spec(required(&[hostname, hostname]));
        assert_eq!(validate(&plugin(NAME), &good), Outcome::Pass);
        let bad: [&[&str]; 4] = [
            &[" zone "],
            &[""],
            &["kubernetes.io/Hostname"],
            &[hostname, " zone ", hostname],
        ];
        for keys in bad {
            let denial = denial(validate(&plugin(NAME), &create_spec(required(keys))));
            assert_eq!(denial.code, 403, "{keys:?}");
        }
    }

    #[test]
    fn the_text_names_both_keys() {
        assert_eq!(
            denial(validate(&plugin(NAME), &create_spec(required(&["zone"])))).message,
            "pods \"web\" is forbidden: affinity.PodAntiAffinity.RequiredDuringScheduling has \
             TopologyKey zone but only key kubernetes.io/hostname is allowed"
        );
    }

    #[test]
    fn an_update_is_judged_by_the_new_pod_alone() {
        let zone = || required(&["zone"]);
        let bad = update_spec(zone(), zone());
        assert_eq!(denial(validate(&plugin(NAME), &bad)).code, 403);
        let good = update_spec(zone(), json!({}));
        assert_eq!(validate(&plugin(NAME), &good), Outcome::Pass);
    }

    #[test]
    fn only_pods_proper_are_looked_at() {
        assert_looks_at_pods_proper_only(&plugin(NAME));
    }

    #[test]
    fn a_misshapen_affinity_is_refused_with_its_place() {
        let request = create_spec(json!({"affinity": {"podAntiAffinity": {
            "requiredDuringSchedulingIgnoredDuringExecution": [{"topologyKey": 1}],
        }}}));
        let denial = denial(validate(&plugin(NAME), &request));
        assert_eq!(denial.code, 400);
        assert_eq!(
            denial.message,
            "pods \"web\" is malformed: spec.affinity.podAntiAffinity.\
             requiredDuringSchedulingIgnoredDuringExecution[0].topologyKey: expected a string, \
             found a number"
        );
    }
}
