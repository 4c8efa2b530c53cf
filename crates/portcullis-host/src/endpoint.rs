//! A server that the configuration of a plug-in names: its address, whose certificates count, and who we are to it.
//!
//! The address is the operator's own, so it may be private. Nothing is sent that the configuration doesn't name:
//! no token of this process, no proxy. `http://` is for loopback addresses.

use std::path::PathBuf;
use std::time::Instant;

use bytes::Bytes;
use portcullis_core::clock;
use portcullis_document::Fault;
use portcullis_net::header::{HeaderName, HeaderValue};
use portcullis_net::{Address, AddressError, Error, HttpResponse, Trust};

use crate::http::{HttpCall, bearer, exchange};
use crate::target;
use crate::token_file;

/// What a server is asked with. Texts are PEM.
#[derive(Debug, Default)]
pub struct EndpointSettings {
    /// `https://…`, `http://` to a loopback address, or `unix:///path`.
    pub url: String,
    /// The path that is asked for at a unix socket.
    pub path: Option<String>,
    /// Authorities that vouch for the server, in place of the system's.
    pub authorities: Option<Vec<u8>>,
    /// Our own certificate and its key.
    pub identity: Option<(Vec<u8>, Vec<u8>)>,
    /// What proves who we are.
    pub token: EndpointToken,
    /// The most bytes an answer may have.
    pub limit: usize,
}

/// A bearer token.
#[derive(Default)]
pub enum EndpointToken {
    /// None is sent.
    #[default]
    None,
    /// This one.
    Text(String),
    /// What the file holds when a request is sent.
    File(PathBuf),
}

impl std::fmt::Debug for EndpointToken {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::None => "None",
            Self::Text(_) => "Text",
            Self::File(_) => "File",
        })
    }
}

/// A server that a plug-in asks.
#[derive(Debug)]
pub struct Endpoint {
    address: Address,
    path: Option<String>,
    trust: Trust,
    token: EndpointToken,
    limit: usize,
}

impl Endpoint {
    /// The server of these settings; nothing is connected to yet.
    ///
    /// # Errors
    ///
    /// What is wrong, at `url`, `path`, `authorities` or `identity`.
    pub fn new(settings: EndpointSettings) -> Result<Self, Box<Fault>> {
        let at = |key: &'static str| move |error: String| Box::new(Fault::at(key, error));
        let address = target::parse(&settings.url).map_err(at("url"))?;
        if let Address::Web(web) = &address {
            let confidential = web.check_confidential();
            confidential.map_err(|error: AddressError| at("url")(error.to_string()))?;
        }
        if let Some(path) = &settings.path {
            check_path(path, &address).map_err(at("path"))?;
        }
        let trust = match settings.authorities.as_deref() {
            None => Trust::system(),
            pem => Trust::new(pem).map_err(|error| at("authorities")(error.to_string()))?,
        };
        let trust = match &settings.identity {
            None => trust,
            Some((certificate, key)) => trust
                .with_identity(certificate, key)
                .map_err(|error| at("identity")(error.to_string()))?,
        };
        Ok(Self {
            address,
            path: settings.path,
            trust,
            token: settings.token,
            limit: settings.limit,
        })
    }

    /// Where it is, without query.
    pub fn place(&self) -> String {
        match &self.path {
            Some(path) => format!("{}{path}", self.address),
            None => self.address.to_string(),
        }
    }

    /// Sends JSON and waits for the whole answer. The server learns how long that is.
    pub(crate) async fn post(
        &self,
        body: Bytes,
        mut headers: Vec<(HeaderName, HeaderValue)>,
        deadline: Instant,
    ) -> Result<HttpResponse, EndpointError> {
        match &self.token {
            EndpointToken::None => {}
            EndpointToken::Text(token) => {
                headers.push(bearer(token).map_err(EndpointError::Token)?);
            }
            EndpointToken::File(path) => {
                let token = token_file::read_until(path.clone(), deadline).await;
                let token = token.map_err(EndpointError::Token)?;
                headers.push(bearer(&token).map_err(EndpointError::Token)?);
            }
        }
        let call = HttpCall {
            address: self.asked(deadline),
            path: self.path.clone(),
            trust: &self.trust,
            body: Some(body),
            headers,
            limit: self.limit,
            deadline,
        };
        exchange(call).await.map_err(EndpointError::Exchange)
    }

    /// The address with the remaining time as API servers say it: in whole seconds, rounded up.
    fn asked(&self, deadline: Instant) -> Address {
        let Address::Web(web) = &self.address else {
            return self.address.clone();
        };
        let left = deadline.saturating_duration_since(clock::monotonic());
        let seconds = left.as_secs() + u64::from(left.subsec_nanos() > 0);
        let query = match &web.query {
            Some(query) => format!("{query}&timeout={seconds}s"),
            None => format!("timeout={seconds}s"),
        };
        Address::Web(web.with_path(web.path.clone(), Some(query)))
    }
}

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
pub(crate) enum EndpointError {
    /// Our own token can't be sent.
    #[error("{0}")]
    Token(String),
    /// The exchange failed.
    #[error(transparent)]
    Exchange(Error),
}

fn check_path(path: &str, address: &Address) -> Result<(), String> {
    if let Address::Web(_) = address {
        return Err("only for unix sockets: a URL has its own path".to_owned());
    }
    let as_web = target::web(&format!("http://localhost{path}"));
    match path.starts_with('/') && as_web.is_ok_and(|web| web.path_and_query() == path) {
        true => Ok(()),
        false => Err("must be a path like /validate".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fault(url: &str, path: Option<&str>) -> String {
        let settings = EndpointSettings {
            url: url.to_owned(),
            path: path.map(str::to_owned),
            ..EndpointSettings::default()
        };
        let made = Endpoint::new(settings);
        made.err().map_or(String::new(), |fault| fault.path)
    }

    #[test]
    fn addresses_are_confidential_and_have_one_reading() {
        for good in [
            "https://h/x",
            "https://10.0.0.1:8443/x?y",
            "http://127.0.0.1:1/",
            "unix:///run/x.sock",
        ] {
            assert_eq!(fault(good, None), "", "{good}");
        }
        for bad in [
            "http://h/",
            "h",
            "https://u@h/",
            "https://h/../x",
            "unix://x",
        ] {
            assert_eq!(fault(bad, None), "url", "{bad}");
        }
        assert_eq!(fault("unix:///run/x.sock", Some("/validate?a=b")), "");
        for bad in ["validate", "", "/../x", "/a b", "//h/x#"] {
            assert_eq!(fault("unix:///run/x.sock", Some(bad)), "path", "{bad}");
        }
        assert_eq!(fault("https://h/", Some("/x")), "path");
    }

    #[test]
    fn a_token_is_never_shown() {
        let settings = EndpointSettings {
            url: "https://h/".to_owned(),
            token: EndpointToken::Text("hidden".to_owned()),
            ..EndpointSettings::default()
        };
        assert!(!format!("{settings:?}").contains("hidden"));
        assert!(!format!("{:?}", Endpoint::new(settings).unwrap()).contains("hidden"));
    }
}
