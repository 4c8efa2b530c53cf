//! Objects, and reviews as an API server sends them.

use serde_json::{Value, json};

/// A container that passes `baseline`.
#[must_use]
pub fn container(name: &str) -> Value {
    json!({"name": name, "image": "registry.example/app:1"})
}

/// A pod of one such container.
#[must_use]
pub fn pod() -> Value {
    pod_with(&json!({"containers": [container("app")]}))
}

/// A pod with this `spec`.
#[must_use]
pub fn pod_with(spec: &Value) -> Value {
    json!({
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "web", "namespace": "default"},
        "spec": spec,
    })
}

/// A pod that `baseline` denies.
#[must_use]
pub fn privileged() -> Value {
    let mut pod = pod();
    pod["spec"]["containers"][0]["securityContext"] = json!({"privileged": true});
    pod
}

/// A configuration with this order of plug-ins.
#[must_use]
pub fn chain(order: &[&str]) -> Value {
    json!({"admission": {"order": order}})
}

/// A configuration with a listener for reviews, metrics and health at this TCP port of loopback, before its own.
#[must_use]
pub fn with_listener(port: u16, mut config: Value) -> Value {
    let address = format!("127.0.0.1:{port}");
    let own = json!({"name": "all", "tcp": address, "serves": ["kubernetes", "metrics", "health"]});
    let mut listeners = vec![own];
    listeners.extend(config["listeners"].as_array().cloned().unwrap_or_default());
    config["listeners"] = listeners.into();
    config
}

/// A configuration with `PodSecurity` alone, with these defaults.
#[must_use]
pub fn pod_security(defaults: &Value) -> Value {
    let configuration = json!({
        "apiVersion": "pod-security.admission.config.k8s.io/v1",
        "kind": "PodSecurityConfiguration",
        "defaults": defaults,
    });
    json!({"admission": {"plugins": [{"name": "PodSecurity", "configuration": configuration}]}})
}

/// An `AdmissionReview` under construction.
#[derive(Debug, Clone)]
pub struct Review {
    version: &'static str,
    request: Value,
}

impl Review {
    /// The creation of an object.
    #[must_use]
    pub fn create(object: &Value) -> Self {
        let version = object["apiVersion"].as_str().unwrap_or("v1");
        let (group, version) = version.split_once('/').unwrap_or(("", version));
        let kind = object["kind"].as_str().unwrap_or("Pod");
        let kind_of = json!({"group": group, "version": version, "kind": kind});
        let plural = format!("{}s", kind.to_lowercase());
        let resource = json!({"group": group, "version": version, "resource": plural});
        let request = json!({
            "uid": "705ab4f5-6393-11e8-b7cc-42010a800002",
            "kind": kind_of,
            "requestKind": kind_of,
            "resource": resource,
            "requestResource": resource,
            "name": object["metadata"]["name"].as_str().unwrap_or_default(),
            "namespace": object["metadata"]["namespace"].as_str().unwrap_or("default"),
            "operation": "CREATE",
            "userInfo": {"username": "alice", "groups": ["system:authenticated"]},
            "object": object,
            "oldObject": null,
            "dryRun": false,
            "options": null,
        });
        Self {
            version: "v1",
            request,
        }
    }

    /// In this version of the wire; otherwise `v1`.
    #[must_use]
    pub fn version(mut self, version: &'static str) -> Self {
        self.version = version;
        self
    }

    /// Sets a field of the request.
    #[must_use]
    pub fn set(mut self, field: &str, value: impl Into<Value>) -> Self {
        self.request[field] = value.into();
        self
    }

    /// Leaves out a field of the request.
    #[must_use]
    pub fn without(mut self, field: &str) -> Self {
        self.request.as_object_mut().unwrap().remove(field);
        self
    }

    /// Its id, which the answer repeats.
    #[must_use]
    pub fn uid(&self) -> &Value {
        &self.request["uid"]
    }

    /// The whole review.
    #[must_use]
    pub fn value(&self) -> Value {
        let version = format!("admission.k8s.io/{}", self.version);
        json!({"apiVersion": version, "kind": "AdmissionReview", "request": self.request})
    }

    /// The same as text.
    #[must_use]
    pub fn text(&self) -> String {
        self.value().to_string()
    }
}

/// A `SubjectAccessReview` about a resource; `attributes` go over `get pods` in `dev`.
#[must_use]
pub fn access(version: &str, user: &str, groups: &[&str], attributes: &Value) -> Value {
    let mut about = json!({"verb": "get", "resource": "pods", "namespace": "dev"});
    for (key, value) in attributes.as_object().unwrap() {
        about[key] = value.clone();
    }
    access_review(version, user, groups, "resourceAttributes", &about)
}

/// A `SubjectAccessReview` about a path.
#[must_use]
pub fn path_access(version: &str, user: &str, groups: &[&str], verb: &str, path: &str) -> Value {
    let about = json!({"verb": verb, "path": path});
    access_review(version, user, groups, "nonResourceAttributes", &about)
}

fn access_review(version: &str, user: &str, groups: &[&str], key: &str, about: &Value) -> Value {
    let groups_key = if version == "v1beta1" {
        "group"
    } else {
        "groups"
    };
    let api_version = format!("authorization.k8s.io/{version}");
    let spec = json!({"user": user, groups_key: groups, key: about});
    json!({"apiVersion": api_version, "kind": "SubjectAccessReview", "spec": spec})
}
