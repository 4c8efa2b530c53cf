//! What a browser asks.

use crate::backend::{Backend, Person, Problem};
use crate::frame::Frame;
use crate::query::Query;

/// What a browser asks.
#[derive(Clone)]
pub struct Request<'a> {
    /// The server.
    pub backend: &'a dyn Backend,
    /// The path, without its query.
    pub path: &'a str,
    /// The query, without its question mark.
    pub query: &'a str,
    /// What varies in the path, percent-decoded, in its order.
    pub values: Vec<String>,
    /// The fields of the form that was sent.
    pub form: Vec<(String, String)>,
}

impl std::fmt::Debug for Request<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Request({})", self.path)
    }
}

impl<'a> Request<'a> {
    /// Who looks.
    pub(crate) fn person(&self) -> &'a Person {
        self.backend.person()
    }

    /// What varies in the path, by its place.
    pub(crate) fn value(&self, place: usize) -> &str {
        self.values.get(place).map_or("", String::as_str)
    }

    /// The parameters of the query that pages know.
    pub(crate) fn query(&self, known: &'static [&'static str]) -> Result<Query, Problem> {
        Query::parse(self.query, known)
    }

    /// What surrounds a page.
    pub(crate) fn frame(&self, title: impl Into<String>) -> Frame {
        Frame::new(title.into(), self.path, self.backend)
    }
}
