//! Stand-ins for GitHub, Container Analysis and the metadata server.

use std::collections::HashMap;
use std::sync::Arc;

use portcullis_host::{ExternalHost, GoogleToken, HostSettings};
use portcullis_testing::{Reply, Server};
use serde_json::{Value, json};

use crate::script::Folder;
use crate::support::settings;

/// The services that `slsaEnsureComingFrom` asks.
#[derive(Debug)]
pub(crate) struct World {
    pub(crate) github: Server,
    pub(crate) analysis: Server,
    pub(crate) metadata: Server,
}

/// A digest.
pub(crate) fn digest() -> String {
    format!("sha256:{}", "0a".repeat(32))
}

/// An image with provenance.
pub(crate) fn image() -> String {
    format!("us-docker.pkg.dev/project/repo/img:v1@{}", digest())
}

/// A provenance of that image, made at this time.
pub(crate) fn occurrence(name: &str, time: &str) -> Value {
    json!({"name": name, "kind": "BUILD", "createTime": time, "envelope": {"payload": ""},
        "resourceUri": format!("https://us-docker.pkg.dev/project/repo/img@{}", digest())})
}

impl World {
    /// Files of GitHub by path, and the pages of Container Analysis, which get their tokens.
    pub(crate) fn new(files: &[(&str, Reply)], pages: Vec<Value>) -> Self {
        let files: HashMap<String, Reply> = files
            .iter()
            .map(|(path, reply)| ((*path).to_owned(), reply.clone()))
            .collect();
        let pages = Arc::new(pages);
        Self {
            github: Server::http(move |seen| {
                let found = files.get(seen.target()).cloned();
                found.unwrap_or_else(|| Reply::with("404 Not Found", "", b"404: Not Found"))
            }),
            analysis: Server::http(move |seen| {
                let page = seen
                    .target()
                    .split_once("pageToken=")
                    .map_or(0, |(_, token)| token.parse().unwrap());
                let mut body = pages[page].clone();
                if page + 1 < pages.len() {
                    body["nextPageToken"] = json!((page + 1).to_string());
                }
                Reply::json(&body)
            }),
            metadata: Server::http(|_| {
                Reply::json(
                    &json!({"access_token": "hidden", "expires_in": 3599, "token_type": "Bearer"}),
                )
            }),
        }
    }

    /// A host that asks these, and this verifier.
    pub(crate) fn host(&self, verifier: &std::path::Path) -> ExternalHost {
        ExternalHost::new(HostSettings {
            github_raw: format!("http://{}", self.github.place()),
            container_analysis: format!("http://{}", self.analysis.place()),
            google_token: GoogleToken::Metadata(format!("http://{}", self.metadata.place())),
            slsa_verifier: verifier.to_owned(),
            ..settings()
        })
        .unwrap()
    }
}

/// A configuration that builds these images.
pub(crate) fn builds(images: &[&str]) -> Reply {
    let list: String = images
        .iter()
        .map(|image| format!("- '{image}'\n"))
        .collect();
    let text = format!(
        "steps:\n- name: gcr.io/cloud-builders/docker\n  args: [build, .]\nimages:\n{list}"
    );
    Reply::with("200 OK", "Content-Type: text/plain\r\n", text.as_bytes())
}

/// A verifier that keeps what it gets: arguments, the provenance, and the mode of its file.
pub(crate) fn keeping_verifier(folder: &Folder) -> std::path::PathBuf {
    folder.script(
        "slsa-verifier",
        "printf '%s\\n' \"$@\" >> \"$D/seen\"; cp \"$3\" \"$D/provenance\"; ls -l \"$3\" | cut -c1-10 > \"$D/mode\"",
    )
}
