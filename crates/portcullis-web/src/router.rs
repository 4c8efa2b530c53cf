//! Which page is at which path.

use crate::backend::{Backend, Problem};
use crate::frame::{Frame, problem_page};
use crate::pages;
use crate::reply::Reply;
use crate::request::Request;
use crate::route::Handler;

/// A page that was found.
#[derive(Clone)]
pub struct Page {
    handler: Handler,
    values: Vec<String>,
}

impl std::fmt::Debug for Page {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Page({:?})", self.values)
    }
}

/// What is at a path.
#[derive(Debug)]
pub enum Found {
    /// This.
    Page(Page),
    /// Something that takes other methods: these.
    WrongMethod(&'static str),
    /// Nothing.
    Nothing,
}

/// What is at a path, for a page that is read or a form that is sent.
pub fn find(path: &str, is_form: bool) -> Found {
    let mut allowed = None;
    for route in pages::routes() {
        let Some(values) = fit(route.path, path) else {
            continue;
        };
        let handler = if is_form { route.post } else { route.get };
        if let Some(handler) = handler {
            return Found::Page(Page { handler, values });
        }
        allowed = allowed.or(Some(match (route.get, route.post) {
            (Some(_), Some(_)) => "GET, HEAD, POST",
            (None, Some(_)) => "POST",
            _ => "GET, HEAD",
        }));
    }
    allowed.map_or(Found::Nothing, Found::WrongMethod)
}

impl Page {
    /// Makes the page, or does what the form says. What goes wrong is a page as well.
    pub async fn answer(
        self,
        backend: &dyn Backend,
        (path, query): (&str, &str),
        form: Vec<(String, String)>,
    ) -> Reply {
        let request = Request {
            backend,
            path,
            query,
            values: self.values,
            form,
        };
        let answer = (self.handler)(request).await;
        answer.unwrap_or_else(|problem| explain(backend, path, &problem))
    }
}

/// The page for something that went wrong, for someone who is signed in.
pub fn explain(backend: &dyn Backend, path: &str, problem: &Problem) -> Reply {
    let frame = Frame::new(String::new(), path, backend);
    problem_page(frame, problem).unwrap_or(Reply::Page {
        status: 500,
        html: "internal error".to_owned(),
    })
}

/// What varies in a path, if it fits.
fn fit(pattern: &str, path: &str) -> Option<Vec<String>> {
    let mut values = Vec::new();
    let mut rest = path.strip_prefix('/')?.split('/');
    let mut wanted = pattern.strip_prefix('/')?.split('/');
    loop {
        match (wanted.next(), rest.next()) {
            (None, None) => return Some(values),
            (Some("*"), Some(segment)) if !segment.is_empty() => values.push(decoded(segment)?),
            (Some("**"), Some(first)) => {
                let all: Vec<&str> = std::iter::once(first).chain(rest).collect();
                values.push(decoded(&all.join("/"))?);
                return Some(values);
            }
            (Some(word), Some(segment)) if word == segment => {}
            _ => return None,
        }
    }
}

fn decoded(segment: &str) -> Option<String> {
    portcullis_core::percent::decoded(segment).map(std::borrow::Cow::into_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_fit_patterns() {
        assert_eq!(fit("/", "/"), Some(vec![]));
        assert_eq!(fit("/jobs/*", "/jobs/7"), Some(vec!["7".to_owned()]));
        assert_eq!(fit("/jobs/*", "/jobs/"), None);
        assert_eq!(fit("/jobs/*", "/jobs/7/x"), None);
        assert_eq!(
            fit("/jobs/*/cancel", "/jobs/a%2Fb/cancel"),
            Some(vec!["a/b".to_owned()])
        );
        assert_eq!(fit("/x/**", "/x/a/b"), Some(vec!["a/b".to_owned()]));
    }

    #[test]
    fn no_two_routes_have_the_same_path() {
        let mut paths: Vec<&str> = pages::routes().map(|route| route.path).collect();
        let count = paths.len();
        paths.sort_unstable();
        paths.dedup();
        assert_eq!(paths.len(), count);
    }
}
