//! The peer of a connection.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use portcullis_core::{Peer, PeerCertificate, UnixPeer};
use rustls::pki_types::CertificateDer;
use tokio::net::UnixStream;
use x509_parser::prelude::{FromDer, X509Certificate, X509Name};

/// The process at the other end of a unix socket, as reported by the kernel.
pub(crate) fn of_unix(stream: &UnixStream) -> Peer {
    let unix = stream.peer_cred().ok().map(|credentials| UnixPeer {
        uid: credentials.uid(),
        gid: credentials.gid(),
        pid: credentials.pid(),
    });
    Peer {
        unix,
        ..Peer::default()
    }
}

/// The identity in a verified certificate; none if it can't be read, which verification excludes.
pub(crate) fn certificate(chain: &[CertificateDer<'_>]) -> Option<Arc<PeerCertificate>> {
    let (_, own) = X509Certificate::from_der(chain.first()?).ok()?;
    let subject = own.subject();
    Some(Arc::new(PeerCertificate {
        subject: subject.to_string(),
        common_name: texts(subject.iter_common_name()).pop(),
        organizations: organizations(subject),
        chain: chain.iter().map(|c| c.as_ref().to_vec()).collect(),
    }))
}

fn organizations(subject: &X509Name<'_>) -> Vec<String> {
    texts(subject.iter_organization())
}

fn texts<'a>(
    attributes: impl Iterator<Item = &'a x509_parser::x509::AttributeTypeAndValue<'a>>,
) -> Vec<String> {
    attributes
        .filter_map(|a| a.as_str().ok().map(str::to_owned))
        .collect()
}

/// When a client's certificate expires.
pub(crate) fn chain_expires(chain: &[CertificateDer<'_>]) -> Option<SystemTime> {
    let seconds = u64::try_from(expires_at(chain.first()?)?).unwrap_or_default();
    SystemTime::UNIX_EPOCH.checked_add(Duration::from_secs(seconds))
}

/// When a certificate ends, in seconds since 1970.
pub(crate) fn expires_at(certificate: &CertificateDer<'_>) -> Option<i64> {
    let (_, parsed) = X509Certificate::from_der(certificate).ok()?;
    Some(parsed.validity().not_after.timestamp())
}
