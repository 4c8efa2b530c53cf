//! The settings of an authenticator.
//!
//! A configuration names the files of its keys, and `key_files` reads them: until then the settings have paths
//! where there are bytes later.

use std::convert::Infallible;
use std::fmt;
use std::time::Duration;

use portcullis_document::Fault;
use portcullis_files::Use;

/// Whose tokens are trusted. `F` is what stands for each of its files: the bytes in it, or its path.
#[derive(Debug, Clone)]
pub struct AuthenticatorSettings<F = Vec<u8>> {
    /// Its name, once only.
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
    pub keys: Keys<F>,
    /// How people sign in, with OpenID Connect.
    pub login: Option<LoginSettings<F>>,
    /// Authorities (PEM) to trust instead of the system's when talking to the provider.
    pub ca: Option<F>,
}

/// What tokens are verified with.
#[derive(Debug, Clone)]
pub enum Keys<F = Vec<u8>> {
    /// HS256.
    Shared(Secret<F>),
    /// One key pair; both keys PEM.
    Pair {
        /// How it signs.
        algorithm: Algorithm,
        /// Verifies.
        public: F,
        /// Signs, if tokens are made here.
        private: Option<Secret<F>>,
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
pub struct LoginSettings<F = Vec<u8>> {
    /// The client id at the provider.
    pub client_id: String,
    /// What proves it, for a confidential client.
    pub client_secret: Option<Secret<F>>,
    /// What is asked for: `openid profile` unless said.
    pub scopes: Vec<String>,
}

/// Something that is never shown.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret<F = Vec<u8>>(pub F);

impl<F> fmt::Debug for Secret<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("(secret)")
    }
}

impl Secret {
    /// A secret that stands in a file of its own.
    pub fn of_file(bytes: Vec<u8>) -> Self {
        let mut secret = Self(bytes);
        secret.drop_newline();
        secret
    }

    /// The newline that editors put at the end of a file is not part of the secret.
    pub(crate) fn drop_newline(&mut self) {
        let Self(bytes) = self;
        if bytes.last() == Some(&b'\n') {
            bytes.pop();
            if bytes.last() == Some(&b'\r') {
                bytes.pop();
            }
        }
    }
}

/// A file that settings name.
#[derive(Debug, Clone, Copy)]
pub struct NamedFile<'a, F> {
    /// The key in the configuration, like `publicKeyFile`.
    pub key: &'static str,
    /// Whether it holds a secret.
    pub used: Use,
    /// What stands for it.
    pub file: &'a F,
}

impl<F> AuthenticatorSettings<F> {
    /// Settings of which only the keys are said: issuer and realm are called like the authenticator, and there is
    /// no audience.
    pub fn new(name: &str, keys: Keys<F>) -> Self {
        Self {
            name: name.to_owned(),
            issuer: name.to_owned(),
            audience: String::new(),
            realm: name.to_owned(),
            is_default: false,
            uid_claim: "sub".to_owned(),
            allow_authz_override: false,
            max_validity: None,
            skew: Duration::ZERO,
            keys,
            login: None,
            ca: None,
        }
    }

    /// The same settings with something else for each file, in the order: keys, secret of the client, authorities.
    ///
    /// # Errors
    ///
    /// With the first error that there is for a file.
    pub fn with_files<G, E>(
        &self,
        mut change: impl FnMut(NamedFile<'_, F>) -> Result<G, E>,
    ) -> Result<AuthenticatorSettings<G>, E> {
        let mut change =
            |key: &'static str, used: Use, file: &F| change(NamedFile { key, used, file });
        let keys = match &self.keys {
            Keys::Shared(Secret(file)) => {
                Keys::Shared(Secret(change("secretFile", Use::Key, file)?))
            }
            Keys::Pair {
                algorithm,
                public,
                private,
            } => Keys::Pair {
                algorithm: *algorithm,
                public: change("publicKeyFile", Use::Data, public)?,
                private: match private {
                    Some(Secret(file)) => Some(Secret(change("privateKeyFile", Use::Key, file)?)),
                    None => None,
                },
            },
            Keys::Provider { keys_url } => Keys::Provider {
                keys_url: keys_url.clone(),
            },
        };
        let login = match &self.login {
            Some(login) => Some(LoginSettings {
                client_id: login.client_id.clone(),
                client_secret: match &login.client_secret {
                    Some(Secret(file)) => Some(Secret(change("clientSecretFile", Use::Key, file)?)),
                    None => None,
                },
                scopes: login.scopes.clone(),
            }),
            None => None,
        };
        let ca = self.ca.as_ref();
        let ca = ca.map(|file| change("caFile", Use::Data, file));
        Ok(AuthenticatorSettings {
            name: self.name.clone(),
            issuer: self.issuer.clone(),
            audience: self.audience.clone(),
            realm: self.realm.clone(),
            is_default: self.is_default,
            uid_claim: self.uid_claim.clone(),
            allow_authz_override: self.allow_authz_override,
            max_validity: self.max_validity,
            skew: self.skew,
            keys,
            login,
            ca: ca.transpose()?,
        })
    }

    /// The same, where nothing can go wrong.
    pub fn map_files<G>(
        &self,
        mut change: impl FnMut(NamedFile<'_, F>) -> G,
    ) -> AuthenticatorSettings<G> {
        match self.with_files(|file| Ok::<_, Infallible>(change(file))) {
            Ok(settings) => settings,
            Err(never) => match never {},
        }
    }
}

/// Something wrong with the settings of an authenticator: which one, from 0, and the fault at a key of its
/// configuration, like `publicKeyFile`. It never says what a key holds.
pub type SettingsFault = (usize, Fault);
