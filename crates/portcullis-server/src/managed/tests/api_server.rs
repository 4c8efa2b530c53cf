//! An API server that stores Secrets and webhook configurations, and compares versions before it writes.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use portcullis_certificates::Data;
use portcullis_core::clock;
use portcullis_core::sync::Mutex;
use portcullis_testing::{Reply, Request, Server};
use serde_json::{Value, json};

pub(super) const SECRETS: &str = "/api/v1/namespaces/portcullis/secrets";
pub(super) const VALIDATING: &str =
    "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations";
pub(super) const MUTATING: &str =
    "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations";

/// What is stored, and how it answers.
#[derive(Debug, Default)]
struct Stored {
    objects: BTreeMap<String, Value>,
    version: u64,
    written: BTreeMap<String, usize>,
    refused: Option<u16>,
    refused_method: Option<&'static str>,
    /// How far its clock is from ours.
    clock: i64,
}

pub(super) struct ApiServer {
    server: Server,
    stored: Arc<Mutex<Stored>>,
}

impl ApiServer {
    pub(super) fn start() -> Self {
        let stored: Arc<Mutex<Stored>> = Arc::default();
        let shared = Arc::clone(&stored);
        let server = Server::http(move |request| shared.lock().answer(request));
        Self { server, stored }
    }

    pub(super) fn url(&self) -> String {
        self.server.url()
    }

    /// Two webhooks with different ways to call them.
    pub(super) fn put_webhooks(&self, kind: &str, name: &str) {
        self.put(kind, name, webhooks(name));
    }

    pub(super) fn put(&self, folder: &str, name: &str, object: Value) {
        let mut stored = self.stored.lock();
        stored.store(&format!("{folder}/{name}"), object);
    }

    /// What another client changes.
    pub(super) fn change(&self, folder: &str, name: &str, change: impl FnOnce(&mut Value)) {
        let mut stored = self.stored.lock();
        let path = format!("{folder}/{name}");
        let mut object = stored.objects[&path].clone();
        change(&mut object);
        stored.store(&path, object);
    }

    pub(super) fn remove(&self, folder: &str, name: &str) {
        self.stored
            .lock()
            .objects
            .remove(&format!("{folder}/{name}"));
    }

    pub(super) fn object(&self, folder: &str, name: &str) -> Option<Value> {
        self.stored
            .lock()
            .objects
            .get(&format!("{folder}/{name}"))
            .cloned()
    }

    /// The entries of a Secret.
    pub(super) fn secret(&self, name: &str) -> Option<Data> {
        let object = self.object(SECRETS, name)?;
        let data = object["data"].as_object().unwrap().iter();
        let decode = |value: &Value| BASE64_STANDARD.decode(value.as_str().unwrap()).unwrap();
        Some(
            data.map(|(entry, value)| (entry.clone(), decode(value)))
                .collect(),
        )
    }

    pub(super) fn bundles(&self, kind: &str, name: &str) -> Vec<String> {
        let object = self.object(kind, name).unwrap();
        let each = object["webhooks"].as_array().unwrap().iter();
        let bundle = |webhook: &Value| {
            let text = webhook["clientConfig"]["caBundle"]
                .as_str()
                .unwrap_or_default();
            String::from_utf8(BASE64_STANDARD.decode(text).unwrap()).unwrap()
        };
        each.map(bundle).collect()
    }

    /// Everything but the bundles is as it was put there.
    #[track_caller]
    pub(super) fn assert_untouched(&self, kind: &str, name: &str) {
        let mut object = self.object(kind, name).unwrap();
        object["metadata"]
            .as_object_mut()
            .unwrap()
            .remove("resourceVersion");
        for webhook in object["webhooks"].as_array_mut().unwrap() {
            webhook["clientConfig"]
                .as_object_mut()
                .unwrap()
                .remove("caBundle");
        }
        assert_eq!(object, webhooks(name));
    }

    /// How often something there was written by requests.
    pub(super) fn written(&self, folder: &str) -> usize {
        let stored = self.stored.lock();
        let mut all = stored.written.iter();
        all.by_ref()
            .filter(|(path, _)| path.starts_with(folder))
            .map(|(_, count)| count)
            .sum()
    }

    pub(super) fn refuse(&self, status: Option<u16>) {
        self.stored.lock().refused = status;
    }

    pub(super) fn refuse_method(&self, method: Option<&'static str>) {
        self.stored.lock().refused_method = method;
    }

    pub(super) fn set_clock(&self, seconds: i64) {
        self.stored.lock().clock = seconds;
    }
}

fn webhooks(name: &str) -> Value {
    let service =
        json!({"service": {"namespace": "portcullis", "name": "hooks", "path": "/validate"}});
    let url = json!({"url": "https://127.0.0.1:8443/validate"});
    json!({
        "metadata": {"name": name, "labels": {"team": "platform"}},
        "webhooks": [
            {"name": "a.portcullis.dev", "clientConfig": service, "failurePolicy": "Fail"},
            {"name": "b.portcullis.dev", "clientConfig": url, "timeoutSeconds": 5},
        ],
    })
}

impl Stored {
    fn store(&mut self, path: &str, mut object: Value) {
        self.version += 1;
        object["metadata"]["resourceVersion"] = json!(self.version.to_string());
        self.objects.insert(path.to_owned(), object);
    }

    fn answer(&mut self, request: &Request) -> Reply {
        let (status, body) = self.outcome(request);
        let offset = Duration::from_secs(self.clock.unsigned_abs());
        let now = match self.clock < 0 {
            true => clock::wall() - offset,
            false => clock::wall() + offset,
        };
        let date = format!("Date: {}\r\n", http_date(now));
        Reply::with(
            &format!("{status} Status"),
            &date,
            body.to_string().as_bytes(),
        )
    }

    fn outcome(&mut self, request: &Request) -> (u16, Value) {
        let failed =
            |status: u16, message: &str| (status, json!({"message": message, "code": status}));
        let path = request
            .target()
            .split('?')
            .next()
            .unwrap_or_default()
            .to_owned();
        let method = request.method();
        assert_eq!(request.token(), Some("s3cret"));
        if let Some(status) = self.refused {
            return failed(status, "refused");
        }
        if self.refused_method == Some(method) {
            return failed(403, "refused");
        }
        let stored = self.objects.get(&path).cloned();
        let object = match (method, stored) {
            ("GET", Some(object)) => return (200, object),
            ("POST", _) => {
                let object = request.json();
                let name = object["metadata"]["name"].as_str().unwrap();
                let path = format!("{path}/{name}");
                if self.objects.contains_key(&path) {
                    return failed(409, "already exists");
                }
                return (201, self.write(&path, object));
            }
            ("PUT", Some(before)) => {
                let object = request.json();
                if object["metadata"]["resourceVersion"] != before["metadata"]["resourceVersion"] {
                    return failed(409, "the object has been modified");
                }
                object
            }
            ("PATCH", Some(before)) => {
                assert_eq!(
                    request.header("content-type"),
                    Some("application/json-patch+json")
                );
                let patch: json_patch::Patch = serde_json::from_value(request.json()).unwrap();
                let mut object = before.clone();
                if json_patch::patch(&mut object, &patch).is_err() {
                    return failed(422, "the patch can't be applied");
                }
                if object["metadata"]["resourceVersion"] != before["metadata"]["resourceVersion"] {
                    return failed(409, "the object has been modified");
                }
                object
            }
            (_, None) => return failed(404, "not found"),
            _ => return failed(405, "not allowed"),
        };
        (200, self.write(&path, object))
    }

    fn write(&mut self, path: &str, object: Value) -> Value {
        *self.written.entry(path.to_owned()).or_default() += 1;
        self.store(path, object);
        self.objects[path].clone()
    }
}

/// As in the header `Date`.
fn http_date(time: SystemTime) -> String {
    httpdate::fmt_http_date(time)
}
