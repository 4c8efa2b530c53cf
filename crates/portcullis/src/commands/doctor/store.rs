//! The store: can it be opened, and are its tables those of this program?

use std::path::PathBuf;
use std::time::SystemTime;

use portcullis_config::Loaded;
use portcullis_store::{Location, Mode, Store, StoreError};

use super::data;
use super::finding::{Finding, Findings};

const CHECK: &str = "store";

/// Checks the store, and says what time it is on its server.
pub(super) fn check(
    directory: Option<&PathBuf>,
    loaded: &Loaded,
    findings: &mut Findings,
) -> Option<(String, SystemTime)> {
    let configured = loaded.decisions.location.clone();
    let usual = || Some(Location::in_directory(directory?));
    let Some(location) = configured.or_else(usual) else {
        findings.add(Finding::skipped(CHECK, "", "the data directory is unknown"));
        return None;
    };
    if let Some(file) = location.file() {
        // In the data directory the space was looked at.
        if loaded.decisions.location.is_some() {
            let needed = loaded.decisions.retention.size;
            findings.add(data::space(
                CHECK,
                file,
                needed.filter(|_| loaded.decisions.is_stored),
            ));
        }
        if !file.exists() {
            let message = "not there yet: the server creates it when it starts";
            findings.add(Finding::ok(CHECK, &location, message));
            return None;
        }
    }
    let mut store = match Store::open(&location, Mode::ReadOnly) {
        Ok(store) => store,
        Err(error) => {
            findings.add(unusable(&location, &error));
            return None;
        }
    };
    let version = Store::schema_version();
    match store.check() {
        Ok(()) => findings.add(Finding::ok(
            CHECK,
            &location,
            format!("schema version {version}"),
        )),
        Err(error) => findings.add(unusable(&location, &error)),
    }
    if let Ok(Some(risk)) = store.durability_risk() {
        let fix = "change the setting of the database server";
        findings.add(Finding::warning(CHECK, &location, risk, fix));
    }
    let time = store.time().ok().flatten();
    time.map(|time| (location.to_string(), time))
}

fn unusable(location: &Location, error: &StoreError) -> Finding {
    let warning = |fix| Finding::warning(CHECK, location, error, fix);
    let problem = |fix| Finding::problem(CHECK, location, error, fix);
    match error {
        StoreError::Older { .. } => warning("start a server of this version, which migrates it"),
        StoreError::Newer { .. } => {
            problem("use the version of Portcullis that made it, or a newer one")
        }
        StoreError::Missing { .. } => {
            warning("start a server, which creates what is missing; is the address right?")
        }
        StoreError::Busy { .. } => warning("try again"),
        StoreError::Corrupt { .. } => problem("restore it from a backup"),
        StoreError::Unavailable { .. } | StoreError::Other { .. } => problem(
            "check that the database runs, and that the address and the credentials are right",
        ),
    }
}
