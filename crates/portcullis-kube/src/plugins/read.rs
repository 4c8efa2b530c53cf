//! How plug-ins read the object of a request.
//!
//! One way for all: the view is read from whatever form the document is in,
//! and what can't be read is a denial that names the place. [`pod`] is for
//! the rules about pods proper: other resources and all subresources are not
//! covered by them.

use std::borrow::Cow;

use portcullis_core::{Attributes, Document, Outcome, PluginError, Source};

use crate::pod::field::Field;
use crate::pod::view::view;
use crate::pod::{Metadata, PodObject, PodSpec};

use super::document;
use super::refusal::malformed;

/// A value, or the outcome that ends the plug-in's look at the request.
pub(crate) type OrOutcome<T> = Result<T, Outcome>;

/// The outcome, whichever way it came about.
pub(crate) fn settled(outcome: OrOutcome<Outcome>) -> Result<Outcome, PluginError> {
    Ok(outcome.unwrap_or_else(|early| early))
}

/// A pod in the current form of its document.
#[derive(Clone, Debug, Default)]
pub(crate) struct Pod<'a> {
    /// The pod proper.
    pub(crate) object: PodObject<'a>,
    /// `status.qosClass`; empty unless the server has set it.
    pub(crate) qos_class: Cow<'a, str>,
}

/// Whether a request is about a pod proper.
pub(crate) fn is_pod(request: &Attributes) -> bool {
    request.resource.is("", "pods") && request.subresource.is_empty()
}

/// The pod of a request about a pod proper.
pub(crate) fn pod(request: &Attributes) -> OrOutcome<Pod<'_>> {
    pod_with(request, &[""])
}

/// The pod of a request about one of these subresources; the pod proper is the empty one.
pub(crate) fn pod_with<'a>(request: &'a Attributes, subresources: &[&str]) -> OrOutcome<Pod<'a>> {
    if !request.resource.is("", "pods") {
        return Err(Outcome::not_applicable("not a pod"));
    }
    if !subresources.contains(&request.subresource.as_str()) {
        return Err(Outcome::not_applicable("a subresource of a pod"));
    }
    pod_object(request)
}

/// The pod of a request whose object is a pod, be it about the pod proper or a subresource.
pub(crate) fn pod_object(request: &Attributes) -> OrOutcome<Pod<'_>> {
    let written: PodWithStatus<'_> = object(request, "Pod")?;
    if !matches!(written.kind.as_ref(), "" | "Pod") {
        let kind = written.kind;
        return Err(malformed(
            request,
            format!("kind: expected `Pod`, found `{kind}`"),
        ));
    }
    Ok(written.into())
}

/// The pod as it was, if there was one that can be read.
pub(crate) fn old_pod(request: &Attributes) -> Option<Pod<'_>> {
    let old = request.old_object.as_ref()?;
    document::view::<PodWithStatus<'_>>(old).ok().map(Pod::from)
}

/// The object of a request, which has to be of this kind of the core group.
pub(crate) fn object<'a, T: Field<'a>>(request: &'a Attributes, kind: &str) -> OrOutcome<T> {
    if !request.kind.is("", kind) {
        let group = match request.kind.group.as_str() {
            "" => String::new(),
            group => format!("{group}/"),
        };
        let found = &request.kind.kind;
        let detail = format!("kind: expected `{kind}`, found `{group}{found}`");
        return Err(malformed(request, detail));
    }
    let object = request.object.as_ref().filter(|o| !is_null(o));
    let object = object.ok_or_else(|| malformed(request, "object: missing"))?;
    document::view(object).map_err(|error| malformed(request, error))
}

fn is_null(document: &Document) -> bool {
    match document.source() {
        Source::Text(text) => text.trim() == "null",
        Source::Tree(tree) => tree.is_null(),
    }
}

view! {
    /// A pod with what its type and status say.
    struct PodWithStatus<'a> {
        /// Declared kind.
        kind: Cow<'a, str> = "kind",
        /// Metadata.
        metadata: Metadata<'a> = "metadata",
        /// Specification.
        spec: PodSpec<'a> = "spec",
        /// Status.
        status: Status<'a> = "status",
    }
}

view! {
    /// What is read of a pod's status.
    struct Status<'a> {
        /// Quality of service.
        qos_class: Cow<'a, str> = "qosClass",
    }
}

impl<'a> From<PodWithStatus<'a>> for Pod<'a> {
    fn from(written: PodWithStatus<'a>) -> Self {
        Self {
            object: PodObject {
                metadata: written.metadata,
                spec: written.spec,
            },
            qos_class: written.status.qos_class,
        }
    }
}

#[cfg(test)]
mod tests {
    use portcullis_core::{Denial, Kind};
    use serde_json::{Value, json};

    use super::super::testing::{create_pod, service, subresource};
    use super::*;

    fn refusal(request: &Attributes) -> Denial {
        match pod(request) {
            Err(Outcome::Deny(denial)) => denial,
            other => panic!("not refused: {other:?}"),
        }
    }

    #[test]
    fn only_pods_proper_are_read() {
        assert!(pod(&create_pod(json!({}))).is_ok());
        for request in [service(json!({})), subresource(json!({}), "status")] {
            assert!(matches!(pod(&request), Err(Outcome::NotApplicable(_))));
        }
        let mut request = create_pod(json!({}));
        request.resource.group = "example.com".into();
        assert!(matches!(pod(&request), Err(Outcome::NotApplicable(_))));
    }

    #[test]
    fn another_kind_under_pods_is_refused() {
        let mut request = create_pod(json!({}));
        request.kind = Kind {
            group: "apps".into(),
            version: "v1".into(),
            kind: "Deployment".into(),
        };
        let denial = refusal(&request);
        assert_eq!(denial.code, 400);
        assert_eq!(
            denial.message,
            "pods \"web\" is malformed: kind: expected `Pod`, found `apps/Deployment`"
        );
        let denial = refusal(&create_pod(json!({"kind": "Service"})));
        assert_eq!(
            denial.message,
            "pods \"web\" is malformed: kind: expected `Pod`, found `Service`"
        );
    }

    #[test]
    fn a_pod_that_is_missing_or_misshapen_is_refused_in_either_form() {
        let cases = [
            (json!(null), "object: missing"),
            (json!([]), "object: expected an object, found a list"),
            (
                json!({"spec": 1}),
                "spec: expected an object, found a number",
            ),
            (
                json!({"spec": {"containers": {}}}),
                "spec.containers: expected a list, found an object",
            ),
            (
                json!({"spec": {"containers": [{"image": 1}]}}),
                "spec.containers[0].image: expected a string, found a number",
            ),
        ];
        for (object, expected) in cases {
            let mut request = create_pod(object);
            for _ in ["text", "tree"] {
                let denial = refusal(&request);
                assert_eq!(denial.code, 400);
                assert_eq!(
                    denial.message,
                    format!("pods \"web\" is malformed: {expected}")
                );
                let object = request.object.as_mut().expect("an object");
                let _: &mut Value = object.value_mut().expect("JSON");
            }
        }
        let mut request = create_pod(json!({}));
        request.object = None;
        assert_eq!(
            refusal(&request).message,
            "pods \"web\" is malformed: object: missing"
        );
        request.object = Some(Document::from_text("{"));
        assert!(refusal(&request).message.contains("not valid JSON"));
    }
}
