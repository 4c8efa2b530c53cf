//! A path with what is there.

use crate::backend::{Pending, Problem};
use crate::reply::Reply;
use crate::request::Request;

/// What makes a page, or takes a form.
pub(crate) type Handler = for<'a> fn(Request<'a>) -> Pending<'a, Result<Reply, Problem>>;

/// A path with what is there.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Route {
    /// `*` stands for one segment, `**` at the end for the rest.
    pub(crate) path: &'static str,
    /// What is shown.
    pub(crate) get: Option<Handler>,
    /// What takes a form.
    pub(crate) post: Option<Handler>,
}

impl Route {
    /// A page.
    pub(crate) const fn page(path: &'static str, get: Handler) -> Self {
        Self {
            path,
            get: Some(get),
            post: None,
        }
    }

    /// What takes a form.
    pub(crate) const fn form(path: &'static str, post: Handler) -> Self {
        Self {
            path,
            get: None,
            post: Some(post),
        }
    }

    /// A page that asks, and what is done then.
    pub(crate) const fn asking(path: &'static str, get: Handler, post: Handler) -> Self {
        Self {
            path,
            get: Some(get),
            post: Some(post),
        }
    }
}
