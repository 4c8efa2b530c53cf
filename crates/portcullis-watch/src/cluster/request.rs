//! Requests to the API server, and answers within limits.

use std::time::Duration;

use bytes::{Bytes, BytesMut};
use http::header::{ACCEPT, RETRY_AFTER};
use http::{Request, Response};
use http_body_util::BodyExt;
use kube::client::Body;
use portcullis_graph::VertexKind;
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::Cluster;
use super::failure::{Failure, Nature};

/// A page that is larger is asked for again with fewer objects.
const MAX_PAGE: usize = 64 * 1024 * 1024;
/// How much of an error response is read.
pub(super) const MAX_STATUS: usize = 64 * 1024;

/// A page of a list. Objects stay text: one that can't be read must not take the others along.
#[derive(Debug, Deserialize)]
pub(super) struct Page<'a> {
    #[serde(default)]
    pub(super) metadata: PageMetadata,
    #[serde(borrow, default)]
    pub(super) items: Option<Vec<&'a RawValue>>,
}

/// Whole objects.
#[derive(Debug, Deserialize)]
struct Objects {
    items: Option<Vec<Value>>,
}

/// Where a page stands.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct PageMetadata {
    pub(super) resource_version: String,
    /// How the list goes on; empty if this was the last page.
    #[serde(rename = "continue")]
    pub(super) next: String,
}

/// The resources of a group and version.
#[derive(Debug, Deserialize)]
struct Resources {
    #[serde(default)]
    resources: Vec<NamedResource>,
}

#[derive(Debug, Deserialize)]
struct NamedResource {
    name: String,
    kind: String,
    #[serde(default)]
    namespaced: bool,
}

/// The path of a group and version.
fn folder(kind: &VertexKind) -> String {
    let VertexKind { group, version, .. } = kind;
    if group.is_empty() {
        format!("/api/{version}")
    } else {
        format!("/apis/{group}/{version}")
    }
}

/// The path of all objects of a kind.
pub(super) fn path(kind: &VertexKind) -> String {
    format!("{}/{}", folder(kind), kind.resource)
}

/// The path of all objects of a kind in a namespace, or nothing if there can't be such a namespace.
fn path_in(kind: &VertexKind, namespace: &str) -> Option<String> {
    let (folder, resource) = (folder(kind), &kind.resource);
    let namespace = segment(namespace)?;
    Some(format!("{folder}/namespaces/{namespace}/{resource}"))
}

/// The path of one object, or nothing if there can't be such an object.
pub(super) fn path_of(kind: &VertexKind, namespace: &str, name: &str) -> Option<String> {
    let all = path(kind);
    let (folder, resource) = all.rsplit_once('/')?;
    if kind.namespaced {
        let (namespace, name) = (segment(namespace)?, segment(name)?);
        Some(format!("{folder}/namespaces/{namespace}/{resource}/{name}"))
    } else {
        Some(format!("{all}/{}", segment(name)?))
    }
}

/// A name as a part of a path. Kubernetes allows none that would mean something else there.
pub(super) fn segment(name: &str) -> Option<String> {
    let forbidden = name.is_empty() || name == "." || name == ".." || name.contains(['/', '%']);
    if forbidden {
        return None;
    }
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~:@".contains(&byte);
    let mut encoded = String::with_capacity(name.len());
    for byte in name.bytes() {
        if plain(byte) {
            encoded.push(char::from(byte));
        } else {
            encoded.push_str(&format!("%{byte:02X}"));
        }
    }
    Some(encoded)
}

impl Cluster {
    /// Asks for a page of a list.
    pub(super) async fn page(
        &self,
        kind: &VertexKind,
        limit: usize,
        next: &str,
        time: Duration,
    ) -> Result<Bytes, Failure> {
        let mut uri = format!("{}?limit={limit}", path(kind));
        if !next.is_empty() {
            // The API server made it: base64 for URLs, but for its filling.
            uri.push_str("&continue=");
            uri.push_str(&segment(next).unwrap_or_default());
        }
        within(time, async {
            let response = self.get(&uri).await?;
            collect(response.into_body(), MAX_PAGE).await
        })
        .await
    }

    /// Begins a watch after this version.
    pub(super) async fn events(
        &self,
        kind: &VertexKind,
        version: &str,
        lasting: Duration,
        time: Duration,
    ) -> Result<Body, Failure> {
        let uri = format!(
            "{}?watch=1&allowWatchBookmarks=true&timeoutSeconds={}&resourceVersion={}",
            path(kind),
            lasting.as_secs().max(1),
            segment(version).unwrap_or_default(),
        );
        within(time, async { Ok(self.get(&uri).await?.into_body()) }).await
    }

    /// Reads one object.
    pub(super) async fn object(&self, path: &str, time: Duration) -> Result<Bytes, Failure> {
        within(time, async {
            let response = self.get(path).await?;
            collect(response.into_body(), MAX_PAGE).await
        })
        .await
    }

    /// The kind with the resource that the API server has for it.
    pub(super) async fn resource(
        &self,
        kind: &VertexKind,
        time: Duration,
    ) -> Result<VertexKind, Failure> {
        let text = self.object(&folder(kind), time).await?;
        let all: Resources = serde_json::from_slice(&text)
            .map_err(|_| Failure::passing("the API server's answer is not a list of resources"))?;
        let is_it = |one: &NamedResource| one.kind == kind.name && !one.name.contains('/');
        match all.resources.into_iter().find(is_it) {
            Some(found) => Ok(VertexKind {
                resource: found.name,
                namespaced: found.namespaced,
                ..kind.clone()
            }),
            None => Err(Failure::new(
                Nature::Missing,
                format!("the API server has no kind {}", kind.name),
            )),
        }
    }

    /// The objects of a namespace, on one page.
    pub(super) async fn objects_of(
        &self,
        kind: &VertexKind,
        namespace: &str,
        time: Duration,
    ) -> Result<Vec<Value>, String> {
        let Some(path) = path_in(kind, namespace) else {
            return Ok(Vec::new());
        };
        let text = self.object(&path, time).await;
        let text = text.map_err(|failure| failure.words)?;
        let list: Objects = serde_json::from_slice(&text)
            .map_err(|_| "the API server's answer is not a list".to_owned())?;
        Ok(list.items.unwrap_or_default())
    }

    async fn get(&self, uri: &str) -> Result<Response<Body>, Failure> {
        let request = Request::get(uri)
            .header(ACCEPT, "application/json")
            .body(Body::empty())
            .map_err(|error| Failure::passing(error.to_string()))?;
        let response = self.client.send(request).await?;
        if response.status().is_success() {
            return Ok(response);
        }
        let code = response.status().as_u16();
        let rest = response.headers().get(RETRY_AFTER);
        let rest = rest.and_then(|value| value.to_str().ok()?.parse().ok());
        let told = collect(response.into_body(), MAX_STATUS).await;
        let failure = Failure::told(Some(code), &told.unwrap_or_default());
        Err(Failure {
            rest: rest.map(Duration::from_secs),
            ..failure
        })
    }
}

pub(super) async fn within<T>(
    time: Duration,
    work: impl Future<Output = Result<T, Failure>>,
) -> Result<T, Failure> {
    let words = "the API server did not answer in time";
    let result = tokio::time::timeout(time, work).await;
    result.unwrap_or_else(|_| Err(Failure::passing(words)))
}

/// The whole body, if it is not larger.
pub(super) async fn collect(mut body: Body, at_most: usize) -> Result<Bytes, Failure> {
    let mut whole = BytesMut::new();
    while let Some(frame) = body.frame().await {
        if let Ok(piece) = frame?.into_data() {
            if whole.len() + piece.len() > at_most {
                let words = "the answer of the API server is too large";
                return Err(Failure::new(Nature::TooLarge, words));
            }
            whole.extend_from_slice(&piece);
        }
    }
    Ok(whole.freeze())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kind(group: &str, namespaced: bool) -> VertexKind {
        VertexKind {
            name: "Shoot".to_owned(),
            group: group.to_owned(),
            version: "v1".to_owned(),
            resource: "shoots".to_owned(),
            namespaced,
        }
    }

    #[test]
    fn paths() {
        assert_eq!(path(&kind("", true)), "/api/v1/shoots");
        assert_eq!(path(&kind("a.b", true)), "/apis/a.b/v1/shoots");
        let of = |ns, name| path_of(&kind("a.b", true), ns, name);
        let expected = "/apis/a.b/v1/namespaces/n/shoots/x";
        assert_eq!(of("n", "x").as_deref(), Some(expected));
        let of = |name| path_of(&kind("", false), "ignored", name);
        assert_eq!(
            of("a:b c?d#").as_deref(),
            Some("/api/v1/shoots/a:b%20c%3Fd%23")
        );
    }

    #[test]
    fn names_that_would_lead_elsewhere_are_no_names() {
        for name in ["", ".", "..", "a/b", "../x", "%2e%2e"] {
            assert_eq!(path_of(&kind("", false), "", name), None, "{name}");
            assert_eq!(path_of(&kind("", true), name, "x"), None, "{name}");
        }
    }
}
