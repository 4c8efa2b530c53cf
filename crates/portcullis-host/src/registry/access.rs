//! Which servers may be asked, and by which means.

use portcullis_net::{Address, Client, Protocol, Trust, Web};

use crate::target;

/// What may be asked.
#[derive(Debug)]
pub(super) struct Access {
    /// Servers that may be private.
    allowed: Vec<Web>,
    trust: Trust,
}

impl Access {
    /// Public servers and these, whose entries have been checked.
    pub(super) fn new(entries: &[String], trust: Trust) -> Self {
        let allowed = entries.iter().filter_map(|entry| check_entry(entry).ok());
        Self {
            allowed: allowed.collect(),
            trust,
        }
    }

    /// Whether this server is asked without TLS.
    pub(super) fn is_plain(&self, host: &str) -> bool {
        let listed = |web: &&Web| !web.secure;
        self.allowed
            .iter()
            .filter(listed)
            .any(|web| web.authority() == host)
    }

    /// A client of a server: to a listed one wherever it is, to another one if it is public and speaks TLS.
    pub(super) fn client(&self, web: &Web) -> Result<Client, String> {
        let is_listed = self.allowed.iter().any(|allowed| is_same(allowed, web));
        if !is_listed && !web.secure {
            return Err(format!("{}: only https:// is allowed", web.origin()));
        }
        let client = Client::new(Address::Web(web.clone()), Protocol::Http1, &self.trust);
        let client = client.map_err(|error| format!("{}: {error}", web.origin()))?;
        Ok(match is_listed {
            true => client,
            false => client.public_only(),
        })
    }
}

/// Whether two addresses are of the same server.
pub(super) fn is_same(one: &Web, other: &Web) -> bool {
    one.secure == other.secure && one.host == other.host && one.port == other.port
}

/// Reads an entry of the list.
pub(crate) fn check_entry(entry: &str) -> Result<Web, String> {
    let url = match entry.contains("://") {
        true => entry.to_owned(),
        false => format!("https://{entry}"),
    };
    let web = target::web(&url)?;
    if web.path != "/" || web.query.is_some() || url.ends_with('/') {
        return Err("expected host:port".to_owned());
    }
    web.check_confidential()
        .map_err(|error| error.to_string())?;
    Ok(web)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries() {
        for good in [
            "registry.internal",
            "10.0.0.1:5000",
            "http://127.0.0.1:5000",
            "[::1]:5000",
        ] {
            assert!(check_entry(good).is_ok(), "{good}");
        }
        for bad in [
            "",
            "h/path",
            "http://h:5000",
            "ftp://h",
            "h:port",
            "u@h",
            "h/",
            "h?x",
        ] {
            assert!(check_entry(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn what_is_not_listed_is_public_and_speaks_tls() {
        let access = Access::new(&["http://127.0.0.1:1".to_owned()], Trust::system());
        assert!(access.is_plain("127.0.0.1:1"));
        assert!(!access.is_plain("127.0.0.1:2"));
        let client = |url: &str| access.client(&target::web(url).unwrap());
        assert!(client("http://127.0.0.1:1/v2/").is_ok());
        assert!(client("http://127.0.0.1:2/v2/").is_err());
    }
}
