//! The `managed` key of a listener's TLS: what is written, and the certificate that is kept.

use std::path::PathBuf;

use portcullis_certificates::Terms;
use portcullis_document::Duration;
use portcullis_watch::{Access, NamespacedName};
use schemars::JsonSchema;
use serde::Deserialize;

/// A certificate that the server makes and rotates itself, with a CA of its own. Both are kept in a Secret,
/// which all replicas share, and the CA is published in webhook configurations.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(rename = "ManagedCertificate")]
pub(crate) struct ManagedSpec {
    /// The Secret, as `NAMESPACE/NAME`; created if it does not exist.
    pub(crate) secret: String,
    /// Names of validating and mutating webhook configurations, whose `caBundle` is kept current.
    #[serde(default)]
    pub(crate) webhooks: Vec<String>,
    /// The Service in front of the server, as `NAMESPACE/NAME`, whose names go into the certificate.
    pub(crate) service: Option<String>,
    /// Further host names and IP addresses of the certificate. By default, without `service`, those that the
    /// webhook configurations name.
    #[serde(default)]
    pub(crate) dns_names: Vec<String>,
    /// How long a certificate is valid; by default `90d`. A CA is valid four times as long.
    pub(crate) validity: Option<Duration>,
    /// How long before its expiry a certificate is renewed; by default a third of `validity`.
    pub(crate) renew_before: Option<Duration>,
    /// The kubeconfig of the cluster; by default the one that the server runs in.
    pub(crate) kubeconfig: Option<PathBuf>,
}

/// A certificate that the server makes and rotates itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ManagedCertificate {
    /// The Secret it is kept in.
    pub secret: NamespacedName,
    /// The webhook configurations its CA is published in.
    pub webhooks: Vec<String>,
    /// The Service in front of the server, if it is named.
    pub service: Option<NamespacedName>,
    /// Names and times. Without names, those of the webhook configurations count.
    pub terms: Terms,
    /// The cluster.
    pub access: Access,
}
