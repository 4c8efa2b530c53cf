//! `PodTolerationRestriction`: which taints a namespace's pods tolerate.
//!
//! New pods get the default tolerations of their namespace, or else of the
//! cluster; pods that are not `BestEffort` also get one for memory
//! pressure. Then all of a pod's tolerations must be covered by the list that
//! the namespace, or else the cluster, allows. Annotations of the namespace
//! that are present but empty mean none, and a malformed one is a denial.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use crate::registry::Descriptor;
use portcullis_core::{
    Attributes, Notes, Operation, Operations, Outcome, Phases, Plugin, PluginError,
};
use portcullis_document::Fault;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use crate::cluster_objects::{ObjectKind, Unknown};
use crate::namespaces::{Namespace, Namespaces};
use crate::object::Object;
use crate::pod::{Toleration, read_text};

use super::config::{self, TypeMeta};
use super::edit;
use super::environment::PluginEnvironment;
use super::in_namespace::in_namespace;
use super::quality_of_service;
use super::read::{self, OrOutcome, settled};
use super::refusal::{forbidden, malformed};
use super::tolerations::{self, ConfiguredToleration};

const DEFAULTS: &str = "scheduler.alpha.kubernetes.io/defaultTolerations";
const ALLOWED: &str = "scheduler.alpha.kubernetes.io/tolerationsWhitelist";
const TYPE: TypeMeta = TypeMeta {
    api_versions: &["podtolerationrestriction.admission.k8s.io/v1alpha1"],
    kind: "Configuration",
};
/// Each is compared with each other, so there must be an end to it.
const MAX_TOLERATIONS: usize = 4096;
const MEMORY_PRESSURE: Toleration<'static> = Toleration {
    key: Cow::Borrowed("node.kubernetes.io/memory-pressure"),
    operator: Cow::Borrowed("Exists"),
    value: Cow::Borrowed(""),
    effect: Cow::Borrowed("NoSchedule"),
    toleration_seconds: None,
};

/// Configuration of `PodTolerationRestriction`.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Configuration {
    /// What new pods get in namespaces that don't say.
    default: Option<Vec<Object<ConfiguredToleration>>>,
    /// What pods may have in namespaces that don't say; all when empty.
    whitelist: Option<Vec<Object<ConfiguredToleration>>>,
}

struct PodTolerationRestriction {
    defaults: Vec<Toleration<'static>>,
    allowed: Vec<Toleration<'static>>,
    namespaces: Arc<dyn Namespaces>,
}

impl fmt::Debug for PodTolerationRestriction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PodTolerationRestriction")
            .field("defaults", &self.defaults)
            .field("allowed", &self.allowed)
            .finish_non_exhaustive()
    }
}

pub(super) fn descriptor(environment: &PluginEnvironment) -> Descriptor {
    let environment = environment.clone();
    Descriptor {
        name: "PodTolerationRestriction",
        summary: "Sets and limits the tolerations of a namespace's pods.",
        phases: Phases::BOTH,
        operations: Operations::WRITES,
        depends_on: environment.depends_on(),
        reads: vec![ObjectKind::NAMESPACE],
        schema: Some(config::typed_schema::<Configuration>(TYPE)),
        factory: Box::new(move |configuration| {
            let (defaults, allowed) = configured(configuration)?;
            let plugin = PodTolerationRestriction {
                defaults,
                allowed,
                namespaces: Arc::clone(&environment.namespaces),
            };
            Ok(in_namespace(plugin, &environment, read::is_pod))
        }),
    }
}

type Tolerations = Vec<Toleration<'static>>;

fn configured(value: Option<&Value>) -> Result<(Tolerations, Tolerations), Vec<Fault>> {
    let configuration: Configuration = match config::given(value) {
        Some(value) => config::decode_typed(value, TYPE)?,
        None => Configuration::default(),
    };
    let read = |list: Option<Vec<Object<ConfiguredToleration>>>| -> Tolerations {
        let list = list.unwrap_or_default().into_iter();
        list.map(|Object(toleration)| toleration.into()).collect()
    };
    let (defaults, allowed) = (read(configuration.default), read(configuration.whitelist));
    let mut faults = tolerations::faults("default", &defaults);
    faults.extend(tolerations::faults("whitelist", &allowed));
    if faults.is_empty() {
        Ok((defaults, allowed))
    } else {
        Err(faults)
    }
}

impl PodTolerationRestriction {
    /// The namespace of a pod; other requests need none.
    fn namespace(&self, request: &Attributes) -> Result<Option<Arc<Namespace>>, Unknown> {
        match read::is_pod(request) {
            true => self.namespaces.get(&request.namespace),
            false => Ok(None),
        }
    }

    fn merge(&self, request: &mut Attributes, namespace: Option<&Namespace>) -> OrOutcome<Outcome> {
        let pod = read::pod(request)?;
        let mut all = pod.object.spec.tolerations.clone();
        let present = all.len();
        if request.operation == Operation::Create {
            let own = annotated(request, namespace, DEFAULTS)?;
            all.extend(own.unwrap_or_else(|| self.defaults.clone()));
        }
        let is_best_effort = quality_of_service::is_best_effort(&pod);
        if !is_best_effort.map_err(|error| malformed(request, error))? {
            all.push(MEMORY_PRESSURE);
        }
        if all.len() > MAX_TOLERATIONS {
            let detail = format!("spec.tolerations: more than {MAX_TOLERATIONS}");
            return Err(malformed(request, detail));
        }
        let kept = if all.len() > present {
            tolerations::without_covered(&all)
        } else {
            vec![true; present]
        };
        let merged: Vec<Toleration<'_>> = all
            .iter()
            .zip(&kept)
            .filter(|(_, keep)| **keep)
            .map(|(one, _)| one.clone())
            .collect();
        self.judge(request, namespace, &merged)?;
        if kept
            .iter()
            .enumerate()
            .all(|(at, keep)| *keep == (at < present))
        {
            return Ok(Outcome::Pass);
        }
        let mut added: Vec<Value> = all.iter().skip(present).map(tolerations::to_json).collect();
        edit::spec(request, |spec| {
            if let Some(list) = edit::tolerations(spec) {
                list.append(&mut added);
                let mut kept = kept.into_iter();
                list.retain(|_| kept.next().unwrap_or(true));
            }
        })
    }

    fn check(&self, request: &Attributes, namespace: Option<&Namespace>) -> OrOutcome<Outcome> {
        let pod = read::pod(request)?;
        self.judge(request, namespace, &pod.object.spec.tolerations)?;
        Ok(Outcome::Pass)
    }

    /// Denies tolerations that are not allowed.
    fn judge(
        &self,
        request: &Attributes,
        namespace: Option<&Namespace>,
        found: &[Toleration<'_>],
    ) -> OrOutcome<()> {
        if found.is_empty() {
            return Ok(());
        }
        let (allowed, scope) = match annotated(request, namespace, ALLOWED)? {
            Some(own) => (own, "namespace"),
            None => (self.allowed.clone(), "cluster"),
        };
        if tolerations::are_allowed(found, &allowed) {
            return Ok(());
        }
        let detail = format!(
            "pod tolerations (possibly merged with namespace default tolerations) conflict with \
             its {scope} whitelist"
        );
        Err(forbidden(request, &detail))
    }
}

/// The tolerations in a namespace's annotation; none if it doesn't have it.
fn annotated<'a>(
    request: &Attributes,
    namespace: Option<&'a Namespace>,
    annotation: &str,
) -> OrOutcome<Option<Vec<Toleration<'a>>>> {
    let text = namespace.and_then(|namespace| namespace.annotations.get(annotation));
    match text.map(String::as_str) {
        None => Ok(None),
        Some("") => Ok(Some(Vec::new())),
        Some(text) => read_text(text).map(Some).map_err(|error| {
            let name = &request.namespace;
            let detail = format!("namespace {name:?}: annotation {annotation}: {error}");
            forbidden(request, &detail)
        }),
    }
}

impl Plugin for PodTolerationRestriction {
    fn handles(&self, operation: Operation) -> bool {
        Operations::WRITES.contains(operation)
    }

    fn phases(&self) -> Phases {
        Phases::BOTH
    }

    fn resources(&self) -> Option<&'static [(&'static str, &'static str)]> {
        Some(&[("", "pods")])
    }

    fn admit(&self, request: &mut Attributes, _: &mut Notes) -> Result<Outcome, PluginError> {
        let namespace = self.namespace(request)?;
        settled(self.merge(request, namespace.as_deref()))
    }

    fn validate(&self, request: &Attributes, _: &mut Notes) -> Result<Outcome, PluginError> {
        let namespace = self.namespace(request)?;
        settled(self.check(request, namespace.as_deref()))
    }
}

#[cfg(test)]
mod tests;
