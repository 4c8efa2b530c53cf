//! `DefaultTolerationSeconds`: pods stay for a while on a node that fails.
//!
//! A pod that says nothing of the taints `not-ready` and `unreachable` gets a
//! toleration of each, for five minutes unless configured otherwise. What the
//! pod says itself, be it about all taints, is left as it is. (Kubernetes has
//! flags of the API server instead of a configuration.)

use std::sync::Arc;

use crate::registry::{DependsOn, Descriptor};
use portcullis_core::{
    Attributes, Notes, Operation, Operations, Outcome, Phases, Plugin, PluginError,
};
use portcullis_document::Fault;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use crate::pod::Toleration;

use super::read::{self, OrOutcome, settled};
use super::{config, edit};

const NOT_READY: &str = "node.kubernetes.io/not-ready";
const UNREACHABLE: &str = "node.kubernetes.io/unreachable";
const NO_EXECUTE: &str = "NoExecute";
const DEFAULT_SECONDS: i64 = 300;

/// Configuration of `DefaultTolerationSeconds`.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct Configuration {
    /// How long pods stay on a node that is not ready; 300 when left out.
    not_ready_toleration_seconds: Option<i64>,
    /// How long pods stay on a node that can't be reached; 300 when left out.
    unreachable_toleration_seconds: Option<i64>,
}

#[derive(Debug)]
struct DefaultTolerationSeconds {
    defaults: [Toleration<'static>; 2],
}

pub(super) fn descriptor() -> Descriptor {
    Descriptor {
        name: "DefaultTolerationSeconds",
        summary: "Sets default toleration times for pods on failing nodes.",
        phases: Phases::ADMIT,
        operations: Operations::WRITES,
        depends_on: DependsOn::Request,
        reads: Vec::new(),
        schema: Some(config::schema::<Configuration>()),
        factory: Box::new(|configuration| {
            let plugin = DefaultTolerationSeconds::from_configuration(configuration)?;
            Ok(Arc::new(plugin))
        }),
    }
}

impl DefaultTolerationSeconds {
    fn from_configuration(configuration: Option<&Value>) -> Result<Self, Vec<Fault>> {
        let configuration: Configuration = match config::given(configuration) {
            Some(value) => config::decode(value)?,
            None => Configuration::default(),
        };
        let defaults = [
            (NOT_READY, configuration.not_ready_toleration_seconds),
            (UNREACHABLE, configuration.unreachable_toleration_seconds),
        ]
        .map(|(taint, seconds)| Toleration {
            key: taint.into(),
            operator: "Exists".into(),
            effect: NO_EXECUTE.into(),
            toleration_seconds: Some(seconds.unwrap_or(DEFAULT_SECONDS)),
            ..Toleration::default()
        });
        Ok(Self { defaults })
    }

    fn add(&self, request: &mut Attributes) -> OrOutcome<Outcome> {
        let pod = read::pod(request)?;
        let speaks_of = |taint: &str| {
            let mut present = pod.object.spec.tolerations.iter();
            present.any(|one| {
                (one.key.is_empty() || one.key == taint)
                    && (one.effect.is_empty() || one.effect == NO_EXECUTE)
            })
        };
        let defaults = self.defaults.iter().cloned();
        let missing: Vec<_> = defaults.filter(|one| !speaks_of(&one.key)).collect();
        if missing.is_empty() {
            return Ok(Outcome::Pass);
        }
        edit::spec(request, |spec| edit::add_tolerations(spec, &missing))
    }
}

impl Plugin for DefaultTolerationSeconds {
    fn handles(&self, operation: Operation) -> bool {
        Operations::WRITES.contains(operation)
    }

    fn phases(&self) -> Phases {
        Phases::ADMIT
    }

    fn resources(&self) -> Option<&'static [(&'static str, &'static str)]> {
        Some(&[("", "pods")])
    }

    fn admit(&self, request: &mut Attributes, _: &mut Notes) -> Result<Outcome, PluginError> {
        settled(self.add(request))
    }
}

#[cfg(test)]
mod tests {
    use portcullis_core::Outcome;
    use serde_json::{Value, json};

    use super::super::testing::{
        admit, assert_looks_at_pods_proper_only, configured, create_spec, faults, is_touched,
        object_of, plugin, registry, update_spec,
    };

    const NAME: &str = "DefaultTolerationSeconds";

    fn default(taint: &str, seconds: i64) -> Value {
        json!({
            "key": format!("node.kubernetes.io/{taint}"),
            "operator": "Exists",
            "effect": "NoExecute",
            "tolerationSeconds": seconds,
        })
    }

    /// The tolerations after the plug-in; none if it changed nothing.
    #[expect(clippy::needless_pass_by_value, reason = "shorter calls")]
    fn after(tolerations: Value) -> Option<Value> {
        let mut request = create_spec(json!({"tolerations": tolerations}));
        assert_eq!(admit(&plugin(NAME), &mut request), Outcome::Pass);
        is_touched(&request).then(|| object_of(&request)["spec"]["tolerations"].clone())
    }

    #[test]
    fn a_silent_pod_gets_both() {
        let both = json!([default("not-ready", 300), default("unreachable", 300)]);
        for silent in [json!(null), json!([])] {
            assert_eq!(after(silent), Some(both.clone()));
        }
        for mut request in [create_spec(json!({})), update_spec(json!({}), json!({}))] {
            assert_eq!(admit(&plugin(NAME), &mut request), Outcome::Pass);
            assert_eq!(object_of(&request)["spec"]["tolerations"], both);
        }
    }

    #[test]
    fn what_the_pod_says_stays() {
        let not_ready = |effect: &str| json!({"key": "node.kubernetes.io/not-ready", "operator": "Exists", "effect": effect});
        for one in [not_ready("NoExecute"), not_ready("")] {
            assert_eq!(
                after(json!([one])),
                Some(json!([one, default("unreachable", 300)]))
            );
        }
        let scheduling = not_ready("NoSchedule");
        assert_eq!(
            after(json!([scheduling])),
            Some(json!([
                scheduling,
                default("not-ready", 300),
                default("unreachable", 300)
            ]))
        );
        assert_eq!(
            after(json!([default("unreachable", 7)])),
            Some(json!([
                default("unreachable", 7),
                default("not-ready", 300)
            ]))
        );
    }

    #[test]
    fn a_pod_that_speaks_of_both_is_not_touched() {
        for tolerations in [
            json!([default("unreachable", 1), default("not-ready", 2)]),
            json!([{"operator": "Exists"}]),
            json!([{"operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 1}]),
            json!([{}]),
        ] {
            assert_eq!(after(tolerations.clone()), None, "{tolerations}");
        }
    }

    #[test]
    fn other_taints_do_not_count() {
        let other = json!({"key": "not-ready", "operator": "Exists"});
        assert_eq!(
            after(json!([other])),
            Some(json!([
                other,
                default("not-ready", 300),
                default("unreachable", 300)
            ]))
        );
    }

    #[test]
    fn the_seconds_can_be_configured() {
        let registry = registry(&[]);
        let own = configured(
            &registry,
            NAME,
            json!({"notReadyTolerationSeconds": 0, "unreachableTolerationSeconds": 20}),
        );
        let mut request = create_spec(json!({}));
        assert_eq!(admit(&own, &mut request), Outcome::Pass);
        assert_eq!(
            object_of(&request)["spec"]["tolerations"],
            json!([default("not-ready", 0), default("unreachable", 20)])
        );
        assert_eq!(
            faults(&registry, NAME, json!({"notReadyTolerationSeconds": "1m"})),
            ["notReadyTolerationSeconds: expected a whole number, found the text `1m`"]
        );
        assert!(faults(&registry, NAME, json!({"seconds": 1}))[0].starts_with("seconds: "));
    }

    #[test]
    fn only_pods_proper_are_looked_at() {
        assert_looks_at_pods_proper_only(&plugin(NAME));
    }
}
