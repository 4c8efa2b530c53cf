//! What the file holds.

use std::path::PathBuf;
use std::sync::Arc;

use portcullis_document::{Source, read, yaml};
use portcullis_net::Address;
use serde::{Deserialize, Serialize};

use super::ContextError;
use crate::secret::Secret;

/// All contexts.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub(crate) struct Contexts {
    /// The one that is used when none is named.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) current: Option<String>,
    /// All of them, by name.
    pub(crate) contexts: Vec<Context>,
}

/// A server, and what is needed to ask it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Context {
    /// Its name, once only.
    pub(crate) name: String,
    /// The server: `https://…`, `http://…` or `unix:///path`.
    pub(crate) server: String,
    /// CA certificates to trust instead of the system's; an absolute path.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) ca: Option<PathBuf>,
    /// The token that is sent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) token: Option<Secret>,
    /// Where the token comes from, if it is renewed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) login: Option<SavedLogin>,
}

/// How a token was got, so that it can be renewed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct SavedLogin {
    /// The provider.
    pub(crate) issuer: String,
    /// The client that we are there.
    pub(crate) client_id: String,
    /// What tokens must be for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) audience: Option<String>,
    /// What is asked for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) scopes: Vec<String>,
    /// CA certificates of the provider; an absolute path.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) ca: Option<PathBuf>,
    /// What new tokens are had for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) refresh_token: Option<Secret>,
}

impl Context {
    /// Whether it is about this server, however it is written.
    pub(crate) fn is_of(&self, server: &str) -> bool {
        let parsed = |text: &str| match Address::parse(text).ok()? {
            Address::Web(mut web) => {
                web.path.truncate(web.path.trim_end_matches('/').len());
                Some(Address::Web(web))
            }
            socket => Some(socket),
        };
        match (parsed(&self.server), parsed(server)) {
            (Some(own), Some(other)) => own == other,
            _ => false,
        }
    }
}

impl Contexts {
    /// Reads the text of the file. Faults name keys and places, never values.
    pub(super) fn parse(label: &str, text: &str) -> Result<Self, ContextError> {
        if text.trim().is_empty() {
            return Ok(Self::default());
        }
        let source: Arc<Source> = Source::text_named(label, text);
        let read = yaml::parse_map(&source)
            .and_then(|document| read::typed::<Self>(&document.source, &document.root));
        let found = read.map_err(|faults| {
            let first = faults.iter().next();
            let at = first.and_then(|fault| fault.position);
            let at = at
                .map(|at| format!(":{}:{}", at.line, at.column))
                .unwrap_or_default();
            let what = first.map(|fault| match fault.path.as_str() {
                "" => fault.message.clone(),
                path => format!("{path}: {}", fault.message),
            });
            let what = what.unwrap_or_default();
            ContextError::File(format!("{label}{at}: {what}"))
        })?;
        let mut names: Vec<&str> = found.contexts.iter().map(|one| one.name.as_str()).collect();
        names.sort_unstable();
        if let Some([twice, _]) = names.array_windows().find(|[one, next]| one == next) {
            let message = format!("{label}: the context `{twice}` is given twice");
            return Err(ContextError::File(message));
        }
        Ok(found)
    }

    /// The text of the file.
    pub(super) fn text(&self) -> String {
        let value = serde_json::to_value(self).unwrap_or_default();
        yaml::write(&value)
    }

    /// The context of this name.
    pub(crate) fn get(&self, name: &str) -> Result<&Context, ContextError> {
        let found = self.contexts.iter().find(|one| one.name == name);
        found.ok_or_else(|| ContextError::Unknown(name.to_owned()))
    }

    /// The same, to change it.
    pub(crate) fn get_mut(&mut self, name: &str) -> Result<&mut Context, ContextError> {
        let found = self.contexts.iter_mut().find(|one| one.name == name);
        found.ok_or_else(|| ContextError::Unknown(name.to_owned()))
    }

    /// The current one.
    pub(crate) fn current(&self) -> Result<Option<&Context>, ContextError> {
        self.current
            .as_deref()
            .map(|name| self.get(name))
            .transpose()
    }

    /// Adds a context, or puts it in place of the one with its name.
    pub(crate) fn put(&mut self, context: Context) {
        self.contexts.retain(|one| one.name != context.name);
        self.contexts.push(context);
        self.contexts
            .sort_by(|one, other| one.name.cmp(&other.name));
    }

    /// Removes a context.
    pub(crate) fn remove(&mut self, name: &str) -> Result<(), ContextError> {
        self.get(name)?;
        self.contexts.retain(|one| one.name != name);
        if self.current.as_deref() == Some(name) {
            self.current = None;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn context(name: &str, server: &str) -> Context {
        Context {
            name: name.to_owned(),
            server: server.to_owned(),
            ca: None,
            token: Some(Secret("geheim".to_owned())),
            login: None,
        }
    }

    #[test]
    fn what_is_written_is_read_back() {
        let mut all = Contexts::default();
        all.put(context("b", "https://b.example"));
        let mut with_login = context("a", "https://a.example");
        with_login.login = Some(SavedLogin {
            issuer: "https://sso.example".to_owned(),
            client_id: "cli".to_owned(),
            audience: Some("portcullis".to_owned()),
            scopes: vec!["email".to_owned()],
            ca: Some(PathBuf::from("/ca.crt")),
            refresh_token: Some(Secret("again".to_owned())),
        });
        all.put(with_login);
        all.current = Some("a".to_owned());
        assert_eq!(Contexts::parse("x", &all.text()).unwrap(), all);
        assert_eq!(all.contexts[0].name, "a");
        assert!(!format!("{all:?}").contains("geheim"));
        all.remove("a").unwrap();
        assert_eq!((all.current.as_deref(), all.contexts.len()), (None, 1));
        assert!(all.remove("a").is_err());
        assert_eq!(Contexts::parse("x", "\n").unwrap(), Contexts::default());
    }

    #[test]
    fn faults_have_a_place_and_no_secrets() {
        for text in [
            "contexts: [{name: a, server: https://a, tokn: geheim}]",
            "contexts: [{name: a, server: https://a, token: [geheim]}]",
            "contexts:\n- {name: a, server: b, token: geheim}\n- {name: a, server: c}\n",
            "contexts: {geheim: 1}",
        ] {
            let error = Contexts::parse("config.yaml", text)
                .unwrap_err()
                .to_string();
            assert!(error.starts_with("config.yaml"), "{error}");
            assert!(!error.contains("geheim"), "{error}");
        }
    }

    #[test]
    fn a_server_is_the_same_however_it_is_written() {
        let one = context("a", "https://gate.example:8443/base/");
        for (server, expected) in [
            ("https://gate.example:8443/base", true),
            ("https://GATE.example:8443/base/", true),
            ("https://gate.example:8443", false),
            ("https://gate.example/base", false),
            ("http://gate.example:8443/base", false),
            ("https://gate.example.evil:8443/base", false),
            ("nonsense", false),
        ] {
            assert_eq!(one.is_of(server), expected, "{server}");
        }
        assert!(!context("a", "nonsense").is_of("nonsense"));
    }
}
