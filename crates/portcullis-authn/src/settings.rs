//! What is configured of an authenticator, with its keys already read.

use std::fmt;
use std::time::Duration;

/// Somebody whose tokens are believed.
#[derive(Debug, Clone)]
pub struct AuthenticatorSettings {
    /// Its name, unique.
    pub name: String,
    /// What tokens say in `iss`, once only.
    pub issuer: String,
    /// What tokens must say in `aud`.
    pub audience: String,
    /// The realm, for challenges and for signing in.
    pub realm: String,
    /// Whether its realm is the default; the first one's is otherwise.
    pub is_default: bool,
    /// The claim that names people: `sub` unless said.
    pub uid_claim: String,
    /// Whether `zuul.admin` in a token makes its bearer an admin.
    pub allow_authz_override: bool,
    /// The maximum age of a token, whatever its own expiry.
    pub max_validity: Option<Duration>,
    /// The tolerated clock skew.
    pub skew: Duration,
    /// What tokens are verified with.
    pub keys: Keys,
    /// How people sign in, with OpenID Connect.
    pub login: Option<LoginSettings>,
    /// Authorities (PEM) to trust instead of the system's when talking to the provider.
    pub ca: Option<Vec<u8>>,
}

/// What tokens are verified with.
#[derive(Debug, Clone)]
pub enum Keys {
    /// HS256.
    Shared(Secret),
    /// One key pair; both keys PEM.
    Pair {
        /// How it signs.
        algorithm: Algorithm,
        /// Verifies.
        public: Vec<u8>,
        /// Signs, if tokens are made here.
        private: Option<Secret>,
    },
    /// The keys of an OpenID Connect provider, at this address or where the provider says.
    Provider {
        /// The address of the keys.
        keys_url: Option<String>,
    },
}

/// How a key pair signs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Algorithm {
    /// RSA with PKCS #1 v1.5 and SHA-256.
    Rs256,
    /// ECDSA with P-256 and SHA-256.
    Es256,
    /// Ed25519.
    EdDsa,
}

/// How people sign in.
#[derive(Debug, Clone)]
pub struct LoginSettings {
    /// Who the provider knows us as.
    pub client_id: String,
    /// What proves it, for a confidential client.
    pub client_secret: Option<Secret>,
    /// What is asked for: `openid profile` unless said.
    pub scopes: Vec<String>,
}

/// Something that is never shown.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(pub Vec<u8>);

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("(secret)")
    }
}

/// Something wrong with the settings of an authenticator.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SettingsFault {
    /// Which one, from 0.
    pub authenticator: usize,
    /// The key in the configuration, like `publicKeyFile`.
    pub key: &'static str,
    /// What is wrong; never what the key holds.
    pub message: String,
}
