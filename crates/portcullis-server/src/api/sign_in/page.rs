//! The page for a failed sign-in.

use hyper::http::request::Parts;

use super::super::html::escaped;
use super::super::people::{page, sentence, wants_page};
use crate::http::Response;
use crate::http::error::HttpError;

/// An error as a page, for those who want one; as it is, for others.
pub(super) fn for_people(
    head: &Parts,
    result: Result<Response, HttpError>,
) -> Result<Response, HttpError> {
    match result {
        Err(error) if wants_page(head) => {
            let main = format!(
                "<p>{}</p>\n<p><a href=\"/sign-in\">Sign in again</a></p>",
                escaped(&sentence(error.message()))
            );
            Ok(page(error.status(), "Not signed in", &main))
        }
        result => result,
    }
}
