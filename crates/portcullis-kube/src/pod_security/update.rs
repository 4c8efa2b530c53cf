//! Whether a change of a pod requires judging it again.
//!
//! Of what can be changed in a running pod, only images and added ephemeral
//! containers matter to the standards. So pods that break a policy which came
//! after them can still be labelled and finished.

use crate::pod::{Container, PodSpec};

/// Whether the pod has to be judged after this change.
#[must_use]
pub(crate) fn is_significant(new: &PodSpec<'_>, old: &PodSpec<'_>) -> bool {
    images_differ(&new.containers, &old.containers)
        || images_differ(&new.init_containers, &old.init_containers)
        || new.ephemeral_containers.iter().any(|container| {
            let known = old.ephemeral_containers.iter();
            let mut known = known.filter(|known| known.name == container.name);
            known
                .next()
                .is_none_or(|known| known.image != container.image)
        })
}

fn images_differ(new: &[Container<'_>], old: &[Container<'_>]) -> bool {
    new.len() != old.len() || new.iter().zip(old).any(|(new, old)| new.image != old.image)
}

#[cfg(test)]
mod tests {
    use super::is_significant;
    use crate::pod::PodObject;

    fn differs(old: &str, new: &str) -> bool {
        let (old, new) = (PodObject::from_json(old), PodObject::from_json(new));
        is_significant(&new.expect("a pod").spec, &old.expect("a pod").spec)
    }

    #[test]
    fn labels_and_other_fields_are_not_significant() {
        let old = r#"{"spec":{"containers":[{"name":"a","image":"i"}]}}"#;
        let new = r#"{"metadata":{"labels":{"a":"b"}},"spec":{"hostPID":true,"containers":[{"name":"a","image":"i"}]}}"#;
        assert!(!differs(old, new));
    }

    #[test]
    fn images_and_containers_are_significant() {
        for list in ["containers", "initContainers", "ephemeralContainers"] {
            let pod = |containers: &str| format!(r#"{{"spec":{{"{list}":[{containers}]}}}}"#);
            let one = pod(r#"{"name":"a","image":"i"}"#);
            assert!(!differs(&one, &one), "{list}");
            assert!(differs(&one, &pod(r#"{"name":"a","image":"j"}"#)), "{list}");
            let two = pod(r#"{"name":"a","image":"i"},{"name":"b","image":"i"}"#);
            assert!(differs(&one, &two), "{list}");
            assert_eq!(differs(&two, &one), list != "ephemeralContainers");
        }
    }
}
