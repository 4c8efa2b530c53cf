//! The certificates that the listeners for reviews show: those of files, and those that the server keeps in a Secret.

use std::time::SystemTime;

use portcullis_config::{Identity, Loaded, ManagedCertificate, Service};
use portcullis_net::{Certificate, CertificateFacts, certificates};
use portcullis_watch::Cluster;

use super::api_server::TIME;
use super::certificates::{CHECK, read, validity};
use super::finding::{Finding, Findings};

/// The key of the certificate in a Secret of the type `kubernetes.io/tls`.
const CERTIFICATE: &str = "tls.crt";

/// The chains of certificates that are known here.
pub(super) async fn chains(
    cluster: &Cluster,
    loaded: &Loaded,
    now: SystemTime,
    findings: &mut Findings,
) -> Vec<Vec<Certificate>> {
    let mut found = Vec::new();
    let all = loaded.listeners.iter();
    for listener in all.filter(|listener| listener.serves(Service::Kubernetes)) {
        match listener.tls.as_ref().map(|tls| &tls.identity) {
            Some(Identity::Files { certificate, .. }) => found.extend(read(certificate).ok()),
            Some(Identity::Managed(managed)) => match kept(cluster, managed).await {
                Ok(chain) => {
                    findings.extend(validities(managed, &chain, now));
                    found.push(chain);
                }
                Err(finding) => findings.add(finding),
            },
            Some(Identity::Development) | None => {}
        }
    }
    found
}

/// The certificate that the server keeps.
async fn kept(
    cluster: &Cluster,
    managed: &ManagedCertificate,
) -> Result<Vec<Certificate>, Finding> {
    let place = format!("Secret {}", managed.secret);
    let secret = match cluster.secret(&managed.secret, TIME).await {
        Ok((Some(secret), _)) => secret,
        Ok((None, _)) => {
            let message = "does not exist yet";
            let fix = "start the server, which creates it; if it runs, look at its log";
            return Err(Finding::warning(CHECK, place, message, fix));
        }
        Err(error) => return Err(Finding::skipped(CHECK, place, error)),
    };
    let fix = format!(
        "empty the Secret, and the server fills it again: kubectl -n {} patch secret {} -p \
         '{{\"data\":{{\"ca.crt\":\"\",\"ca.key\":\"\",\"tls.crt\":\"\",\"tls.key\":\"\"}}}}'",
        managed.secret.namespace, managed.secret.name
    );
    let Some(text) = secret.data.get(CERTIFICATE) else {
        let message = format!("has no `{CERTIFICATE}`");
        return Err(Finding::problem(CHECK, place, message, fix));
    };
    certificates(text).map_err(|error| Finding::problem(CHECK, place, error, fix))
}

fn validities(
    managed: &ManagedCertificate,
    chain: &[Certificate],
    now: SystemTime,
) -> Vec<Finding> {
    let place = format!("Secret {}", managed.secret);
    let facts = chain
        .iter()
        .filter_map(|one| CertificateFacts::of(one).ok());
    facts
        .map(|facts| validity(CHECK, &place, &facts, now))
        .collect()
}
