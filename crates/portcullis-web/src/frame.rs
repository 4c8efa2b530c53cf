//! What surrounds every page: title, navigation, who is signed in.

use crate::assets::{ICON, STYLES, script_path};
use crate::backend::{Backend, Person, Place, Problem};
use crate::reply::{Reply, page_with};
use crate::script::Script;
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
    /// The scripts that the page wants, and where they are, if they were built.
    scripts: Vec<(Script, Option<&'static str>)>,
}

/// A place in the navigation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Link {
    pub(crate) path: &'static str,
    pub(crate) text: &'static str,
    /// Whether the page is there or below.
    pub(crate) is_current: bool,
}

/// Where policies are tried, which is not possible everywhere.
const PLAYGROUND: &str = "/playground";

const LINKS: &[(&str, &str)] = &[
    ("/", "Overview"),
    ("/decisions", "Decisions"),
    ("/policies", "Policies"),
    (PLAYGROUND, "Playground"),
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
        let may_try =
            backend.has_playground() && backend.refusal("playground", Place::Root).is_none();
        let links = LINKS.iter().copied();
        let links = links.filter(|(to, _)| may_try || *to != PLAYGROUND);
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
            scripts: Vec::new(),
        }
    }

    /// For someone who is not signed in.
    pub(crate) fn bare(title: String) -> Self {
        Self {
            title,
            links: Vec::new(),
            person: None,
            scripts: Vec::new(),
        }
    }

    /// The same for a page that wants a script.
    pub(crate) fn with_script(mut self, script: Script) -> Self {
        self.scripts.push((script, script_path(script)));
        self
    }

    /// The same for a page that changes, if it does.
    pub(crate) fn live_if(self, changes: bool) -> Self {
        match changes {
            true => self.with_script(Script::Live),
            false => self,
        }
    }

    /// Where the scripts are that are loaded.
    pub(crate) fn scripts(&self) -> impl Iterator<Item = &'static str> {
        self.scripts.iter().filter_map(|(_, path)| *path)
    }

    /// What the page says about scripts that were not built.
    pub(crate) fn missing(&self) -> impl Iterator<Item = &'static str> {
        let missing = self.scripts.iter().filter(|(_, path)| path.is_none());
        missing.filter_map(|(script, _)| script.missing())
    }

    /// Whether parts of the page are kept up to date.
    pub(crate) fn is_live(&self) -> bool {
        self.has(Script::Live)
    }

    /// Whether buttons that copy do something.
    pub(crate) fn copies(&self) -> bool {
        self.has(Script::Copy)
    }

    /// Whether a script is loaded.
    fn has(&self, script: Script) -> bool {
        let loaded = |(own, path): &(Script, Option<&str>)| *own == script && path.is_some();
        self.scripts.iter().any(loaded)
    }

    /// The script that every page begins with.
    pub(crate) fn theme(&self) -> Option<&'static str> {
        script_path(Script::Theme)
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
    /// Where one signs in, if that helps.
    sign_in: Option<&'static str>,
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
        410 => ("Link not valid", "Use a new link."),
        429 | 503 => ("Unavailable", "Try again in a moment."),
        _ => ("Error", "The log of the server has the details."),
    };
    frame.title = title.to_owned();
    let page = ProblemPage {
        frame,
        message: sentence(&problem.message),
        advice,
        sign_in: (problem.status == 401).then_some("/sign-in"),
    };
    page_with(problem.status, &page)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A page that wants a script, which was built or not.
    fn page_wanting(script: Script, path: Option<&'static str>) -> String {
        let mut frame = Frame::bare(String::new());
        frame.scripts.push((script, path));
        let problem = Problem::not_found("x");
        match problem_page(frame, &problem).unwrap() {
            Reply::Page { html, .. } => html,
            Reply::SeeOther(to) => panic!("{to}"),
        }
    }

    #[test]
    fn who_is_not_signed_in_finds_where_to() {
        let of = |status| {
            problem(&Problem {
                status,
                message: "no".to_owned(),
            })
        };
        assert!(of(401).contains(r#"href="/sign-in""#));
        assert!(!of(404).contains("/sign-in"));
    }

    #[test]
    fn a_script_that_was_built_is_loaded_from_a_file() {
        let html = page_wanting(Script::Live, Some("/assets/live.1.js"));
        let loaded = r#"<script type="module" src="/assets/live.1.js"></script>"#;
        assert!(html.contains(loaded), "{html}");
        assert!(html.contains(r#"id="live-bar""#), "{html}");
        assert!(!html.contains("built without"), "{html}");
    }

    #[test]
    fn a_page_says_which_scripts_were_not_built() {
        for (script, word) in [
            (Script::Live, "without live updates"),
            (Script::Editor, "without the editor"),
        ] {
            let html = page_wanting(script, None);
            assert!(html.contains(word), "{html}");
            assert!(!html.contains("type=\"module\""), "{html}");
            assert!(!html.contains("live-bar"), "{html}");
        }
        assert!(!page_wanting(Script::Copy, None).contains("without"));
    }
}
