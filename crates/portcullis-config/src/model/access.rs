//! The `tenants`, `authenticators` and `sessions` keys: what is written, and what guards the REST API.

use std::path::PathBuf;

use portcullis_authn::{Algorithm, AuthenticatorSettings, Keys, LoginSettings, Secret};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use portcullis_document::{Duration, Origin, Seconds};

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

/// A key of an authenticator, which drivers need it, and which take it.
#[derive(Debug)]
pub(crate) struct AuthenticatorKey {
    pub(crate) name: &'static str,
    pub(crate) is_given: bool,
    pub(crate) needed_by: &'static [AuthenticatorDriver],
    pub(crate) taken_by: &'static [AuthenticatorDriver],
}

const PAIRS: &[AuthenticatorDriver] = &[
    AuthenticatorDriver::RS256,
    AuthenticatorDriver::ES256,
    AuthenticatorDriver::EdDSA,
];
const PROVIDERS: &[AuthenticatorDriver] = &[AuthenticatorDriver::OpenIDConnect];
const TOKENS: &[AuthenticatorDriver] = &[
    AuthenticatorDriver::HS256,
    AuthenticatorDriver::RS256,
    AuthenticatorDriver::ES256,
    AuthenticatorDriver::EdDSA,
    AuthenticatorDriver::OpenIDConnect,
];

impl AuthenticatorSpec {
    /// The keys that not every driver takes.
    pub(crate) fn keys(&self) -> [AuthenticatorKey; 12] {
        let key = |name, is_given, needed_by, taken_by| AuthenticatorKey {
            name,
            is_given,
            needed_by,
            taken_by,
        };
        let shared: &[AuthenticatorDriver] = &[AuthenticatorDriver::HS256];
        [
            key("issuer", self.issuer.is_some(), TOKENS, &[]),
            key("audience", self.audience.is_some(), &[], TOKENS),
            key("secretFile", self.secret_file.is_some(), shared, &[]),
            key("publicKeyFile", self.public_key_file.is_some(), PAIRS, &[]),
            key(
                "privateKeyFile",
                self.private_key_file.is_some(),
                &[],
                PAIRS,
            ),
            key("keysUrl", self.keys_url.is_some(), &[], PROVIDERS),
            key("clientId", self.client_id.is_some(), &[], PROVIDERS),
            key(
                "clientSecretFile",
                self.client_secret_file.is_some(),
                &[],
                PROVIDERS,
            ),
            key("scope", self.scope.is_some(), &[], PROVIDERS),
            key("caFile", self.ca_file.is_some(), &[], PROVIDERS),
            key("allowAuthzOverride", self.allow_authz_override, &[], TOKENS),
            key(
                "maxValidityTime",
                self.max_validity_time.is_some(),
                &[],
                TOKENS,
            ),
        ]
    }

    /// What `iss` is.
    pub(crate) fn issuer(&self) -> String {
        self.issuer.clone().unwrap_or_else(|| match self.driver {
            AuthenticatorDriver::ClientCertificate => "client-certificate".to_owned(),
            AuthenticatorDriver::UnixSocket => "unix-socket".to_owned(),
            _ => String::new(),
        })
    }

    /// What `aud` must be.
    pub(crate) fn audience(&self) -> Option<&str> {
        self.audience.as_deref().or(self.client_id.as_deref())
    }

    /// The realm.
    pub(crate) fn realm(&self) -> &str {
        self.realm.as_deref().unwrap_or(&self.name)
    }

    /// The settings of a driver with tokens; file paths are as written, and a missing one is empty.
    pub(crate) fn tokens(&self) -> Option<AuthenticatorSettings<PathBuf>> {
        let pair = |algorithm| Keys::Pair {
            algorithm,
            public: self.public_key_file.clone().unwrap_or_default(),
            private: self.private_key_file.clone().map(Secret),
        };
        let keys = match self.driver {
            AuthenticatorDriver::HS256 => {
                Keys::Shared(Secret(self.secret_file.clone().unwrap_or_default()))
            }
            AuthenticatorDriver::RS256 => pair(Algorithm::Rs256),
            AuthenticatorDriver::ES256 => pair(Algorithm::Es256),
            AuthenticatorDriver::EdDSA => pair(Algorithm::EdDsa),
            AuthenticatorDriver::OpenIDConnect => Keys::Provider {
                keys_url: self.keys_url.clone(),
            },
            AuthenticatorDriver::ClientCertificate | AuthenticatorDriver::UnixSocket => {
                return None;
            }
        };
        let scope = self.scope.as_deref().unwrap_or("openid profile");
        let login = self.client_id.clone().map(|client_id| LoginSettings {
            client_id,
            client_secret: self.client_secret_file.clone().map(Secret),
            scopes: scope.split_whitespace().map(str::to_owned).collect(),
        });
        Some(AuthenticatorSettings {
            issuer: self.issuer(),
            audience: self.audience().unwrap_or_default().to_owned(),
            realm: self.realm().to_owned(),
            is_default: self.default,
            uid_claim: self.uid_claim.clone(),
            allow_authz_override: self.allow_authz_override,
            max_validity: self.max_validity_time.map(Into::into),
            skew: self.skew.into(),
            login,
            ca: self.ca_file.clone(),
            ..AuthenticatorSettings::new(&self.name, keys)
        })
    }
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
    /// Whether identities are proved by tokens.
    pub(crate) fn takes_tokens(self) -> bool {
        TOKENS.contains(&self)
    }

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
pub struct SessionSettings {
    /// How long a session lasts.
    pub lifetime: Duration,
    /// The file with the key that signs sessions, 32 bytes, created if missing; by default `session.key` in
    /// the data directory.
    pub key_file: Option<PathBuf>,
    /// The URL of this server for browsers, like `https://gate.example.org`; by default taken from the request.
    pub public_url: Option<String>,
}

impl Default for SessionSettings {
    fn default() -> Self {
        Self {
            lifetime: Duration::from_secs(8 * 3600),
            key_file: None,
            public_url: None,
        }
    }
}

/// Authenticators, sessions and the tenants file. None of the files has been read yet.
#[derive(Debug, Clone)]
pub struct AccessSettings {
    /// The tenants file, and where it is named.
    pub tenants: Option<(PathBuf, Origin)>,
    /// Authenticators: how callers are identified.
    pub authenticators: Vec<Authenticator>,
    /// Browser sessions.
    pub sessions: SessionSettings,
}

/// An authenticator. Its key files have not been read yet.
#[derive(Debug, Clone)]
pub struct Authenticator {
    /// Its name, once only.
    pub name: String,
    /// How callers are authenticated.
    pub driver: AuthenticatorDriver,
    /// What `iss` is.
    pub issuer: String,
    /// What its tokens are verified by; none where the connection proves who asks.
    pub tokens: Option<AuthenticatorSettings<PathBuf>>,
    /// Where it is configured.
    pub origin: Origin,
}
