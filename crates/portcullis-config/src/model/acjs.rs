//! The `listener` key of acjs files.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::Deserialize;

/// The one listener of an acjs file: every path and method there is a review.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(rename = "AcjsListener")]
pub(crate) struct AcjsListenerSpec {
    /// A unix socket.
    pub(crate) path: Option<AcjsPathSpec>,
    /// TCP with TLS.
    pub(crate) tls: Option<AcjsTlsSpec>,
    /// TCP with TLS and client certificates.
    pub(crate) mtls: Option<AcjsMtlsSpec>,
}

/// A unix socket.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(rename = "AcjsPath")]
pub(crate) struct AcjsPathSpec {
    /// The path of the socket.
    pub(crate) socket_path: PathBuf,
    /// `MODE` or `MODE:USER:GROUP`; by default 0600.
    pub(crate) params: Option<String>,
}

/// TLS on a TCP address.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(rename = "AcjsTls")]
pub(crate) struct AcjsTlsSpec {
    /// The file with the private key, PEM.
    pub(crate) private_key_path: PathBuf,
    /// The file with the certificate and its chain, PEM.
    pub(crate) certificate_path: PathBuf,
    /// The address, like `127.0.0.1:8443`; `:8443` is all addresses.
    pub(crate) listen_on: String,
}

/// TLS on a TCP address, with client certificates.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(rename = "AcjsMtls")]
pub(crate) struct AcjsMtlsSpec {
    /// The file with the private key, PEM.
    pub(crate) private_key_path: PathBuf,
    /// The file with the certificate and its chain, PEM.
    pub(crate) certificate_path: PathBuf,
    /// The file with the trusted CA certificates for clients, PEM.
    #[serde(rename = "clientCAsPath")]
    pub(crate) client_cas_path: PathBuf,
    /// The address, like `127.0.0.1:8443`; `:8443` is all addresses.
    pub(crate) listen_on: String,
}
