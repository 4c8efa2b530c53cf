//! The page for a failed sign-in.

use hyper::http::request::Parts;

use super::super::people::{error_page, wants_page};
use crate::http::Response;
use crate::http::error::HttpError;

/// An error as a page, for those who want one; as it is, for others.
pub(super) fn for_people(
    head: &Parts,
    result: Result<Response, HttpError>,
) -> Result<Response, HttpError> {
    match result {
        Err(error) if wants_page(head) => Ok(error_page(&error)),
        result => result,
    }
}
