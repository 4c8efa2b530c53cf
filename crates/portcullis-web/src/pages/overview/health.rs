//! What of policies and of the server needs attention, as numbers that lead to their pages.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::Tile;
use crate::query::segment;
use crate::shown::time;

/// Policies as the API lists them.
#[derive(Debug, Deserialize)]
pub(super) struct Policies {
    items: Vec<Policy>,
}

#[derive(Debug, Deserialize)]
struct Policy {
    name: String,
    #[serde(default)]
    evaluations: BTreeMap<String, u64>,
}

/// Policies that are named.
const NAMED: usize = 6;

impl Policies {
    /// How many there are, and those that failed, the most frequent first.
    pub(super) fn tiles(&self) -> Vec<Tile> {
        let errors = |policy: &Policy| policy.evaluations.get("error").copied().unwrap_or(0);
        let mut failing: Vec<&Policy> = self.items.iter().filter(|one| errors(one) > 0).collect();
        failing.sort_by_key(|one| std::cmp::Reverse(errors(one)));
        let all = Tile {
            path: "/policies".to_owned(),
            count: self.items.len().to_string(),
            text: "policies in force".to_owned(),
        };
        let failing_tile = |path: String, count: u64, text: String| Tile {
            path,
            count: count.to_string(),
            text,
        };
        let count = failing.len() as u64;
        let summary = failing_tile(
            "/policies".to_owned(),
            count,
            "policies with errors".to_owned(),
        );
        let each = failing.iter().take(NAMED).map(|one| {
            let path = format!("/policies/{}", segment(&one.name));
            failing_tile(path, errors(one), format!("errors of {}", one.name))
        });
        std::iter::once(all).chain([summary]).chain(each).collect()
    }
}

/// How the server is, as the API says it.
#[derive(Debug, Deserialize)]
pub(super) struct Status {
    checks: Vec<Check>,
    listeners: Vec<Listener>,
    last_reload: Option<Reload>,
    #[serde(default)]
    is_demonstration: bool,
}

#[derive(Debug, Deserialize)]
struct Check {
    state: String,
}

#[derive(Debug, Deserialize)]
struct Listener {
    name: String,
    is_development: bool,
    certificate_days_left: Option<i64>,
}

#[derive(Debug, Deserialize)]
struct Reload {
    at: String,
    successful: bool,
}

impl Status {
    pub(super) fn is_demonstration(&self) -> bool {
        self.is_demonstration
    }

    /// Checks that are not as they should be, the certificate that expires first, the last reload.
    pub(super) fn tiles(&self) -> Vec<Tile> {
        let tile = |count: String, text: String| Tile {
            path: "/status".to_owned(),
            count,
            text,
        };
        let odd = self.checks.iter().filter(|check| check.state != "ok");
        let checks = tile(
            odd.count().to_string(),
            "checks failed or with a warning".to_owned(),
        );
        // One for development is made anew in time.
        let lasting = self.listeners.iter().filter(|one| !one.is_development);
        let first = lasting
            .filter_map(|one| Some((one.certificate_days_left?, &one.name)))
            .min();
        let certificate = first.map(|(days, name)| match days {
            ..=-1 => tile("expired".to_owned(), format!("certificate of {name}")),
            0 => tile(
                "less than a day".to_owned(),
                format!("until the certificate of {name} expires"),
            ),
            1 => tile(
                "1 day".to_owned(),
                format!("until the certificate of {name} expires"),
            ),
            _ => tile(
                format!("{days} days"),
                format!("until the certificate of {name} expires"),
            ),
        });
        let reload = match &self.last_reload {
            None => tile("none".to_owned(), "reloads since the start".to_owned()),
            Some(last) => {
                let state = if last.successful { "ok" } else { "failed" };
                tile(state.to_owned(), format!("last reload, {}", time(&last.at)))
            }
        };
        std::iter::once(checks)
            .chain(certificate)
            .chain([reload])
            .collect()
    }
}
