//! Credentials of Docker's `config.json`: those written in it. Programs that it names are not run.

use std::collections::HashMap;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::Deserialize;
use serde_json::{Map, Value};

/// Credentials by registry.
#[derive(Default)]
pub(super) struct Credentials(HashMap<String, Credential>);

/// Who we are to a registry.
#[derive(Clone)]
pub(super) enum Credential {
    /// A user with a password, as HTTP sends them: base64.
    Basic(String),
    /// A refresh token for the token service.
    Identity(String),
}

/// Without the credentials.
impl std::fmt::Debug for Credentials {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_set().entries(self.0.keys()).finish()
    }
}

#[derive(Deserialize)]
struct DockerConfig {
    #[serde(default)]
    auths: HashMap<String, Entry>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Entry {
    auth: String,
    username: String,
    password: String,
    identitytoken: String,
}

impl Credentials {
    /// Those of this text; the message doesn't repeat it.
    pub(super) fn read(text: Option<&[u8]>) -> Result<Self, String> {
        let Some(text) = text else {
            return Ok(Self::default());
        };
        // By way of a map: a list would be read as the members of a struct in their order.
        let config: Result<Map<String, Value>, _> = serde_json::from_slice(text);
        let config = config.and_then(|config| DockerConfig::deserialize(Value::Object(config)));
        let config = config.map_err(|error| match error.line() {
            0 => "not a config.json of Docker".to_owned(),
            line => format!("not a config.json of Docker, at line {line}"),
        })?;
        let mut all = HashMap::new();
        for (registry, entry) in config.auths {
            let credential = if !entry.identitytoken.is_empty() {
                Credential::Identity(entry.identitytoken)
            } else if !entry.username.is_empty() {
                let pair = format!("{}:{}", entry.username, entry.password);
                Credential::Basic(STANDARD.encode(pair))
            } else if !entry.auth.is_empty() {
                let pair = STANDARD.decode(entry.auth.trim());
                let pair = pair.ok().filter(|pair| pair.contains(&b':'));
                let pair = pair.ok_or_else(|| {
                    format!("the `auth` of `{registry}` is not user:password in base64")
                })?;
                Credential::Basic(STANDARD.encode(pair))
            } else {
                // Kept by a program that is not run.
                continue;
            };
            all.insert(plain(&registry).to_owned(), credential);
        }
        Ok(Self(all))
    }

    /// Those for this registry.
    pub(super) fn of(&self, registry: &str) -> Option<&Credential> {
        self.0.get(plain(registry))
    }
}

/// The name of a registry, however its credentials are written.
fn plain(registry: &str) -> &str {
    let name = registry
        .strip_prefix("https://")
        .or_else(|| registry.strip_prefix("http://"))
        .unwrap_or(registry);
    name.split('/').next().unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_form() {
        let text = br#"{"auths": {
            "a.example": {"auth": "dTpw"}, "https://index.docker.io/v1/": {"username": "u", "password": "p"},
            "b.example:5000": {"identitytoken": "t"}, "c.example": {}}, "credsStore": "desktop"}"#;
        let read = Credentials::read(Some(text)).unwrap();
        let basic = |name: &str| match read.of(name) {
            Some(Credential::Basic(pair)) => pair.clone(),
            _ => String::new(),
        };
        assert_eq!(basic("a.example"), "dTpw");
        assert_eq!(basic("https://index.docker.io/v1/"), "dTpw");
        assert!(matches!(read.of("b.example:5000"), Some(Credential::Identity(t)) if t == "t"));
        assert!(read.of("c.example").is_none() && read.of("a.example.evil").is_none());
        assert!(!format!("{read:?}").contains("dTpw"));
    }

    #[test]
    fn what_is_not_one() {
        for bad in [
            "",
            "[]",
            r#"{"auths": []}"#,
            r#"{"auths": {"a": {"auth": "%secret"}}}"#,
        ] {
            let error = Credentials::read(Some(bad.as_bytes())).unwrap_err();
            assert!(!error.contains("secret"), "{error}");
        }
    }
}
