//! The line itself, written directly from its parts.

use portcullis_core::patch::PatchOperation;
use serde::Serialize;

use super::http::Http;
use super::{Unmaskable, unmaskable};
use crate::input::Webhook;
use crate::mask::found::Found;
use crate::summary::Summary;

/// Everything that is written.
pub(super) struct Line<'a, T> {
    pub(super) summary: &'a Summary,
    pub(super) patch: &'a [PatchOperation],
    pub(super) trace: &'a [T],
    pub(super) text: &'a str,
    pub(super) found: &'a Found<'a>,
    pub(super) http: Http<'a>,
    pub(super) received: String,
    pub(super) truncated: &'a [String],
    pub(super) webhook: Option<&'a Webhook>,
    pub(super) chain: Option<&'a str>,
}

/// What stands behind the review.
#[derive(Serialize)]
struct Behind<'a> {
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    masked: &'a [String],
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    truncated: &'a [String],
    http: &'a Http<'a>,
    received: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    webhook: Option<&'a Webhook>,
    #[serde(skip_serializing_if = "Option::is_none")]
    chain: Option<&'a str>,
}

/// Room for all but the review.
const USUAL: usize = 4096;

impl<T: Serialize> Line<'_, T> {
    /// Writes it.
    pub(super) fn write(&self) -> Result<String, Unmaskable> {
        let mut to = Vec::with_capacity(self.found.length_of(self.text) + USUAL);
        put(&mut to, self.summary)?;
        to.pop();
        to.extend_from_slice(b",\"patch\":");
        put(&mut to, self.patch)?;
        to.extend_from_slice(b",\"trace\":");
        put(&mut to, self.trace)?;
        to.extend_from_slice(b",\"input\":{\"review\":");
        self.found.write(self.text, &mut to);
        to.push(b',');
        let start = to.len();
        put(
            &mut to,
            &Behind {
                masked: &self.found.pointers,
                truncated: self.truncated,
                http: &self.http,
                received: &self.received,
                webhook: self.webhook,
                chain: self.chain,
            },
        )?;
        // It goes on in the object that is open already.
        to.remove(start);
        to.push(b'}');
        String::from_utf8(to).map_err(|_| unmaskable("not UTF-8"))
    }
}

pub(super) fn put<T: Serialize + ?Sized>(to: &mut Vec<u8>, what: &T) -> Result<(), Unmaskable> {
    serde_json::to_writer(to, what).map_err(|_| unmaskable("it can't be written"))
}
