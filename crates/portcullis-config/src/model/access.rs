//! The `tenants`, `authenticators` and `sessions` keys.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use portcullis_document::{Duration, Seconds};

/// Who may do what over the REST API and on the web pages.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(rename = "Tenants")]
pub(crate) struct TenantsSpec {
    /// The tenants file: authorization rules, roles and tenants, in the format of Zuul.
    pub(crate) file: PathBuf,
}

/// Somebody whose tokens, certificates or sockets say who asks.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(rename = "Authenticator")]
pub(crate) struct AuthenticatorSpec {
    /// Its name, once only.
    pub(crate) name: String,
    /// How identities are proved.
    pub(crate) driver: AuthenticatorDriver,
    /// What tokens say in `iss`. For `ClientCertificate` and `UnixSocket`, what `iss` is said to be:
    /// `client-certificate` and `unix-socket` unless said.
    pub(crate) issuer: Option<String>,
    /// What tokens must say in `aud`; `clientId` unless said.
    pub(crate) audience: Option<String>,
    /// The realm, for challenges and for signing in; the name unless said.
    pub(crate) realm: Option<String>,
    /// Whether its realm is the one named to those who show nothing; the first one's is otherwise.
    #[serde(default)]
    pub(crate) default: bool,
    /// For `HS256`: the file with the shared secret. A newline at its end is no part of it.
    pub(crate) secret_file: Option<PathBuf>,
    /// For `RS256`, `ES256` and `EdDSA`: the file with the public key, PEM.
    pub(crate) public_key_file: Option<PathBuf>,
    /// The private key, PEM, if `portcullis token create` makes tokens.
    pub(crate) private_key_file: Option<PathBuf>,
    /// For `OpenIDConnect`: where the provider's keys are; found through the issuer unless said.
    pub(crate) keys_url: Option<String>,
    /// For `OpenIDConnect`: who the provider knows Portcullis as.
    pub(crate) client_id: Option<String>,
    /// For `OpenIDConnect`: the file with the client's secret, if it has one.
    pub(crate) client_secret_file: Option<PathBuf>,
    /// For `OpenIDConnect`: what is asked for at signing in, `openid profile` unless said.
    pub(crate) scope: Option<String>,
    /// For `OpenIDConnect`: authorities that the provider's certificate may come from, PEM, instead of
    /// the system's.
    pub(crate) ca_file: Option<PathBuf>,
    /// The claim that names people.
    #[serde(default = "sub")]
    pub(crate) uid_claim: String,
    /// Whether `zuul.admin` in a token makes its bearer an admin.
    #[serde(default)]
    pub(crate) allow_authz_override: bool,
    /// How old a token may be, whatever it says itself.
    pub(crate) max_validity_time: Option<Seconds>,
    /// How far clocks may differ.
    #[serde(default)]
    pub(crate) skew: Seconds,
}

fn sub() -> String {
    "sub".to_owned()
}

/// How identities are proved.
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
    /// Certificates of clients, on listeners that ask for them.
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

/// Sessions of people who signed in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
#[schemars(rename = "Sessions")]
pub(crate) struct SessionsSpec {
    /// How long a session lasts.
    pub(crate) lifetime: Duration,
    /// The file with the key that signs sessions, 32 bytes, made if it isn't there; `session.key` in
    /// the data directory unless said.
    pub(crate) key_file: Option<PathBuf>,
    /// How browsers reach this server, like `https://gate.example.org`; what they say unless said.
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
