//! `SubjectAccessReview`, v1 and v1beta1.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use portcullis_core::access::ResourceTarget;
use portcullis_core::json::{self, Index, JsonFault};
use portcullis_core::{Access, AccessVerdict, DoorContext, Opinion, Target, UserInfo};
use serde::{Deserialize, Serialize};

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
    #[derive(Serialize)]
    #[serde(rename_all = "camelCase")]
    struct Review<'a> {
        api_version: &'a str,
        kind: &'static str,
        status: Status<'a>,
    }
    #[derive(Serialize)]
    #[serde(rename_all = "camelCase")]
    struct Status<'a> {
        allowed: bool,
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        denied: bool,
        reason: Cow<'a, str>,
        #[serde(skip_serializing_if = "Option::is_none")]
        evaluation_error: Option<&'a str>,
    }
    let review = Review {
        api_version: version,
        kind: "SubjectAccessReview",
        status: Status {
            allowed: matches!(verdict.opinion, Opinion::Allow(_)),
            denied: matches!(verdict.opinion, Opinion::Deny(_)),
            reason: reason(verdict),
            evaluation_error: verdict.error.as_deref(),
        },
    };
    serde_json::to_vec(&review).unwrap_or_default()
}

/// Why; an allow says by whom as well.
fn reason(verdict: &AccessVerdict) -> Cow<'_, str> {
    match (&verdict.opinion, &verdict.authorizer) {
        (Opinion::Allow(reason), Some(name)) => {
            let mut text = String::with_capacity(24 + name.len() + reason.len());
            for part in ["allowed by authorizer \"", name, "\""] {
                text.push_str(part);
            }
            if !reason.is_empty() {
                text.push_str(": ");
                text.push_str(reason);
            }
            Cow::Owned(text)
        }
        (opinion, _) => Cow::Borrowed(opinion.reason()),
    }
}

#[cfg(test)]
mod tests;
