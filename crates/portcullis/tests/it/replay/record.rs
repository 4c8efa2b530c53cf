//! Records of decisions, as in a decision log.

use serde_json::{Value, json};

/// One recorded decision.
pub(super) struct Recorded(Value);

impl Recorded {
    /// A pod that the policies let through.
    pub(super) fn pod(id: &str, name: &str, image: &str) -> Self {
        let object = json!({"apiVersion": "v1", "kind": "Pod",
            "metadata": {"name": name, "namespace": "dev"},
            "spec": {"containers": [{"name": "app", "image": image,
                "env": [{"name": "TOKEN", "value": "(masked)"}]}]}});
        let masked = "/review/request/object/spec/containers/0/env/0/value";
        Self::admission(id, &object, masked)
    }

    /// A secret that the policies let through.
    pub(super) fn secret(id: &str, name: &str) -> Self {
        let object = json!({"apiVersion": "v1", "kind": "Secret",
            "metadata": {"name": name, "namespace": "dev"}, "data": {"password": "(masked)"}});
        Self::admission(id, &object, "/review/request/object/data/password")
    }

    fn admission(id: &str, object: &Value, masked: &str) -> Self {
        let (kind, name) = (&object["kind"], &object["metadata"]["name"]);
        let resource = format!("{}s", kind.as_str().unwrap().to_lowercase());
        let review = json!({"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview",
            "request": {"uid": "u", "kind": {"group": "", "version": "v1", "kind": kind},
                "resource": {"group": "", "version": "v1", "resource": resource},
                "name": name, "namespace": "dev", "operation": "CREATE",
                "userInfo": {"username": "alice", "groups": []},
                "object": object, "oldObject": null, "dryRun": false, "options": null}});
        Self(json!({
            "id": id, "time": "2026-11-14T22:13:20.123456Z", "door": "kubernetes",
            "operation": "CREATE", "kind": kind, "namespace": "dev", "name": name, "user": "alice",
            "verdict": "allow", "mutated": false, "message": "", "plugin": null, "policy": null,
            "digest": null, "gate": "g", "duration_us": 100, "warnings": [], "patch": [],
            "trace": [{"plugin": "Policies", "phase": "admit", "outcome": "passed", "duration_us": 90,
                "policies": [{"name": "p", "mode": "enforce", "outcome": "pass", "duration_us": 50}]}],
            "input": {"review": review, "masked": [masked],
                "http": {"method": "POST", "uri": "/mutate?timeout=10s", "headers": [["host", "x"]],
                    "address": "127.0.0.1:40000"},
                "received": "2026-11-14T22:13:20.123456789Z",
                "webhook": {"name": "mutate", "may_patch": true, "refuses_pending": false}},
        }))
    }

    /// A request for authorization that was allowed.
    pub(super) fn access(id: &str, user: &str) -> Self {
        let review = json!({"apiVersion": "authorization.k8s.io/v1", "kind": "SubjectAccessReview",
            "spec": {"user": user, "resourceAttributes": {"verb": "get", "resource": "pods"}}});
        Self(json!({
            "id": id, "time": "2026-11-14T22:13:20.123456Z", "door": "authorization",
            "operation": "get", "kind": "pods", "namespace": "", "name": "", "user": user,
            "verdict": "allow", "mutated": false, "message": "ok", "plugin": "a", "policy": null,
            "digest": null, "duration_us": 1, "warnings": [], "patch": [],
            "trace": [{"plugin": "a", "outcome": "allow", "duration_us": 1}],
            "input": {"review": review, "http": {"method": "POST", "uri": "/authorize", "headers": []},
                "received": "2026-11-14T22:13:20.123456789Z", "chain": "default"},
        }))
    }

    /// The same, denied by a policy.
    pub(super) fn denied(mut self, policy: &str, message: &str) -> Self {
        self.0["verdict"] = "deny".into();
        self.0["message"] = message.into();
        self.0["plugin"] = "Policies".into();
        self.0["policy"] = policy.into();
        let step = &mut self.0["trace"][0];
        step["outcome"] = "denied".into();
        step["detail"] = message.into();
        step["policies"] = json!([{"name": policy, "mode": "enforce", "outcome": "deny"}]);
        self
    }

    /// The same, changed by the policies.
    pub(super) fn patched(mut self, patch: &Value) -> Self {
        self.0["patch"] = patch.clone();
        self.0["mutated"] = true.into();
        self.0["trace"][0]["outcome"] = "changed".into();
        self
    }

    /// The same, with a host call.
    pub(super) fn asked(mut self, function: &str, argument: &str, answer: bool) -> Self {
        self.0["trace"][0]["host_calls"] = json!([{"policy": "p", "function": function,
            "arguments": [argument], "result": answer, "duration_us": 5}]);
        self
    }

    /// The same, decided at another time.
    pub(super) fn at(mut self, time: &str) -> Self {
        self.0["time"] = time.into();
        self
    }

    /// As it is in a file.
    pub(super) fn line(&self) -> String {
        self.0.to_string()
    }
}
