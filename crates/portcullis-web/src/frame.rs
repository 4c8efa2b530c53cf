//! What surrounds every page: title, navigation, who is signed in.

use crate::assets::{ICON, STYLES};
use crate::backend::{Backend, Person, Problem};
use crate::reply::{Reply, page_with};
use crate::shown::sentence;

/// What surrounds a page.
#[derive(Debug, Clone)]
pub(crate) struct Frame {
    /// The heading; the title begins with it.
    pub(crate) title: String,
    /// Where one can go.
    pub(crate) links: Vec<Link>,
    /// Who looks; absent on the sign-in page.
    pub(crate) person: Option<Person>,
}

/// A place in the navigation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Link {
    pub(crate) path: &'static str,
    pub(crate) text: &'static str,
    /// Whether the page is there or below.
    pub(crate) is_current: bool,
}

const LINKS: &[(&str, &str)] = &[
    ("/", "Overview"),
    ("/decisions", "Decisions"),
    ("/policies", "Policies"),
    ("/jobs", "Jobs"),
    ("/runners", "Runners"),
    ("/controllers", "Controllers"),
    ("/exemptions", "Exemptions"),
    ("/tenants", "Tenants"),
    ("/graph", "Graph"),
    ("/roles", "Roles"),
    ("/status", "Status"),
];

impl Frame {
    pub(crate) fn new(title: String, path: &str, backend: &dyn Backend) -> Self {
        let links = LINKS.iter().copied();
        let is_current = |to: &str| {
            let below = path.strip_prefix(to);
            to == path || (to != "/" && below.is_some_and(|rest| rest.starts_with('/')))
        };
        Self {
            title,
            links: links
                .map(|(to, text)| Link {
                    path: to,
                    text,
                    is_current: is_current(to),
                })
                .collect(),
            person: Some(backend.person().clone()),
        }
    }

    /// For someone who is not signed in.
    pub(crate) fn bare(title: String) -> Self {
        Self {
            title,
            links: Vec::new(),
            person: None,
        }
    }

    pub(crate) fn styles(&self) -> &'static str {
        &STYLES.path
    }

    pub(crate) fn icon(&self) -> &'static str {
        &ICON.path
    }

    pub(crate) fn version(&self) -> &'static str {
        env!("CARGO_PKG_VERSION")
    }
}

#[derive(Debug, askama::Template)]
#[template(path = "problem.html")]
struct ProblemPage {
    frame: Frame,
    message: String,
    advice: &'static str,
}

/// A page that says what is wrong, for someone who may not be signed in.
pub fn problem(problem: &Problem) -> String {
    match problem_page(Frame::bare(String::new()), problem) {
        Ok(Reply::Page { html, .. }) => html,
        _ => "internal error".to_owned(),
    }
}

/// A page that says what is wrong, and what to do about it.
pub(crate) fn problem_page(mut frame: Frame, problem: &Problem) -> Result<Reply, Problem> {
    let (title, advice) = match problem.status {
        400 | 422 => (
            "Bad request",
            "Change the address or the form, and try again.",
        ),
        401 => ("Not signed in", "Sign in, and try again."),
        403 => (
            "Forbidden",
            "Ask an administrator for the permission, or sign in with another account.",
        ),
        404 => (
            "Not found",
            "It may have been deleted, or the address is wrong.",
        ),
        409 => (
            "Conflict",
            "Reload the page to see how it is now, and try again.",
        ),
        429 | 503 => ("Unavailable", "Try again in a moment."),
        _ => ("Error", "The log of the server has the details."),
    };
    frame.title = title.to_owned();
    let page = ProblemPage {
        frame,
        message: sentence(&problem.message),
        advice,
    };
    page_with(problem.status, &page)
}
