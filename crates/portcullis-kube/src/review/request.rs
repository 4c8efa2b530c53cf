//! A request in the forms that policies and other controllers expect: an `AdmissionRequest` with
//! the names of its JSON form, with those of its Go form beside them, or as a whole review.

use portcullis_core::{Attributes, Document, Kind, Resource, UserInfo};
use serde_json::{Map, Value, json};

/// The request without its objects, each field under both of its names: `uid` and `UID`.
pub fn request_with_both_names(request: &Attributes) -> Value {
    let context = &request.context;
    let mut both = Both::default();
    both.put("uid", "UID", request.uid.as_str().into());
    both.put("kind", "Kind", kind(&request.kind));
    both.put("resource", "Resource", resource(&request.resource));
    both.put(
        "subResource",
        "SubResource",
        request.subresource.as_str().into(),
    );
    let asked = context.request_kind.as_ref().map_or(Value::Null, kind);
    both.put("requestKind", "RequestKind", asked);
    let asked = context.request_resource.as_ref();
    both.put(
        "requestResource",
        "RequestResource",
        asked.map_or(Value::Null, resource),
    );
    both.put(
        "requestSubResource",
        "RequestSubResource",
        context.request_subresource.as_str().into(),
    );
    both.put("name", "Name", request.name.as_str().into());
    both.put("namespace", "Namespace", request.namespace.as_str().into());
    both.put("operation", "Operation", request.operation.as_str().into());
    both.put("userInfo", "UserInfo", user(&request.user));
    both.put("dryRun", "DryRun", request.dry_run.into());
    both.put("options", "Options", tree(request.options.as_ref()));
    both.into()
}

/// The whole `AdmissionReview` of a request, with this object in it.
pub fn review_of(request: &Attributes, object: &Value) -> Value {
    let context = &request.context;
    let mut asked = json!({
        "uid": request.uid,
        "kind": request.kind,
        "resource": request.resource,
        "name": request.name,
        "namespace": request.namespace,
        "operation": request.operation,
        "userInfo": request.user,
        "object": object,
        "oldObject": tree(request.old_object.as_ref()),
        "dryRun": request.dry_run,
        "options": tree(request.options.as_ref()),
    });
    if let Some(map) = asked.as_object_mut() {
        let mut put = |key: &str, value: Value| {
            let is_empty = value.is_null() || value.as_str().is_some_and(str::is_empty);
            if !is_empty {
                map.insert(key.to_owned(), value);
            }
        };
        put("subResource", request.subresource.as_str().into());
        put("requestKind", json!(context.request_kind));
        put("requestResource", json!(context.request_resource));
        put(
            "requestSubResource",
            context.request_subresource.as_str().into(),
        );
    }
    json!({"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": asked})
}

/// Fields under two names each.
#[derive(Default)]
struct Both(Map<String, Value>);

impl Both {
    fn put(&mut self, json: &str, go: &str, value: Value) {
        self.0.insert(go.to_owned(), value.clone());
        self.0.insert(json.to_owned(), value);
    }
}

impl From<Both> for Value {
    fn from(both: Both) -> Self {
        Self::Object(both.0)
    }
}

fn kind(kind: &Kind) -> Value {
    let mut both = Both::default();
    both.put("group", "Group", kind.group.as_str().into());
    both.put("version", "Version", kind.version.as_str().into());
    both.put("kind", "Kind", kind.kind.as_str().into());
    both.into()
}

fn resource(resource: &Resource) -> Value {
    let mut both = Both::default();
    both.put("group", "Group", resource.group.as_str().into());
    both.put("version", "Version", resource.version.as_str().into());
    both.put("resource", "Resource", resource.resource.as_str().into());
    both.into()
}

fn user(user: &UserInfo) -> Value {
    let mut both = Both::default();
    both.put("username", "Username", user.username.as_str().into());
    both.put("uid", "UID", user.uid.as_str().into());
    both.put("groups", "Groups", json!(user.groups));
    both.put("extra", "Extra", json!(user.extra));
    both.into()
}

fn tree(document: Option<&Document>) -> Value {
    let found = document.and_then(|d| d.original().ok());
    found.cloned().unwrap_or(Value::Null)
}

#[cfg(test)]
mod tests {
    use portcullis_core::{DoorContext, clock};

    use super::*;
    use crate::review::decode_admission;

    const REVIEW: &str = r#"{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":{
        "uid":"u1","kind":{"group":"apps","version":"v1","kind":"Deployment"},
        "resource":{"group":"apps","version":"v1","resource":"deployments"},"subResource":"scale",
        "requestKind":{"group":"apps","version":"v1","kind":"Deployment"},
        "requestResource":{"group":"apps","version":"v1","resource":"deployments"},"requestSubResource":"scale",
        "name":"web","namespace":"shop","operation":"UPDATE",
        "userInfo":{"username":"bob","uid":"7","groups":["a","b"],"extra":{"k":["v"]}},
        "object":{"a":1},"oldObject":{"a":0},"dryRun":true,"options":{"kind":"UpdateOptions"}}}"#;

    fn request() -> Attributes {
        let context = DoorContext::default();
        let review = decode_admission(REVIEW.as_bytes(), context, clock::monotonic(), None);
        review.unwrap().attributes
    }

    #[test]
    fn every_field_has_both_names() {
        let value = request_with_both_names(&request());
        assert_eq!(value["UID"], "u1");
        assert_eq!(value["operation"], "UPDATE");
        assert_eq!(value["Kind"]["Kind"], "Deployment");
        assert_eq!(value["kind"]["kind"], "Deployment");
        assert_eq!(value["RequestResource"]["Resource"], "deployments");
        assert_eq!(value["SubResource"], "scale");
        assert_eq!(value["UserInfo"]["Groups"], json!(["a", "b"]));
        assert_eq!(value["userInfo"]["extra"], json!({"k": ["v"]}));
        assert_eq!(value["DryRun"], true);
    }

    #[test]
    fn the_whole_review_is_as_it_came_with_another_object() {
        let mut wanted: Value = serde_json::from_str(REVIEW).unwrap();
        wanted["request"]["object"] = json!({"a": 2});
        assert_eq!(review_of(&request(), &json!({"a": 2})), wanted);
    }
}
