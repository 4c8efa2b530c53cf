//! Counters of a server, from its page of metrics.

use std::net::SocketAddr;

use crate::failure::{Context, Failure, Result};
use crate::plain;

/// The page.
pub(crate) fn page(address: SocketAddr) -> Result<String> {
    let (status, body) = plain::get(address, "/metrics").context("/metrics")?;
    match status {
        200 => Ok(String::from_utf8_lossy(&body).into_owned()),
        other => Err(Failure::new(format!("/metrics: the status is {other}"))),
    }
}

/// The sum of the counters of this name whose labels are meant. One that is not there has not counted yet.
pub(crate) fn sum(page: &str, name: &str, is_meant: impl Fn(&str) -> bool) -> u64 {
    let of_line = |line: &str| -> Option<u64> {
        let rest = line.strip_prefix(name)?;
        let (labels, value) = rest.rsplit_once(' ')?;
        let is_this = labels.is_empty() || labels.starts_with('{');
        (is_this && is_meant(labels)).then(|| value.parse().ok())?
    };
    page.lines().filter_map(of_line).sum()
}
