//! The HTTP request, as it is written.

use std::borrow::Cow;
use std::net::SocketAddr;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use portcullis_core::{DoorContext, PeerCertificate};
use serde::Serialize;

use crate::input::Unix;
use crate::mask::{self, MASKED};

/// [`crate::Http`] with borrowed values.
#[derive(Serialize)]
pub(super) struct Http<'a> {
    method: &'a str,
    uri: Cow<'a, str>,
    headers: Vec<(&'a str, &'a str)>,
    #[serde(skip_serializing_if = "Option::is_none")]
    address: Option<SocketAddr>,
    #[serde(skip_serializing_if = "Option::is_none")]
    unix: Option<Unix>,
    #[serde(skip_serializing_if = "Option::is_none")]
    certificate: Option<Certificate<'a>>,
}

#[derive(Serialize)]
struct Certificate<'a> {
    subject: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    common_name: Option<&'a str>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    organizations: &'a [String],
    chain: Vec<String>,
}

impl<'a> Http<'a> {
    /// With its secrets masked, and where they were.
    pub(super) fn masked(
        context: &'a DoorContext,
        found: &mut mask::http::Found<'a>,
        pointers: &mut Vec<String>,
    ) -> Self {
        let mut headers: Vec<(&str, &str)> = context
            .headers
            .iter()
            .map(|(name, value)| (name.as_str(), value.as_str()))
            .collect();
        for place in &found.headers {
            if let Some((_, value)) = headers.get_mut(*place) {
                *value = MASKED;
                pointers.push(format!("/http/headers/{place}/1"));
            }
        }
        let uri = match found.uri.take() {
            Some(uri) => {
                pointers.push("/http/uri".to_owned());
                Cow::Owned(uri)
            }
            None => Cow::Borrowed(context.uri.as_str()),
        };
        let unix = context.peer.unix.map(|peer| Unix {
            uid: peer.uid,
            gid: peer.gid,
            pid: peer.pid,
        });
        Self {
            method: &context.method,
            uri,
            headers,
            address: context.peer.address,
            unix,
            certificate: context.peer.certificate.as_deref().map(certificate),
        }
    }
}

impl Http<'_> {
    /// With another path, made of its own.
    pub(super) fn with_path(mut self, make: impl Fn(&str) -> String) -> Self {
        self.uri = Cow::Owned(make(&self.uri));
        self
    }
}

fn certificate(certificate: &PeerCertificate) -> Certificate<'_> {
    let chain = certificate.chain.iter();
    Certificate {
        subject: &certificate.subject,
        common_name: certificate.common_name.as_deref(),
        organizations: &certificate.organizations,
        chain: chain.map(|der| STANDARD.encode(der)).collect(),
    }
}
