//! Pages that ask before something is done that can't be undone.

use crate::backend::Problem;
use crate::frame::Frame;
use crate::reply::{Reply, page};
use crate::request::Request;

/// The question, and the action it is about.
#[derive(Debug)]
pub(crate) struct Question {
    /// The heading.
    pub(crate) title: String,
    /// The question, with what will happen.
    pub(crate) text: String,
    /// What the button says.
    pub(crate) label: &'static str,
    /// Where one goes without doing it.
    pub(crate) back: String,
}

#[derive(Debug, askama::Template)]
#[template(path = "ask.html")]
struct AskPage<'a> {
    frame: Frame,
    question: &'a str,
    path: &'a str,
    csrf: &'a str,
    label: &'a str,
    back: &'a str,
    /// What was sent already; the proof of the session is added to it.
    fields: Vec<&'a (String, String)>,
}

/// The field of a form that was asked about.
pub(crate) const CONFIRMED: &str = "confirmed";

/// The page with the question. Its form goes to the same path, with the same query and what was sent already.
pub(crate) fn ask(request: &Request<'_>, question: &Question) -> Result<Reply, Problem> {
    let path = match request.query {
        "" => request.path.to_owned(),
        query => format!("{}?{query}", request.path),
    };
    page(&AskPage {
        frame: request.frame(question.title.as_str()),
        question: &question.text,
        path: &path,
        csrf: &request.person().csrf,
        label: question.label,
        back: &question.back,
        fields: request
            .form
            .iter()
            .filter(|(name, _)| name != "csrf")
            .collect(),
    })
}
