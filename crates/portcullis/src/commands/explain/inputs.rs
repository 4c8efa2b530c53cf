//! The inputs of the decision, and the way it came in.

use portcullis_record::{Decision, Http};

use super::subject::Subject;
use crate::commands::text::plain::{counted, shortened};

/// How many masked places are named.
const MOST: usize = 10;

/// Which door, and which way in.
pub(super) fn door(decision: &Decision) -> String {
    let mut text = decision.summary.door.to_string();
    if let Some(chain) = &decision.input.chain {
        text.push_str(&format!(", chain {chain}"));
    }
    if let Some(webhook) = &decision.input.webhook {
        let may = match webhook.may_patch {
            true => "objects may be changed there",
            false => "nothing is changed there",
        };
        text.push_str(&format!(", {} ({may})", webhook.name));
    }
    text
}

/// The review, the request, and what was masked.
pub(super) fn lines(decision: &Decision, subject: &Subject) -> Vec<String> {
    let input = &decision.input;
    let mut lines = Vec::new();
    if let Some(review) = &input.review {
        let size = counted(review.get().len(), "byte", "bytes");
        lines.push(format!("review    {}, {size}", subject.review()));
    }
    // A job is decided after the request that submitted it was answered.
    if !input.http.method.is_empty() {
        lines.push(format!(
            "request   {}",
            request(&input.http, input.action.is_none())
        ));
    }
    lines.push(format!("received  {}", input.received));
    if let Some(action) = &input.action {
        lines.push(format!("answered  {}", action.status));
    }
    if !input.truncated.is_empty() {
        let left_out = input.truncated.join(", ");
        lines.push(format!(
            "left out  {left_out}: the review is too large to be kept whole"
        ));
    }
    lines.push(format!("masked    {}", masked(&input.masked)));
    if let Some(parent) = &decision.summary.traceparent {
        lines.push(format!("trace     {parent}"));
    }
    lines
}

fn request(http: &Http, has_headers: bool) -> String {
    let mut text = format!("{} {}", http.method, shortened(&http.uri, 200));
    if has_headers {
        let headers = counted(http.headers.len(), "header", "headers");
        text.push_str(&format!(", {headers}"));
    }
    if let Some(address) = &http.address {
        text.push_str(&format!(", from {address}"));
    }
    if let Some(unix) = &http.unix {
        text.push_str(&format!(", from user {} on this machine", unix.uid));
        if let Some(pid) = unix.pid {
            text.push_str(&format!(", process {pid}"));
        }
    }
    if let Some(certificate) = &http.certificate {
        let subject = shortened(&certificate.subject, 200);
        text.push_str(&format!(", with a certificate for {subject}"));
    }
    text
}

fn masked(places: &[String]) -> String {
    if places.is_empty() {
        return "nothing".to_owned();
    }
    let count = counted(places.len(), "value", "values");
    let named: Vec<_> = places
        .iter()
        .take(MOST)
        .map(|p| shortened(p, 200))
        .collect();
    let more = match places.len() - named.len() {
        0 => String::new(),
        more => format!(" ... {more} more"),
    };
    format!("{count}: {}{more}", named.join(", "))
}
