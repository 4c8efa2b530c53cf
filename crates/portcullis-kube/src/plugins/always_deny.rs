//! `AlwaysDeny`: denies everything.
//!
//! Only useful to see where in a chain a request ends. Both phases deny, as
//! in Kubernetes, so no later plug-in gets to change anything.

use crate::registry::{DependsOn, Descriptor};
use portcullis_core::{
    Attributes, Notes, Operation, Operations, Outcome, Phases, Plugin, PluginError,
};

use super::refusal::forbidden;

const WHY: &str = "admission control is denying all modifications";

#[derive(Clone, Copy, Debug)]
struct AlwaysDeny;

pub(super) fn descriptor() -> Descriptor {
    Descriptor {
        name: "AlwaysDeny",
        summary: "Denies everything; for testing chains.",
        phases: Phases::BOTH,
        operations: Operations::ALL,
        depends_on: DependsOn::Nothing,
        reads: Vec::new(),
        schema: None,
        factory: super::without_configuration(AlwaysDeny),
    }
}

impl Plugin for AlwaysDeny {
    fn handles(&self, operation: Operation) -> bool {
        Operations::ALL.contains(operation)
    }

    fn phases(&self) -> Phases {
        Phases::BOTH
    }

    fn admit(&self, request: &mut Attributes, _: &mut Notes) -> Result<Outcome, PluginError> {
        Ok(forbidden(request, WHY))
    }

    fn validate(&self, request: &Attributes, _: &mut Notes) -> Result<Outcome, PluginError> {
        Ok(forbidden(request, WHY))
    }
}

#[cfg(test)]
mod tests {
    use portcullis_core::Operation;
    use serde_json::json;

    use super::super::testing::{admit, create, create_pod, denial, plugin, validate};

    #[test]
    fn both_halves_refuse_every_operation() {
        let always_deny = plugin("AlwaysDeny");
        for operation in Operation::ALL {
            let mut request = create_pod(json!({}));
            request.operation = operation;
            for outcome in [
                validate(&always_deny, &request),
                admit(&always_deny, &mut request),
            ] {
                let denial = denial(outcome);
                assert_eq!((denial.code, denial.reason.as_ref()), (403, "Forbidden"));
                assert_eq!(
                    denial.message,
                    "pods \"web\" is forbidden: admission control is denying all modifications"
                );
            }
        }
    }

    #[test]
    fn the_text_names_the_group_of_the_resource() {
        let mut request = create("Deployment", "deployments", json!("not even an object"));
        request.resource.group = "apps".into();
        let denial = denial(validate(&plugin("AlwaysDeny"), &request));
        assert!(
            denial
                .message
                .starts_with("deployments.apps \"web\" is forbidden: ")
        );
    }
}
