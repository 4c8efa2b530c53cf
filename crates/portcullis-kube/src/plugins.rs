//! The built-in plug-ins of Kubernetes.
//!
//! One file each, under the name it has in Kubernetes; [`register_all`] registers
//! them. They see what Kubernetes' own plug-ins see and give the same
//! answers, but read JSON: an object of the wrong shape is denied with the path
//! of the fault, whatever the failure mode.
//!
//! Shared parts: `config` decodes configurations, `document` and `read` read objects, `edit`
//! changes them, `refusal` words denials, `labels` and `tolerations` know the
//! rules of those. Most are functions of the request. What others look up besides is in the [`PluginEnvironment`]:
//! namespaces, and objects of a cluster, which `in_namespace` and `namespace_lifecycle` may have to wait for.
//!
//! [`image_policy`] is what `ImagePolicyWebhook` asks and answers; who asks is elsewhere.
//!
//! [`scoped_access`] is Portcullis' own, is registered separately with the profiles it asks, and may have to read
//! an object first.

use std::sync::Arc;

use crate::registry::Factory;
use crate::registry::Registry;
use portcullis_core::Plugin;

pub(crate) mod config;
pub(crate) mod document;
mod edit;
mod ending;
mod environment;
mod in_namespace;
mod pod_amounts;
mod quality_of_service;
pub(crate) mod read;
pub(crate) mod refusal;
mod tolerations;

mod always_admit;
mod always_deny;
mod always_pull_images;
mod default_toleration_seconds;
mod deny_service_external_ips;
mod event_rate_limit;
mod extended_resource_toleration;
pub mod image_policy;
mod limit_pod_hard_anti_affinity_topology;
mod limit_ranger;
mod namespace_lifecycle;
mod pod_node_selector;
mod pod_security;
mod pod_toleration_restriction;
mod resource_quota;
pub mod scoped_access;

#[cfg(test)]
mod testing;

pub use environment::PluginEnvironment;

/// Makes all built-in plug-ins known. What they look up besides the request they look up there.
pub fn register_all(registry: &mut Registry, environment: &PluginEnvironment) {
    for descriptor in [
        always_admit::descriptor(),
        always_deny::descriptor(),
        always_pull_images::descriptor(),
        default_toleration_seconds::descriptor(),
        deny_service_external_ips::descriptor(),
        event_rate_limit::descriptor(),
        extended_resource_toleration::descriptor(),
        limit_pod_hard_anti_affinity_topology::descriptor(),
        limit_ranger::descriptor(environment),
        namespace_lifecycle::descriptor(environment),
        pod_node_selector::descriptor(environment),
        pod_security::descriptor(environment),
        pod_toleration_restriction::descriptor(environment),
        resource_quota::descriptor(environment),
    ] {
        registry.register(descriptor);
    }
}

/// The factory of a plug-in that takes no configuration.
fn without_configuration<P: Plugin + Copy + 'static>(plugin: P) -> Factory {
    Box::new(move |configuration| {
        config::none(configuration)?;
        Ok(Arc::new(plugin))
    })
}

#[cfg(test)]
mod tests {
    use portcullis_core::{Notes, Operation, Outcome};
    use serde_json::{Value, json};

    use crate::workload::Workload;

    use super::testing::{configured, faults, registry};

    #[test]
    fn descriptors_tell_the_truth_about_their_plug_ins() {
        let registry = registry(&[]);
        assert_eq!(registry.names().len(), 14);
        for descriptor in registry.iter() {
            let configuration = match descriptor.name {
                "EventRateLimit" => json!({
                    "apiVersion": "eventratelimit.admission.k8s.io/v1alpha1",
                    "kind": "Configuration",
                    "limits": [{"type": "Server", "qps": 1, "burst": 1}],
                }),
                _ => Value::Null,
            };
            let plugin = configured(&registry, descriptor.name, configuration);
            assert_eq!(plugin.phases(), descriptor.phases, "{}", descriptor.name);
            for operation in Operation::ALL {
                assert_eq!(
                    plugin.handles(operation),
                    descriptor.operations.contains(operation),
                    "{} {operation}",
                    descriptor.name
                );
            }
            assert!(descriptor.summary.ends_with('.'), "{}", descriptor.name);
        }
    }

    #[test]
    fn plug_ins_that_name_their_resources_have_no_opinion_on_others() {
        let registry = registry(&[]);
        let mut named = 0;
        for descriptor in registry.iter() {
            let configuration = match descriptor.name {
                "EventRateLimit" => json!({
                    "apiVersion": "eventratelimit.admission.k8s.io/v1alpha1",
                    "kind": "Configuration",
                    "limits": [{"type": "Server", "qps": 1, "burst": 1}],
                }),
                _ => Value::Null,
            };
            let plugin = configured(&registry, descriptor.name, configuration);
            let Some(resources) = plugin.resources() else {
                continue;
            };
            named += 1;
            let mut all: Vec<(String, String)> = Workload::ALL
                .iter()
                .map(|one| (one.group().to_owned(), one.resource().to_owned()))
                .collect();
            for other in ["namespaces", "services", "configmaps", "nodes"] {
                all.push((String::new(), other.to_owned()));
            }
            for (group, resource) in all {
                if resources.contains(&(group.as_str(), resource.as_str())) {
                    continue;
                }
                let mut request = super::testing::service(json!({}));
                request.resource.group = group;
                request.resource.resource = resource.clone();
                let mut notes = Notes::default();
                if descriptor.phases.admit {
                    let outcome = plugin.admit(&mut request, &mut notes);
                    let is_none = matches!(outcome, Ok(Outcome::NotApplicable(_)));
                    assert!(is_none, "{} {resource}", descriptor.name);
                }
                if descriptor.phases.validate {
                    let outcome = plugin.validate(&request, &mut notes);
                    let is_none = matches!(outcome, Ok(Outcome::NotApplicable(_)));
                    assert!(is_none, "{} {resource}", descriptor.name);
                }
            }
        }
        assert_eq!(named, 10);
    }

    #[test]
    fn a_plug_in_without_configuration_refuses_one() {
        let registry = registry(&[]);
        for descriptor in registry.iter().filter(|d| d.schema.is_none()) {
            for given in [json!({}), json!({"a": 1}), json!("x")] {
                assert_eq!(
                    faults(&registry, descriptor.name, given),
                    ["takes no configuration"],
                    "{}",
                    descriptor.name
                );
            }
        }
    }

    #[test]
    fn every_schema_is_an_object_without_other_keys() {
        let registry = registry(&[]);
        for descriptor in registry.iter() {
            let Some(schema) = &descriptor.schema else {
                continue;
            };
            assert_eq!(schema["type"], "object", "{}", descriptor.name);
            assert_eq!(schema["additionalProperties"], false, "{}", descriptor.name);
            let fault = faults(&registry, descriptor.name, json!({"surprise": 1}));
            assert!(!fault.is_empty(), "{}", descriptor.name);
        }
    }
}
