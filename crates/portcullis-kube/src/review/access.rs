//! `SubjectAccessReview`, v1 and v1beta1.

use std::collections::BTreeMap;
use std::sync::Arc;

use portcullis_core::access::ResourceTarget;
use portcullis_core::json::{self, Index, JsonFault, push_string};
use portcullis_core::{Access, AccessVerdict, DoorContext, Opinion, Target, UserInfo};
use serde::Deserialize;

use self::selector::Selector;
use super::member;
use crate::object::Object;

mod selector;

/// A request for authorization, and what its answer must repeat.
#[derive(Debug, Clone)]
pub struct AccessReview {
    /// `apiVersion` as sent.
    pub version: String,
    /// What is asked.
    pub access: Access,
    /// Where the lists and objects of the body are.
    pub index: Index,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Spec {
    user: Option<String>,
    uid: Option<String>,
    groups: Option<Vec<String>>,
    /// The name of `groups` in v1beta1.
    group: Option<Vec<String>>,
    extra: Option<BTreeMap<String, Vec<String>>>,
    resource_attributes: Option<Object<ResourceAttributes>>,
    non_resource_attributes: Option<Object<NonResourceAttributes>>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct ResourceAttributes {
    namespace: Option<String>,
    verb: Option<String>,
    group: Option<String>,
    version: Option<String>,
    resource: Option<String>,
    subresource: Option<String>,
    name: Option<String>,
    field_selector: Option<Object<Selector>>,
    label_selector: Option<Object<Selector>>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct NonResourceAttributes {
    path: Option<String>,
    verb: Option<String>,
}

/// Reads a review.
///
/// # Errors
///
/// When the text is not strict JSON, not a review, or does not say what is asked.
pub fn decode_access(body: &[u8], context: DoorContext) -> Result<AccessReview, JsonFault> {
    let scanned = json::scan(body)?;
    let version = member::version(&scanned, "SubjectAccessReview", "authorization.k8s.io")?;
    let text = member::object(&scanned, "spec")?;
    let spec: Spec = member::read(&scanned, "", "spec", text)?;
    let fault = |message: &str| scanned.fault_at(text, message);
    let (verb, target) = match (spec.resource_attributes, spec.non_resource_attributes) {
        (Some(Object(resource)), None) => resource.into_target(),
        (None, Some(Object(path))) => (
            path.verb.unwrap_or_default(),
            Target::Path(path.path.unwrap_or_default()),
        ),
        (None, None) => {
            return Err(fault(
                "spec: resourceAttributes or nonResourceAttributes is missing",
            ));
        }
        (Some(_), Some(_)) => {
            return Err(fault(
                "spec: resourceAttributes and nonResourceAttributes exclude each other",
            ));
        }
    };
    let mut groups = spec.groups.unwrap_or_default();
    groups.extend(spec.group.unwrap_or_default());
    let user = UserInfo {
        username: spec.user.unwrap_or_default(),
        uid: spec.uid.unwrap_or_default(),
        groups,
        extra: spec.extra.unwrap_or_default(),
    };
    let access = Access {
        user,
        verb,
        target,
        context: Arc::new(context),
    };
    Ok(AccessReview {
        version,
        access,
        index: scanned.index().clone(),
    })
}

impl ResourceAttributes {
    fn into_target(self) -> (String, Target) {
        let target = ResourceTarget {
            group: self.group.unwrap_or_default(),
            version: self.version.unwrap_or_default(),
            resource: self.resource.unwrap_or_default(),
            subresource: self.subresource.unwrap_or_default(),
            namespace: self.namespace.unwrap_or_default(),
            name: self.name.unwrap_or_default(),
            field_selector: selector::of_fields(self.field_selector),
            label_selector: selector::of_labels(self.label_selector),
        };
        (self.verb.unwrap_or_default(), Target::Resource(target))
    }
}

/// Writes the answer to a review.
pub fn encode_access(version: &str, verdict: &AccessVerdict) -> Vec<u8> {
    let mut answer = Vec::with_capacity(512);
    answer.extend_from_slice(b"{\"apiVersion\":");
    push_string(&mut answer, &[version]);
    let status: &[u8] = match verdict.opinion {
        Opinion::Allow(_) => b"{\"allowed\":true,\"reason\":",
        Opinion::Deny(_) => b"{\"allowed\":false,\"denied\":true,\"reason\":",
        Opinion::NoOpinion(_) => b"{\"allowed\":false,\"reason\":",
    };
    answer.extend_from_slice(b",\"kind\":\"SubjectAccessReview\",\"status\":");
    answer.extend_from_slice(status);
    let reason = verdict.opinion.reason();
    match (&verdict.opinion, &verdict.authorizer) {
        // An allow says by which authorizer as well.
        (Opinion::Allow(_), Some(name)) => {
            let colon = if reason.is_empty() { "" } else { ": " };
            let parts = ["allowed by authorizer \"", name, "\"", colon, reason];
            push_string(&mut answer, &parts);
        }
        _ => push_string(&mut answer, &[reason]),
    }
    if let Some(error) = &verdict.error {
        answer.extend_from_slice(b",\"evaluationError\":");
        push_string(&mut answer, &[error]);
    }
    answer.extend_from_slice(b"}}");
    answer
}

#[cfg(test)]
mod tests;
