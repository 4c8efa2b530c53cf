//! Registries of images, read as the distribution specification says: manifests and small blobs, with the tokens that a
//! registry's own token service gives.
//!
//! Everything is bounded: sizes, redirects, the time. What is fetched by its digest has that digest. Registries and
//! what they point to are public and speak TLS, unless the configuration lists them. Credentials come from a file that
//! the configuration names, and from nowhere else.

mod access;
mod challenge;
mod credentials;
mod repository;
mod session;

use std::collections::BTreeMap;
use std::fmt::{self, Write};
use std::time::Instant;

use aws_lc_rs::digest::{SHA256, digest};
use portcullis_document::{Fault, path};
use portcullis_net::Trust;
use serde::Deserialize;

pub(crate) use access::check_entry;
pub(crate) use session::Session;

use access::Access;
use credentials::Credentials;
use repository::Repository;

use crate::reference::Reference;

/// Which registries there are besides public ones, and how they are reached.
#[derive(Clone, Default)]
pub struct RegistrySettings {
    /// Servers that may be asked although they are private: `host:port`, or `http://` and a loopback address.
    pub allow: Vec<String>,
    /// Authorities, as PEM text, that vouch for registries. They replace those of the system.
    pub authorities: Option<Vec<u8>>,
    /// A `config.json` of Docker, with the credentials in it.
    pub docker_config: Option<Vec<u8>>,
}

/// Without the credentials, but for whether they are the same.
impl fmt::Debug for RegistrySettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RegistrySettings")
            .field("allow", &self.allow)
            .field("authorities", &self.authorities.as_deref().map(digest_of))
            .field(
                "docker_config",
                &self.docker_config.as_deref().map(digest_of),
            )
            .finish()
    }
}

/// Registries that can be asked.
#[derive(Debug)]
pub(crate) struct Registries {
    access: Access,
    credentials: Credentials,
}

/// What a manifest says of something else.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Descriptor {
    #[serde(default)]
    pub(crate) media_type: String,
    pub(crate) digest: String,
    pub(crate) size: u64,
    pub(crate) annotations: Option<BTreeMap<String, String>>,
}

impl RegistrySettings {
    /// What is wrong with them, each at its key.
    pub(crate) fn check(&self) -> Vec<Fault> {
        let entries = self.allow.iter().enumerate();
        let mut faults: Vec<Fault> = entries
            .filter_map(|(index, entry)| {
                let fault = check_entry(entry).err()?;
                Some(Fault::at(path::index("allow", index), fault))
            })
            .collect();
        if let Err(fault) = Trust::new(self.authorities.as_deref()) {
            faults.push(Fault::at("ca", fault.to_string()));
        }
        if let Err(fault) = Credentials::read(self.docker_config.as_deref()) {
            faults.push(Fault::at("dockerConfig", fault));
        }
        faults
    }
}

impl Registries {
    /// Registries of these settings, which have been checked.
    pub(crate) fn new(settings: &RegistrySettings, system: &Trust) -> Result<Self, Box<Fault>> {
        let trust = match settings.authorities.as_deref() {
            None => system.clone(),
            pem => Trust::new(pem).map_err(|error| Box::new(Fault::at("ca", error.to_string())))?,
        };
        let credentials = Credentials::read(settings.docker_config.as_deref())
            .map_err(|error| Box::new(Fault::at("dockerConfig", error)))?;
        Ok(Self {
            access: Access::new(&settings.allow, trust),
            credentials,
        })
    }

    /// Begins to read the repository of an image.
    pub(crate) fn session(
        &self,
        image: &Reference,
        deadline: Instant,
    ) -> Result<Session<'_>, String> {
        if image.digest().is_some_and(|digest| !is_digest(digest)) {
            return Err("only sha256 digests are supported".to_owned());
        }
        let repository = Repository::of(image.name(), &self.access)?;
        Ok(Session::new(
            &self.access,
            &self.credentials,
            repository,
            deadline,
        ))
    }
}

/// The digest of some bytes, as manifests write it.
pub(crate) fn digest_of(bytes: &[u8]) -> String {
    let mut text = "sha256:".to_owned();
    for byte in digest(&SHA256, bytes).as_ref() {
        let _ = write!(text, "{byte:02x}");
    }
    text
}

/// Whether this is a digest that can be compared with one of [`digest_of`].
pub(crate) fn is_digest(text: &str) -> bool {
    let hex = text.strip_prefix("sha256:");
    hex.is_some_and(|hex| {
        hex.len() == 64
            && hex
                .bytes()
                .all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte))
    })
}
