//! Requests.

use std::fmt;

use bytes::Bytes;
use http_body_util::Full;
use hyper::Method;
use hyper::header::{CONTENT_TYPE, Entry, HOST, HeaderMap, HeaderName, HeaderValue, USER_AGENT};

use crate::Protocol;
use crate::{Address, Error};

/// A request. Without a path of its own it asks for what the address names.
#[derive(Clone)]
pub struct Request {
    method: Method,
    path: Option<String>,
    headers: HeaderMap,
    body: Bytes,
}

/// Without headers and body, which may hold secrets.
impl fmt::Debug for Request {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Request")
            .field("method", &self.method)
            .finish_non_exhaustive()
    }
}

impl Request {
    /// A request without headers of its own and without a body.
    pub fn new(method: Method) -> Self {
        Self {
            method,
            path: None,
            headers: HeaderMap::new(),
            body: Bytes::new(),
        }
    }

    /// Reads.
    pub fn get() -> Self {
        Self::new(Method::GET)
    }

    /// Sends this.
    pub fn post(content_type: &'static str, body: impl Into<Bytes>) -> Self {
        Self::new(Method::POST).with_body(content_type, body)
    }

    /// With this body.
    #[must_use]
    pub fn with_body(mut self, content_type: &'static str, body: impl Into<Bytes>) -> Self {
        self.body = body.into();
        self.with_header(CONTENT_TYPE, HeaderValue::from_static(content_type))
    }

    /// For this path and query, instead of the address's.
    #[must_use]
    pub fn with_path(mut self, path: impl Into<String>) -> Self {
        self.path = Some(path.into());
        self
    }

    /// With this header as well; a `host` or `user-agent` given here is the one that is sent.
    #[must_use]
    pub fn with_header(mut self, name: HeaderName, value: HeaderValue) -> Self {
        self.headers.append(name, value);
        self
    }

    /// As it goes to this server.
    pub(super) fn written(
        &self,
        address: &Address,
        protocol: Protocol,
    ) -> Result<hyper::Request<Full<Bytes>>, Error> {
        let path = match &self.path {
            Some(path) => path.clone(),
            None => address.path_and_query(),
        };
        let uri = match (protocol, address) {
            (Protocol::Http1, _) => path,
            (Protocol::Http2, Address::Web(web)) => format!("{}{path}", web.origin()),
            (Protocol::Http2, Address::Unix(_)) => format!("http://{}{path}", address.authority()),
        };
        let built = hyper::Request::builder().method(&self.method).uri(uri);
        let mut request = built
            .body(Full::new(self.body.clone()))
            .map_err(Error::Request)?;
        let headers = request.headers_mut();
        headers.clone_from(&self.headers);
        if protocol == Protocol::Http1
            && let Entry::Vacant(host) = headers.entry(HOST)
        {
            let value = HeaderValue::try_from(address.authority());
            host.insert(value.map_err(|error| Error::Request(error.into()))?);
        }
        let agent = HeaderValue::from_static(concat!("portcullis/", env!("CARGO_PKG_VERSION")));
        headers.entry(USER_AGENT).or_insert(agent);
        Ok(request)
    }
}
