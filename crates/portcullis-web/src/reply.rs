//! What a browser gets.

use crate::backend::Problem;

/// What a browser gets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reply {
    /// A page.
    Page {
        /// The HTTP status.
        status: u16,
        /// HTML.
        html: String,
    },
    /// Another path of this server, to be read.
    SeeOther(String),
}

/// A page that is all right.
pub(crate) fn page(template: &impl askama::Template) -> Result<Reply, Problem> {
    page_with(200, template)
}

/// A page with this status.
pub(crate) fn page_with(status: u16, template: &impl askama::Template) -> Result<Reply, Problem> {
    let html = template.render().map_err(|_| Problem::internal())?;
    Ok(Reply::Page { status, html })
}
