//! A server with the tenant, and everything needed to be somebody there.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use portcullis_authn::{
    Algorithm, AuthenticatorSettings, Authenticators, Keys as Verified, Mint, Secret, SessionKey,
    Sessions,
};
use rcgen::{KeyPair, PKCS_ECDSA_P256_SHA256, PKCS_RSA_SHA256};
use serde_json::json;

use super::document::{self, MANY, TENANT};
use crate::clock;
use crate::failure::{Context, Result};
use crate::server::{self, Server};
use crate::transport::Places;

/// Somewhere to sign in, which nobody asks.
const PROVIDER: &str = "http://127.0.0.1:9/provider";

/// How long tokens and sessions are good.
const LIFETIME: Duration = Duration::from_secs(8 * 3600);
const AUDIENCE: &str = "portal";

/// Who signs a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Issuer {
    /// HS256.
    Shared,
    /// ES256.
    Curve,
    /// RS256.
    Rsa,
}

impl Issuer {
    fn name(self) -> &'static str {
        match self {
            Self::Shared => "shared",
            Self::Curve => "curve",
            Self::Rsa => "rsa",
        }
    }
}

/// The keys of all issuers.
pub(super) struct Keys {
    secret: String,
    curve: KeyPair,
    rsa: KeyPair,
}

impl Keys {
    /// New keys.
    pub(super) fn make() -> Result<Self> {
        Ok(Self {
            secret: "0123456789abcdef".repeat(3),
            curve: KeyPair::generate_for(&PKCS_ECDSA_P256_SHA256).context("a key")?,
            rsa: KeyPair::generate_for(&PKCS_RSA_SHA256).context("a key")?,
        })
    }

    /// Those who make and verify tokens with these keys.
    pub(super) fn authenticators(&self) -> Result<Authenticators> {
        let pair = |algorithm, key: &KeyPair| Verified::Pair {
            algorithm,
            public: key.public_key_pem().into_bytes(),
            private: Some(Secret(key.serialize_pem().into_bytes())),
        };
        let list = [
            (
                Issuer::Shared,
                Verified::Shared(Secret(self.secret.clone().into_bytes())),
            ),
            (Issuer::Curve, pair(Algorithm::Es256, &self.curve)),
            (Issuer::Rsa, pair(Algorithm::Rs256, &self.rsa)),
        ];
        let settings = list.map(|(issuer, keys)| AuthenticatorSettings {
            name: issuer.name().to_owned(),
            issuer: issuer.name().to_owned(),
            audience: AUDIENCE.to_owned(),
            realm: issuer.name().to_owned(),
            is_default: false,
            uid_claim: "sub".to_owned(),
            allow_authz_override: issuer == Issuer::Shared,
            max_validity: None,
            skew: Duration::ZERO,
            keys,
            login: None,
            ca: None,
        });
        let made = Authenticators::new(settings.into(), None);
        made.map_err(|faults| format!("{faults:?}"))
            .context("the authenticators")
    }

    /// A new token for somebody whom the rule of this number matches. No two are the same.
    pub(super) fn token(
        &self,
        authenticators: &Authenticators,
        issuer: Issuer,
        number: usize,
    ) -> Result<String> {
        mint(authenticators, issuer, number, Vec::new())
    }

    /// Writes the files of the keys, and says what the configuration says of them.
    fn write(&self, dir: &Path) -> Result<Vec<serde_json::Value>> {
        let (curve, rsa) = (&self.curve, &self.rsa);
        for (name, text) in [
            ("shared.key", self.secret.clone()),
            ("curve.pem", curve.public_key_pem()),
            ("rsa.pem", rsa.public_key_pem()),
        ] {
            std::fs::write(dir.join(name), text).context(name)?;
        }
        let common = |issuer: Issuer| json!({"name": issuer.name(), "issuer": issuer.name(), "audience": AUDIENCE});
        let with = |issuer, more: serde_json::Value| {
            let mut all = common(issuer);
            if let (Some(all), Some(more)) = (all.as_object_mut(), more.as_object()) {
                all.extend(more.clone());
            }
            all
        };
        Ok(vec![
            with(
                Issuer::Shared,
                json!({"driver": "HS256", "secretFile": "shared.key", "allowAuthzOverride": true}),
            ),
            with(
                Issuer::Curve,
                json!({"driver": "ES256", "publicKeyFile": "curve.pem"}),
            ),
            with(
                Issuer::Rsa,
                json!({"driver": "RS256", "publicKeyFile": "rsa.pem"}),
            ),
            // Sessions are on where somebody can sign in; this provider is never asked.
            json!({
                "name": "provider", "driver": "OpenIDConnect", "clientId": AUDIENCE,
                "issuer": PROVIDER, "keysUrl": "http://127.0.0.1:9/keys",
            }),
        ])
    }
}

fn mint(
    authenticators: &Authenticators,
    issuer: Issuer,
    number: usize,
    tenants: Vec<String>,
) -> Result<String> {
    let wish = Mint {
        subject: format!("user{}", number % MANY),
        tenants,
        claims: document::claims(number % MANY),
        expires_in: LIFETIME,
    };
    let made = authenticators.mint(issuer.name(), &wish, clock::wall());
    made.context("making a token")
}

/// The server.
pub(super) struct Gate {
    pub(super) server: Server,
    pub(super) places: Places,
    authenticators: Authenticators,
    sessions: Sessions,
}

impl Gate {
    /// Starts the server in this directory, for so many connections.
    pub(super) fn start(portcullis: &Path, dir: &Path, connections: u32) -> Result<Self> {
        let data = dir.join("data");
        std::fs::create_dir_all(&data).context(data.display())?;
        let keys = Keys::make()?;
        let places = Places::free(dir)?;
        let file = configure(dir, &places, &keys, connections)?;
        let key = SessionKey::load_or_create(&data.join("session.key")).context("session.key")?;
        let mut command = server::portcullis(portcullis, &file, &data);
        let mut server = Server::spawn(&mut command, dir)?;
        server.wait_until_ready(places.tcp)?;
        Ok(Self {
            server,
            places,
            authenticators: keys.authenticators()?,
            sessions: Sessions::new(key, LIFETIME),
        })
    }

    /// Where its metrics are.
    pub(super) fn metrics(&self) -> SocketAddr {
        self.places.tcp
    }

    /// A header with a new token.
    pub(super) fn bearer(&self, issuer: Issuer, number: usize) -> Result<String> {
        let token = mint(&self.authenticators, issuer, number, Vec::new())?;
        Ok(format!("authorization: Bearer {token}\r\n"))
    }

    /// A header with a new token of an admin of the tenant.
    pub(super) fn admin(&self) -> Result<String> {
        let tenants = vec![TENANT.to_owned()];
        let token = mint(&self.authenticators, Issuer::Shared, 0, tenants)?;
        Ok(format!("authorization: Bearer {token}\r\n"))
    }

    /// A header with the cookie of a new session.
    pub(super) fn cookie(&self, number: usize) -> Result<String> {
        let mut who = document::caller(number % MANY);
        who.claims.insert("iss".to_owned(), json!(PROVIDER));
        let sealed = self.sessions.seal(&who, "provider", clock::wall());
        let sealed = sealed.context("a session")?;
        Ok(format!("cookie: portcullis-session={sealed}\r\n"))
    }
}

fn configure(dir: &Path, places: &Places, keys: &Keys, connections: u32) -> Result<PathBuf> {
    let configuration = json!({
        "listeners": [
            {"name": "plain", "tcp": places.tcp.to_string(), "serves": ["api", "health", "metrics"]},
            {"name": "socket", "unix": {"path": places.unix}, "serves": ["api", "health"]},
        ],
        "limits": {"connections": connections},
        "decisions": {"store": true, "required": false, "maxSize": "256Mi"},
        "tenants": {"file": "tenants.yaml"},
        "authenticators": keys.write(dir)?,
    });
    let tenants = document::document(document::one_claim).to_string();
    std::fs::write(dir.join("tenants.yaml"), tenants).context("tenants.yaml")?;
    let file = dir.join("portcullis.yaml");
    std::fs::write(&file, configuration.to_string()).context(file.display())?;
    Ok(file)
}
