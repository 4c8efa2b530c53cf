//! A minimal registry of images, sufficient for cosign.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use portcullis_testing::{Reply, Request, Server};
use serde_json::{Value, json};

/// What a registry holds.
#[derive(Debug, Default)]
struct Store {
    blobs: HashMap<String, Vec<u8>>,
    /// By tag and by digest: media type and text.
    manifests: HashMap<String, (String, Vec<u8>)>,
    /// What was sent so far, by the address it is sent to.
    uploads: HashMap<String, Vec<u8>>,
}

/// A registry with one repository, `app`.
#[derive(Debug)]
pub(crate) struct Registry {
    remote: Server,
    store: Arc<Mutex<Store>>,
}

pub(crate) fn digest(bytes: &[u8]) -> String {
    let hash = aws_lc_rs::digest::digest(&aws_lc_rs::digest::SHA256, bytes);
    let hex: String = hash
        .as_ref()
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect();
    format!("sha256:{hex}")
}

impl Registry {
    pub(crate) fn new() -> Self {
        let store = Arc::new(Mutex::new(Store::default()));
        let shared = Arc::clone(&store);
        let remote = Server::http(move |seen| answer(&mut shared.lock().unwrap(), seen));
        Self { remote, store }
    }

    /// Puts an image there that holds this text, and gives its reference.
    pub(crate) fn image(&self, text: &str) -> String {
        let config = json!({"architecture": "amd64", "os": "linux", "author": text, "rootfs": {"type": "layers", "diff_ids": []}});
        let config = config.to_string().into_bytes();
        let kind = "application/vnd.oci.image.manifest.v1+json";
        let manifest = json!({"schemaVersion": 2, "mediaType": kind, "layers": [], "config": {
            "mediaType": "application/vnd.oci.image.config.v1+json", "size": config.len(), "digest": digest(&config)}});
        let manifest = manifest.to_string().into_bytes();
        let name = digest(&manifest);
        let mut store = self.store.lock().unwrap();
        store.blobs.insert(digest(&config), config);
        store
            .manifests
            .insert(name.clone(), (kind.to_owned(), manifest));
        format!("{}/app@{name}", self.remote.place())
    }

    /// Its address as the configuration lists it.
    pub(crate) fn url(&self) -> String {
        self.remote.url()
    }

    /// The answer to a request that another server got.
    pub(crate) fn reply(&self, seen: &Request) -> Reply {
        answer(&mut self.store.lock().unwrap(), seen)
    }

    /// What was asked so far.
    pub(crate) fn requests(&self) -> Vec<Request> {
        self.remote.requests()
    }

    /// Makes a tag stand for an image, and gives the reference by it.
    pub(crate) fn tag(&self, image: &str, tag: &str) -> String {
        let (name, digest) = image.split_once('@').unwrap();
        let mut store = self.store.lock().unwrap();
        let manifest = store.manifests[digest].clone();
        store.manifests.insert(tag.to_owned(), manifest);
        format!("{name}:{tag}")
    }

    /// Puts signatures beside an image: media type, what is signed, annotations.
    pub(crate) fn signatures(&self, image: &str, layers: &[(&str, &[u8], Value)]) {
        let (_, name) = image.split_once('@').unwrap();
        let mut store = self.store.lock().unwrap();
        let config = b"{}".to_vec();
        let described = layers.iter().map(|(kind, payload, annotations)| {
            json!({"mediaType": kind, "size": payload.len(), "digest": digest(payload), "annotations": annotations})
        });
        let kind = "application/vnd.oci.image.manifest.v1+json";
        let manifest = json!({"schemaVersion": 2, "mediaType": kind, "layers": described.collect::<Vec<_>>(),
            "config": {"mediaType": "application/vnd.oci.image.config.v1+json", "size": config.len(), "digest": digest(&config)}});
        for (_, payload, _) in layers {
            store.blobs.insert(digest(payload), payload.to_vec());
        }
        store.blobs.insert(digest(&config), config);
        let manifest = manifest.to_string().into_bytes();
        let tag = format!("{}.sig", name.replace(':', "-"));
        store
            .manifests
            .insert(digest(&manifest), (kind.to_owned(), manifest.clone()));
        store.manifests.insert(tag, (kind.to_owned(), manifest));
    }

    /// Replaces the content of a blob, but not its name.
    pub(crate) fn forge(&self, original: &[u8], forged: &[u8]) {
        let mut store = self.store.lock().unwrap();
        store.blobs.insert(digest(original), forged.to_vec());
    }
}

fn answer(store: &mut Store, seen: &Request) -> Reply {
    let (path, query) = seen.target().split_once('?').unwrap_or((seen.target(), ""));
    let given = query
        .split('&')
        .find_map(|pair| pair.strip_prefix("digest="));
    let given = given.map(|digest| digest.replace("%3A", ":"));
    let rest = path.strip_prefix("/v2/app/").unwrap_or_default();
    match (seen.method(), rest.split_once('/')) {
        ("GET", None) if path == "/v2/" => Reply::with("200 OK", "", b"{}"),
        (method, Some(("blobs", id))) if method == "GET" || method == "HEAD" => found(
            method,
            store
                .blobs
                .get(id)
                .map(|blob| ("application/octet-stream", blob.as_slice())),
            id,
        ),
        ("POST", Some(("blobs", _))) => {
            let place = format!("/v2/app/blobs/uploads/{}", store.uploads.len());
            store.uploads.insert(place.clone(), Vec::new());
            Reply::with("202 Accepted", &format!("Location: {place}\r\n"), b"")
        }
        ("PATCH", Some(("blobs", _))) => {
            store.uploads.get_mut(path).unwrap().extend(&seen.body);
            Reply::with("202 Accepted", &format!("Location: {path}\r\n"), b"")
        }
        ("PUT", Some(("blobs", _))) => {
            let mut blob = store.uploads[path].clone();
            blob.extend(&seen.body);
            assert_eq!(Some(digest(&blob)), given);
            store.blobs.insert(digest(&blob), blob);
            Reply::with("201 Created", "", b"")
        }
        ("PUT", Some(("manifests", tag))) => {
            let kind = seen.header("content-type").unwrap().to_owned();
            let name = digest(&seen.body);
            store
                .manifests
                .insert(name.clone(), (kind.clone(), seen.body.clone()));
            store
                .manifests
                .insert(tag.to_owned(), (kind, seen.body.clone()));
            Reply::with(
                "201 Created",
                &format!("Docker-Content-Digest: {name}\r\n"),
                b"",
            )
        }
        (method, Some(("manifests", tag))) => {
            let manifest = store.manifests.get(tag);
            let name = manifest.map(|(_, text)| digest(text)).unwrap_or_default();
            found(
                method,
                manifest.map(|(kind, text)| (kind.as_str(), text.as_slice())),
                &name,
            )
        }
        _ => Reply::with("404 Not Found", "", b"{}"),
    }
}

fn found(method: &str, what: Option<(&str, &[u8])>, name: &str) -> Reply {
    let Some((kind, text)) = what else {
        let body = if method == "HEAD" {
            &b""[..]
        } else {
            b"{\"errors\":[{\"code\":\"MANIFEST_UNKNOWN\"}]}"
        };
        return Reply::with("404 Not Found", "Content-Type: application/json\r\n", body);
    };
    let head = format!(
        "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Type: {kind}\r\nDocker-Content-Digest: {name}\r\nContent-Length: {}\r\n\r\n",
        text.len()
    );
    let mut raw = head.into_bytes();
    if method != "HEAD" {
        raw.extend(text);
    }
    Reply::Raw(raw)
}
