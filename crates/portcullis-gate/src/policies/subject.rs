//! A request as policies see it: `req` and `ac`, built when a policy reads them.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::SystemTime;

use portcullis_core::percent;
use portcullis_core::{Attributes, DoorContext, TraceContext};
use portcullis_js::Subject;
use portcullis_kube::review;
use serde_json::{Map, Value, json};

use super::caller::Callers;
use super::certificate;
use super::time::rfc3339;

/// A request, and when it came.
#[derive(Debug)]
pub(super) struct PolicySubject {
    pub(super) request: Attributes,
    pub(super) received: SystemTime,
    pub(super) callers: Arc<Callers>,
    /// In a replay, what stands for what is not known.
    pub(super) mask: Option<Arc<str>>,
}

impl Subject for PolicySubject {
    fn req(&self) -> Value {
        review::request_with_both_names(&self.request)
    }

    fn ac(&self) -> Value {
        let context = &self.request.context;
        let (user, method) = self.user();
        let chain = context
            .peer
            .certificate
            .as_ref()
            .map(|c| c.chain.as_slice());
        let certificates = chain.unwrap_or_default().iter();
        json!({
            "Timestamp": timestamp(self.received),
            "User": user,
            "UserAuthNMethod": method,
            "RequestPeerCertificates": certificates.map(|der| certificate::describe(der)).collect::<Vec<_>>(),
            "HTTPRequest": http_request(context),
        })
    }

    fn review(&self, object: &Value) -> Option<Value> {
        Some(review::review_of(&self.request, object))
    }

    fn asker(&self) -> &str {
        &self.request.user.username
    }

    fn headers(&self) -> Vec<(&'static str, String)> {
        let trace = self.request.context.trace.as_ref();
        trace.map(TraceContext::headers).unwrap_or_default()
    }
}

impl PolicySubject {
    /// The caller, and how it is known.
    fn user(&self) -> (Value, &'static str) {
        let peer = &self.request.context.peer;
        if let Some(unix) = peer.unix {
            let user = match (self.callers.describe(unix), &self.mask) {
                // The caller may have had a name then, on another machine.
                (Value::Null, Some(mask)) => mask.as_ref().into(),
                (user, _) => user,
            };
            return (user, "unix-domain-socket");
        }
        match peer.certificate.as_ref().and_then(|c| c.chain.first()) {
            Some(der) => (certificate::subject(der), "mTLS"),
            None => (Value::Null, ""),
        }
    }
}

/// The fields of Go's `http.Request` that people use.
fn http_request(context: &DoorContext) -> Value {
    let (path, query) = context
        .uri
        .split_once('?')
        .unwrap_or((context.uri.as_str(), ""));
    let mut headers: Map<String, Value> = Map::new();
    let mut host = String::new();
    for (name, value) in &context.headers {
        if name == "host" {
            host.clone_from(value);
            continue;
        }
        let values = headers
            .entry(canonical(name))
            .or_insert_with(|| Value::Array(Vec::new()));
        if let Some(list) = values.as_array_mut() {
            list.push(value.as_str().into());
        }
    }
    let address = context.peer.address.map(|a| a.to_string());
    json!({
        "Method": context.method,
        "RequestURI": context.uri,
        "RequestUri": context.uri,
        "Host": host,
        "RemoteAddr": address.unwrap_or_else(|| "@".to_owned()),
        "URL": {"Path": decoded(path), "RawPath": path, "RawQuery": query},
        "Header": headers,
    })
}

/// `x-ctrdac-requesturi` as `X-Ctrdac-Requesturi`: Go's way to write names of headers.
fn canonical(name: &str) -> String {
    let mut upper = true;
    let letter = |c: char| {
        let written = if upper { c.to_ascii_uppercase() } else { c };
        upper = c == '-';
        written
    };
    name.chars().map(letter).collect()
}

/// A path without percent signs; as it is where they make no sense.
fn decoded(path: &str) -> Cow<'_, str> {
    percent::decoded(path).unwrap_or_else(|| path.into())
}

fn timestamp(time: SystemTime) -> String {
    let since = time.duration_since(SystemTime::UNIX_EPOCH);
    rfc3339(since.map_or(0, |d| i64::try_from(d.as_secs()).unwrap_or(i64::MAX)))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn headers_are_named_as_go_names_them() {
        assert_eq!(canonical("x-ctrdac-requesturi"), "X-Ctrdac-Requesturi");
        assert_eq!(canonical("etag"), "Etag");
        let context = DoorContext {
            uri: "/a%20b?x=1&y=%20".to_owned(),
            headers: vec![
                ("host".to_owned(), "unix".to_owned()),
                ("x-a".to_owned(), "1".to_owned()),
                ("x-a".to_owned(), "2".to_owned()),
            ],
            ..DoorContext::default()
        };
        let request = http_request(&context);
        assert_eq!(request["Header"], json!({"X-A": ["1", "2"]}));
        assert_eq!(request["Host"], "unix");
        assert_eq!(request["URL"]["Path"], "/a b");
        assert_eq!(request["URL"]["RawQuery"], "x=1&y=%20");
        assert_eq!(decoded("/%zz"), "/%zz");
    }

    #[test]
    fn times_are_written_as_people_write_them() {
        let time = SystemTime::UNIX_EPOCH + Duration::from_secs(1_700_000_000);
        assert_eq!(timestamp(time), "2023-11-14T22:13:20Z");
    }
}
