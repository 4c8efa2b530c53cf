//! What roles cost: a check in process, a request over HTTP, and the memory of many sessions.
//!
//! The tenant has 200 rules and 200 roles (`document`). `check` measures the library next to a plain
//! loop over the same data (`naive`); `requests` asks a server over plain TCP and a unix socket, next to
//! a call that needs nobody to be known; `sessions` uses thousands of tokens, cookies and connections
//! again and again, and fails if the server grows with every pass.

mod asker;
mod check;
mod document;
mod gate;
mod naive;
mod requests;
mod sessions;

use std::path::Path;

use serde::Serialize;

pub(crate) use self::check::Checks;
pub(crate) use self::requests::Cost;
pub(crate) use self::sessions::Growth;
use crate::cli::RoleEffort;
use crate::failure::{Context, Failure, Result};
use crate::limits::raise_open_files;
use crate::output;

/// What was found.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Roles {
    /// In process.
    pub(crate) checks: Checks,
    /// Over HTTP.
    pub(crate) requests: Vec<Cost>,
    /// The memory of a server that is used by many.
    pub(crate) growth: Vec<Growth>,
}

impl Roles {
    /// Fails if a server grew with every pass.
    pub(crate) fn verdict(&self) -> Result<()> {
        let grown: Vec<String> = self.growth.iter().filter_map(Growth::complaint).collect();
        match grown.as_slice() {
            [] => Ok(()),
            grown => Err(Failure::new(grown.join("; "))),
        }
    }
}

/// Measures everything.
pub(crate) fn run(portcullis: &Path, effort: &RoleEffort) -> Result<Roles> {
    let dir = tempfile::Builder::new()
        .prefix("portcullis-bench-")
        .tempdir();
    let dir = dir.context("no directory for this run")?;
    raise_open_files(u64::from(effort.held));
    output::tell("roles: checks in process");
    let checks = check::run()?;
    output::tell("roles: requests over HTTP");
    let requests = requests::run(portcullis, &dir.path().join("requests"), effort)?;
    output::tell("roles: many sessions");
    let growth = sessions::run(portcullis, &dir.path().join("sessions"), effort)?;
    Ok(Roles {
        checks,
        requests,
        growth,
    })
}
