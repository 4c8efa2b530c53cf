//! The built-in plug-ins of Kubernetes that are functions of the request.
//!
//! One file each, under the name it has in Kubernetes; [`register_all`] registers
//! them. They see what Kubernetes' own plug-ins see and give the same
//! answers, but read JSON: an object of the wrong shape is denied with the path
//! of the fault, whatever the failure mode.
//!
//! Shared parts: `config` decodes configurations, `document` and `read` read objects, `edit`
//! changes them, `refusal` words denials, `labels` and `tolerations` know the
//! rules of those. Nothing here waits, reads a clock or talks to a cluster.
//!
//! [`scoped_access`] is the exception: it is Portcullis' own, is registered separately with the profiles it
//! asks, and may have to read an object first.

use std::sync::Arc;

use crate::registry::Factory;
use crate::registry::Registry;
use portcullis_core::Plugin;

use crate::namespaces::Namespaces;

pub(crate) mod config;
pub(crate) mod document;
mod edit;
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
mod limit_pod_hard_anti_affinity_topology;
mod pod_node_selector;
mod pod_security;
mod pod_toleration_restriction;
pub mod scoped_access;

#[cfg(test)]
mod testing;

/// Makes all built-in plug-ins known. Those that look at namespaces look there.
pub fn register_all(registry: &mut Registry, namespaces: &Arc<dyn Namespaces>) {
    for descriptor in [
        always_admit::descriptor(),
        always_deny::descriptor(),
        always_pull_images::descriptor(),
        default_toleration_seconds::descriptor(),
        deny_service_external_ips::descriptor(),
        event_rate_limit::descriptor(),
        extended_resource_toleration::descriptor(),
        limit_pod_hard_anti_affinity_topology::descriptor(),
        pod_node_selector::descriptor(namespaces),
        pod_security::descriptor(namespaces),
        pod_toleration_restriction::descriptor(namespaces),
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
    use portcullis_core::Operation;
    use serde_json::{Value, json};

    use super::testing::{configured, faults, registry};

    #[test]
    fn descriptors_tell_the_truth_about_their_plug_ins() {
        let registry = registry(&[]);
        assert_eq!(registry.names().len(), 11);
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
