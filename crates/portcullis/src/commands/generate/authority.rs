//! The CA certificates that the API server shall trust: of a file, or of the listener that serves reviews.

use std::path::Path;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use portcullis_config::{Identity, Listener, Loaded, ManagedCertificate, Service};
use portcullis_net::{CertificateFacts, certificates, pem_of};

use crate::commands::failure::{Failure, remark};
use crate::exit::Exit;

/// Larger files are not certificates.
const LARGEST: u64 = 1 << 20;

/// The certificates as `caBundle` has them: PEM in base64. Nothing where the API server's own CAs are to be trusted, or
/// where the field is filled in by the server.
pub(super) fn bundle(ca: Option<&Path>, loaded: &Loaded) -> Result<Option<String>, Failure> {
    let pem = match ca {
        Some(file) => {
            let all = read(file)?;
            Some(all.iter().map(|one| pem_of(one)).collect())
        }
        None => of_listeners(loaded)?,
    };
    Ok(pem.map(|pem: String| BASE64_STANDARD.encode(pem)))
}

/// The listener that the API server calls: the first one with TLS that serves reviews.
pub(super) fn reviewing(loaded: &Loaded) -> Option<&Listener> {
    let mut all = loaded.listeners.iter();
    all.find(|listener| listener.serves(Service::Kubernetes) && listener.tls.is_some())
}

/// Its certificate, if the server manages it.
pub(super) fn managed(loaded: &Loaded) -> Option<&ManagedCertificate> {
    let tls = reviewing(loaded).and_then(|listener| listener.tls.as_ref());
    match tls.map(|tls| &tls.identity) {
        Some(Identity::Managed(managed)) => Some(managed),
        Some(Identity::Files { .. } | Identity::Development) | None => None,
    }
}

fn of_listeners(loaded: &Loaded) -> Result<Option<String>, Failure> {
    let found = reviewing(loaded).and_then(|listener| Some((listener, listener.tls.as_ref()?)));
    let Some((listener, tls)) = found else {
        remark(
            "no listener with TLS serves `kubernetes`, so there is no caBundle: the API server trusts its own CAs",
        );
        return Ok(None);
    };
    let name = &listener.name;
    match &tls.identity {
        Identity::Files { certificate, .. } => {
            let chain = read(certificate)?;
            let facts = chain
                .iter()
                .map(|one| (one, CertificateFacts::of(one).ok()));
            let is_trusted =
                |facts: &CertificateFacts| facts.is_authority || facts.is_self_issued();
            let authorities: String = facts
                .filter(|(_, facts)| facts.as_ref().is_some_and(is_trusted))
                .map(|(one, _)| pem_of(one))
                .collect();
            if authorities.is_empty() {
                let message = format!(
                    "{} of the listener `{name}` does not include the certificate of its CA: give it with --ca FILE",
                    certificate.display()
                );
                return Err(Failure::new(Exit::Usage, message));
            }
            Ok(Some(authorities))
        }
        Identity::Managed(managed) => {
            remark(&format!(
                "the listener `{name}` has a certificate that the server manages: it writes caBundle of {} itself",
                managed.webhooks.join(", ")
            ));
            Ok(None)
        }
        Identity::Development => {
            let message = format!(
                "the listener `{name}` creates a development certificate when it starts: give its CA with --ca FILE"
            );
            Err(Failure::new(Exit::Usage, message))
        }
    }
}

/// The certificates of a file. Anything else in it, like a key, is left there.
fn read(file: &Path) -> Result<Vec<portcullis_net::Certificate>, Failure> {
    let wrong = |why: &dyn std::fmt::Display| {
        Failure::new(Exit::Invalid, format!("{}: {why}", file.display()))
    };
    let text = portcullis_files::read(file, LARGEST).map_err(|error| wrong(&error))?;
    certificates(&text).map_err(|error| wrong(&error))
}
