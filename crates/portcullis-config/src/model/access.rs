//! The `tenants`, `authenticators` and `sessions` keys.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::units::{Duration, Seconds};

/// Who may do what over the REST API and on the web pages.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(rename = "Tenants")]
pub(crate) struct TenantsSpec {
    /// The tenants file: authorization rules, roles and tenants, in the format of Zuul.
    pub(crate) file: PathBuf,
}

/// An authenticator: identifies callers by tokens, certificates or sockets.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(rename = "Authenticator")]
pub(crate) struct AuthenticatorSpec {
    /// Its name, unique.
    pub(crate) name: String,
    /// How callers are authenticated.
    pub(crate) driver: AuthenticatorDriver,
    /// The `iss` of tokens. For `ClientCertificate` and `UnixSocket`, the value of `iss` in claims;
    /// by default `client-certificate` and `unix-socket`.
    pub(crate) issuer: Option<String>,
    /// The required `aud` of tokens; by default `clientId`.
    pub(crate) audience: Option<String>,
    /// The realm, for challenges and for signing in; by default the name.
    pub(crate) realm: Option<String>,
    /// Whether its realm is the default one; otherwise that of the first authenticator is.
    #[serde(default)]
    pub(crate) default: bool,
    /// For `HS256`: the file with the shared secret. A trailing newline is ignored.
    pub(crate) secret_file: Option<PathBuf>,
    /// For `RS256`, `ES256` and `EdDSA`: the file with the public key, PEM.
    pub(crate) public_key_file: Option<PathBuf>,
    /// The private key, PEM, for `portcullis token create`.
    pub(crate) private_key_file: Option<PathBuf>,
    /// For `OpenIDConnect`: the URL of the provider's keys; by default discovered through the issuer.
    pub(crate) keys_url: Option<String>,
    /// For `OpenIDConnect`: the client id at the provider.
    pub(crate) client_id: Option<String>,
    /// For `OpenIDConnect`: the file with the client's secret, if it has one.
    pub(crate) client_secret_file: Option<PathBuf>,
    /// For `OpenIDConnect`: the scopes requested at sign-in; by default `openid profile`.
    pub(crate) scope: Option<String>,
    /// For `OpenIDConnect`: the trusted CA certificates for the provider, PEM, instead of
    /// the system's.
    pub(crate) ca_file: Option<PathBuf>,
    /// The claim that identifies the user.
    #[serde(default = "sub")]
    pub(crate) uid_claim: String,
    /// Whether `zuul.admin` in a token makes its bearer an admin.
    #[serde(default)]
    pub(crate) allow_authz_override: bool,
    /// The maximum age of a token, whatever its own expiry.
    pub(crate) max_validity_time: Option<Seconds>,
    /// The tolerated clock skew.
    #[serde(default)]
    pub(crate) skew: Seconds,
}

fn sub() -> String {
    "sub".to_owned()
}

/// How callers are authenticated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
pub enum AuthenticatorDriver {
    /// Tokens signed with a shared secret.
    HS256,
    /// Tokens signed with an RSA key.
    RS256,
    /// Tokens signed with a P-256 key.
    ES256,
    /// Tokens signed with an Ed25519 key.
    EdDSA,
    /// Tokens of an OpenID Connect provider, and signing in there.
    OpenIDConnect,
    /// Client certificates, on listeners that require them.
    ClientCertificate,
    /// Processes at the other end of unix sockets.
    UnixSocket,
}

impl AuthenticatorDriver {
    /// The name in the configuration.
    pub fn name(self) -> &'static str {
        match self {
            Self::HS256 => "HS256",
            Self::RS256 => "RS256",
            Self::ES256 => "ES256",
            Self::EdDSA => "EdDSA",
            Self::OpenIDConnect => "OpenIDConnect",
            Self::ClientCertificate => "ClientCertificate",
            Self::UnixSocket => "UnixSocket",
        }
    }
}

/// Browser sessions.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
#[schemars(rename = "Sessions")]
pub(crate) struct SessionsSpec {
    /// How long a session lasts.
    pub(crate) lifetime: Duration,
    /// The file with the key that signs sessions, 32 bytes, created if missing; by default `session.key` in
    /// the data directory.
    pub(crate) key_file: Option<PathBuf>,
    /// The URL of this server for browsers, like `https://gate.example.org`; by default taken from the request.
    pub(crate) public_url: Option<String>,
}

impl Default for SessionsSpec {
    fn default() -> Self {
        Self {
            lifetime: Duration::from_secs(8 * 3600),
            key_file: None,
            public_url: None,
        }
    }
}
