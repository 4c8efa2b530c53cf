//! The review an API server would send for an object.

use portcullis_core::{Operation, UserInfo};
use serde_json::{Value, json};

use super::{Manifest, kinds};

/// What is asked about an object.
#[derive(Debug, Clone, Copy)]
pub struct ReviewRequest<'a> {
    /// What is about to happen to it.
    pub operation: Operation,
    /// The object as it is, on UPDATE.
    pub old: Option<&'a Manifest>,
    /// The user.
    pub user: &'a UserInfo,
    /// Nothing will be stored.
    pub dry_run: bool,
    /// Identifier of the request.
    pub uid: &'a str,
}

/// The text of an `AdmissionReview`.
#[must_use]
pub fn review(manifest: &Manifest, question: ReviewRequest<'_>) -> String {
    let Manifest {
        kind,
        namespace,
        name,
        object,
    } = manifest;
    let (resource, part) = kinds::resource(kind);
    let resource = json!({"group": kind.group, "version": kind.version, "resource": resource});
    // The API server counts a namespace as living in itself.
    let namespace = if kind.is("", "Namespace") {
        name
    } else {
        namespace
    };
    let old = question.old.map_or(&Value::Null, |old| &old.object);
    let (object, old) = match question.operation {
        Operation::Delete => (&Value::Null, object),
        _ => (object, old),
    };
    let request = json!({
        "uid": question.uid,
        "kind": kind,
        "resource": resource,
        "subResource": part,
        "requestKind": kind,
        "requestResource": resource,
        "requestSubResource": part,
        "name": name,
        "namespace": namespace,
        "operation": question.operation,
        "userInfo": question.user,
        "object": object,
        "oldObject": old,
        "dryRun": question.dry_run,
        "options": options(question),
    });
    let version = "admission.k8s.io/v1";
    json!({"apiVersion": version, "kind": "AdmissionReview", "request": request}).to_string()
}

fn options(question: ReviewRequest<'_>) -> Value {
    let kind = match question.operation {
        Operation::Create => "CreateOptions",
        Operation::Update => "UpdateOptions",
        Operation::Delete => "DeleteOptions",
        Operation::Connect => return Value::Null,
    };
    let mut options = json!({"apiVersion": "meta.k8s.io/v1", "kind": kind});
    if question.dry_run
        && let Some(map) = options.as_object_mut()
    {
        map.insert("dryRun".to_owned(), json!(["All"]));
    }
    options
}

#[cfg(test)]
mod tests {
    use portcullis_core::{DoorContext, clock};

    use super::*;
    use crate::review::decode_admission;

    fn asked(object: Value, operation: Operation, dry_run: bool) -> portcullis_core::Attributes {
        let manifest = Manifest::new(object, "shop").unwrap();
        let user = UserInfo {
            username: "alice".to_owned(),
            ..UserInfo::default()
        };
        let question = ReviewRequest {
            operation,
            old: None,
            user: &user,
            dry_run,
            uid: "1",
        };
        let text = review(&manifest, question);
        let review = decode_admission(
            text.as_bytes(),
            DoorContext::default(),
            clock::monotonic(),
            None,
        );
        review.unwrap().attributes
    }

    #[test]
    fn the_review_is_read_back_as_it_is_meant() {
        let policy = json!({"apiVersion": "networking.k8s.io/v1", "kind": "NetworkPolicy", "metadata": {"name": "a"}});
        let made = asked(policy, Operation::Create, true);
        assert_eq!(made.resource.resource, "networkpolicies");
        assert_eq!(made.kind.group, "networking.k8s.io");
        assert_eq!((made.namespace.as_str(), made.name.as_str()), ("shop", "a"));
        assert_eq!(made.user.username, "alice");
        assert!(made.dry_run && made.old_object.is_none());
        let options = made.options.unwrap();
        assert_eq!(options.value().unwrap()["dryRun"], json!(["All"]));
    }

    #[test]
    fn what_is_deleted_is_the_old_object() {
        let pod = json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"}});
        let made = asked(pod, Operation::Delete, false);
        assert!(made.object.is_none() && made.old_object.is_some());
    }

    #[test]
    fn a_namespace_lives_in_itself() {
        let namespace = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "a"}});
        let made = asked(namespace, Operation::Create, false);
        assert_eq!((made.namespace.as_str(), made.name.as_str()), ("a", "a"));
    }

    #[test]
    fn connections_are_to_a_part_of_the_object() {
        let exec = json!({"apiVersion": "v1", "kind": "PodExecOptions"});
        let made = asked(exec, Operation::Connect, false);
        assert_eq!(made.resource.resource, "pods");
        assert_eq!(made.subresource, "exec");
    }
}
