//! What a kubeconfig signs in with, as far as it expires.

use std::path::PathBuf;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use portcullis_net::{CertificateFacts, certificates};

use super::access::{self, Access, ConnectError};

/// Larger files are not certificates.
const LARGEST: u64 = 1 << 20;

/// What a kubeconfig signs in with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Credentials {
    /// The context that is used.
    pub context: String,
    /// The user of that context.
    pub user: String,
    /// The client certificate, if there is one that can be read.
    pub certificate: Option<CertificateFacts>,
}

impl Access {
    /// What a kubeconfig signs in with; nothing for the service account of a pod, which is renewed by itself.
    ///
    /// # Errors
    ///
    /// When it can't be read.
    pub fn credentials(&self) -> Result<Option<Credentials>, ConnectError> {
        let Self::Kubeconfig(path) = self else {
            return Ok(None);
        };
        let kubeconfig = access::read_kubeconfig(path)?;
        let context = kubeconfig.current_context.unwrap_or_default();
        let found = kubeconfig
            .contexts
            .into_iter()
            .find(|one| one.name == context);
        let Some(user) = found.and_then(|found| found.context?.user) else {
            return Ok(None);
        };
        let all = kubeconfig.auth_infos.into_iter();
        let info = all
            .filter(|one| one.name == user)
            .find_map(|one| one.auth_info);
        let pem =
            info.and_then(
                |info| match (info.client_certificate_data, info.client_certificate) {
                    (Some(data), _) => BASE64_STANDARD.decode(data).ok(),
                    (None, Some(file)) => {
                        let file = path
                            .parent()
                            .map_or_else(|| PathBuf::from(&file), |dir| dir.join(&file));
                        portcullis_files::read(&file, LARGEST).ok()
                    }
                    (None, None) => None,
                },
            );
        let chain = pem.and_then(|pem| certificates(&pem).ok());
        let own = chain.and_then(|chain| CertificateFacts::of(chain.first()?).ok());
        Ok(Some(Credentials {
            context,
            user,
            certificate: own,
        }))
    }
}
