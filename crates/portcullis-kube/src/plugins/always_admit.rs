//! `AlwaysAdmit`: allows everything.
//!
//! Only useful to see that a chain runs. It looks at nothing and changes
//! nothing.

use crate::registry::{DependsOn, Descriptor};
use portcullis_core::{
    Attributes, Notes, Operation, Operations, Outcome, Phases, Plugin, PluginError,
};

#[derive(Clone, Copy, Debug)]
struct AlwaysAdmit;

pub(super) fn descriptor() -> Descriptor {
    Descriptor {
        name: "AlwaysAdmit",
        summary: "Allows everything; for testing chains.",
        phases: Phases::BOTH,
        operations: Operations::ALL,
        depends_on: DependsOn::Nothing,
        reads: Vec::new(),
        schema: None,
        factory: super::without_configuration(AlwaysAdmit),
    }
}

impl Plugin for AlwaysAdmit {
    fn handles(&self, operation: Operation) -> bool {
        Operations::ALL.contains(operation)
    }

    fn phases(&self) -> Phases {
        Phases::BOTH
    }

    fn admit(&self, _: &mut Attributes, _: &mut Notes) -> Result<Outcome, PluginError> {
        Ok(Outcome::Pass)
    }

    fn validate(&self, _: &Attributes, _: &mut Notes) -> Result<Outcome, PluginError> {
        Ok(Outcome::Pass)
    }
}

#[cfg(test)]
mod tests {
    use portcullis_core::{Operation, Outcome};
    use serde_json::json;

    use super::super::testing::{admit, create_pod, is_touched, plugin, validate};

    #[test]
    fn everything_passes_unchanged() {
        let always_admit = plugin("AlwaysAdmit");
        for operation in Operation::ALL {
            let mut request = create_pod(json!({"spec": "what?"}));
            request.operation = operation;
            assert_eq!(admit(&always_admit, &mut request), Outcome::Pass);
            assert_eq!(validate(&always_admit, &request), Outcome::Pass);
            assert!(!is_touched(&request));
        }
    }
}
