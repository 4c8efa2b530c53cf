//! Whether the configuration is valid, as `portcullis check` has it, and who can read its keys.

use std::path::Path;

use portcullis_config::{ConfigSource, Loaded};
use portcullis_server::Report;

use super::finding::{Finding, Findings};
use crate::arguments::{Admission, load_options};

const CHECK: &str = "configuration";
/// What to do about a fault that has a place.
const SHOWS_THE_LINE: &str = "correct it: `portcullis check` shows the line";

/// Checks the configuration, and gives it back if it is valid.
pub(super) fn check(file: &Path, findings: &mut Findings) -> Option<Loaded> {
    let registry = portcullis_gate::registry();
    let known = registry.names();
    let options = load_options(ConfigSource::File(file), &Admission::default(), &known);
    let Report { faults, warnings } = portcullis_server::examine(&options);
    for warning in &warnings {
        findings.add(Finding::of_warning(CHECK, warning, ""));
    }
    let is_valid = faults.is_empty();
    for fault in faults {
        let place = match (fault.file.as_str(), fault.position) {
            ("", _) => file.display().to_string(),
            (file, Some(at)) => format!("{file}:{}:{}", at.line, at.column),
            (file, None) => file.to_owned(),
        };
        let fix = match (&fault.suggestion, fault.position) {
            (Some(meant), _) => format!("did you mean `{meant}`?"),
            (None, Some(_)) => SHOWS_THE_LINE.to_owned(),
            (None, None) if !file.exists() => {
                "name the configuration with --config FILE, or create one with `portcullis init`"
                    .to_owned()
            }
            (None, None) => "correct it, or make it readable for this user".to_owned(),
        };
        findings.add(Finding::problem(CHECK, place, &fault.message, fix));
    }
    let loaded = is_valid.then(|| portcullis_config::load(&options));
    match loaded {
        Some(Ok(loaded)) => {
            findings.add(Finding::ok(CHECK, file.display(), "valid"));
            let access = portcullis_gate::access::load(&options);
            let exposed = access.map(|access| access.exposed).unwrap_or_default();
            for warning in loaded.exposed.iter().chain(&exposed) {
                let fix = "let only the user of the server read it: chmod 600";
                findings.add(Finding::of_warning("keys", warning, fix));
            }
            if loaded.exposed.is_empty() && exposed.is_empty() {
                findings.add(Finding::ok("keys", "", "no key can be read by others"));
            }
            Some(loaded)
        }
        // What a server needs, and `check` does not: listeners.
        Some(Err(wrong)) => {
            for fault in wrong.iter() {
                let place = file.display();
                findings.add(Finding::problem(
                    CHECK,
                    place,
                    &fault.message,
                    SHOWS_THE_LINE,
                ));
            }
            skip_others(findings);
            None
        }
        None => {
            skip_others(findings);
            None
        }
    }
}

fn skip_others(findings: &mut Findings) {
    let why = "files, certificates, store and server are looked at when the configuration is valid";
    findings.add(Finding::skipped("everything else", "", why));
}
