//! Whether webhooks are registered so that they judge what they should, and lock nothing out.

mod again;
mod lockout;

use std::collections::BTreeMap;
use std::time::SystemTime;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use portcullis_config::{PendingMutation, Style};
use portcullis_gate::registration::{ADMISSION_PATHS, Registration};
use portcullis_net::{Certificate, check_server};

pub(super) use self::again::Again;
use super::finding::Finding;
use super::registered::{Phase, Registered, Target};
use super::selector::Labels;

/// The name of the check.
pub(super) const CHECK: &str = "registrations";
/// More are not listed.
const MOST: usize = 6;

/// Checks everything that is registered. `chains` are the certificates that the listeners for reviews show.
pub(super) fn check(
    all: &[Registered],
    again: Again<'_>,
    chains: &[Vec<Certificate>],
    namespaces: &BTreeMap<String, Labels>,
    now: SystemTime,
) -> Vec<Finding> {
    let loaded = again.loaded;
    let needed = loaded.and_then(|loaded| Registration::of(loaded).ok());
    let mut found = Vec::new();
    if all.is_empty() {
        let judges = needed
            .as_ref()
            .is_some_and(|needed| !needed.rules.is_empty());
        found.push(match judges {
            true => {
                let message =
                    "no webhook of Portcullis is registered, so the API server does not ask it";
                Finding::warning(CHECK, "", message, again.beside(all))
            }
            false => Finding::skipped(CHECK, "", "no webhook of Portcullis is registered"),
        });
        return found;
    }
    for one in all {
        found.extend(lockout::check(one, namespaces));
        let deadline = loaded.map(|loaded| loaded.limits.deadline.into());
        found.extend(timeout(one, deadline));
        if let (Some(loaded), Some(needed)) = (loaded, &needed) {
            found.extend(failure_policy(one, needed));
            if loaded
                .listeners
                .iter()
                .all(|listener| listener.style == Style::Doors)
            {
                found.extend(path(one, needed, again));
            }
            found.extend(authority(one, again, chains, now));
        }
    }
    if let (Some(loaded), Some(needed)) = (loaded, &needed) {
        found.extend(coverage(all, needed, again, loaded.pending_mutation));
    }
    found
}

/// Whether the API server waits for the reason of a denial.
fn timeout(one: &Registered, deadline: Option<std::time::Duration>) -> Option<Finding> {
    let deadline = deadline?;
    let seconds = one.timeout();
    if std::time::Duration::from_secs(seconds) > deadline {
        return None;
    }
    let message = format!(
        "the API server waits for {seconds}s, and policies may take {deadline:?}: it gives up before they are done"
    );
    let fix = "raise timeoutSeconds, or lower `limits.deadline`";
    Some(Finding::warning(CHECK, one.place(), message, fix))
}

/// Whether requests pass that were not judged.
fn failure_policy(one: &Registered, needed: &Registration) -> Option<Finding> {
    if one.fails_closed() || needed.fails_open {
        return None;
    }
    let message =
        "failurePolicy is Ignore: requests pass unjudged while Portcullis does not answer";
    let fix = "set failurePolicy: Fail, or `failure: open` for the plug-ins if that is intended";
    Some(Finding::warning(CHECK, one.place(), message, fix))
}

/// Whether there is something at the path, and the right thing.
fn path(one: &Registered, needed: &Registration, again: Again<'_>) -> Option<Finding> {
    let path = match one.target() {
        Target::Url { path, .. } | Target::Service { path, .. } => path,
        Target::Unknown => {
            let message = "clientConfig names neither a URL nor a Service";
            return Some(Finding::problem(CHECK, one.place(), message, again.of(one)));
        }
    };
    let first = path
        .trim_start_matches('/')
        .split('/')
        .next()
        .unwrap_or_default();
    if !ADMISSION_PATHS.contains(&first) {
        let message = format!("`{path}` is not a path of reviews");
        let fix = format!("use /{}", ADMISSION_PATHS.join(", /"));
        return Some(Finding::problem(CHECK, one.place(), message, fix));
    }
    match (one.phase, first == "validate") {
        (Phase::Mutating, true) => {
            let message = format!("`{path}` never returns changes of objects");
            Some(Finding::problem(CHECK, one.place(), message, "use /mutate"))
        }
        (Phase::Validating, false) if needed.may_change => {
            let message =
                format!("`{path}` returns changes of objects, which are not permitted here");
            Some(Finding::problem(
                CHECK,
                one.place(),
                message,
                "use /validate",
            ))
        }
        _ => None,
    }
}

/// Whether the API server trusts the certificate that is shown.
fn authority(
    one: &Registered,
    again: Again<'_>,
    chains: &[Vec<Certificate>],
    now: SystemTime,
) -> Option<Finding> {
    let name = match one.target() {
        Target::Url { host, .. } => host,
        Target::Service {
            namespace, name, ..
        } => format!("{name}.{namespace}.svc"),
        Target::Unknown => return None,
    };
    let place = one.place();
    let Some(bundle) = one
        .text("/clientConfig/caBundle")
        .filter(|text| !text.is_empty())
    else {
        let message = "has no caBundle: only the CAs of the API server's machine are trusted";
        return Some(Finding::warning(CHECK, place, message, again.of(one)));
    };
    let Ok(trusted) = BASE64_STANDARD.decode(bundle) else {
        return Some(Finding::problem(
            CHECK,
            place,
            "caBundle is not valid base64",
            again.of(one),
        ));
    };
    if chains.is_empty() {
        let message = "the certificate of the listener is not known here, so caBundle is not compared with it";
        return Some(Finding::skipped(CHECK, place, message));
    }
    let mut checked = chains
        .iter()
        .map(|chain| check_server(chain, &trusted, &name, now));
    let failed = checked.try_fold(None, |_, outcome| match outcome {
        Ok(()) => Err(()),
        Err(why) => Ok(Some(why)),
    });
    Some(match failed {
        Err(()) => Finding::ok(
            CHECK,
            place,
            format!("caBundle is the CA of the certificate for {name}"),
        ),
        Ok(why) => {
            let why = why.map(|why| why.to_string()).unwrap_or_default();
            let message = format!(
                "the API server would not trust the listener's certificate as {name}: {why}"
            );
            let fix = "put the CA of the certificate into caBundle, or issue the certificate for this name";
            Finding::problem(CHECK, place, message, fix)
        }
    })
}

/// Whether the API server asks about everything that is judged.
fn coverage(
    all: &[Registered],
    needed: &Registration,
    again: Again<'_>,
    pending: PendingMutation,
) -> Vec<Finding> {
    let mut found = Vec::new();
    for phase in Phase::ALL {
        let is_needed = match phase {
            Phase::Mutating => needed.may_change,
            Phase::Validating => needed.may_deny,
        };
        if !is_needed {
            continue;
        }
        let mut registered = all.iter().filter(|one| one.phase == phase).peekable();
        if registered.peek().is_none() {
            let message = match phase {
                Phase::Mutating if pending == PendingMutation::Refuse => continue,
                Phase::Mutating => {
                    "no mutating webhook is registered: changes by plug-ins and policies are ignored"
                }
                Phase::Validating => {
                    "no validating webhook is registered: what other webhooks change later is not judged"
                }
            };
            found.push(Finding::warning(CHECK, "", message, again.beside(all)));
            continue;
        }
        let rules: Vec<_> = registered.flat_map(Registered::rules).collect();
        let mut missing: Vec<String> = Vec::new();
        for rule in &needed.rules {
            missing.extend(rule.missing_in(&rules));
        }
        if missing.is_empty() {
            let message = format!(
                "the {} rules name everything that is judged",
                phase.as_str()
            );
            found.push(Finding::ok(CHECK, "", message));
            continue;
        }
        let more = match missing.len().saturating_sub(MOST) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        missing.truncate(MOST);
        let message = format!(
            "the {} rules leave out what the configuration judges: {}{more}",
            phase.as_str(),
            missing.join(", ")
        );
        let of_phase = all.iter().find(|one| one.phase == phase);
        let fix = of_phase.map_or_else(|| again.beside(all), |one| again.of(one));
        found.push(Finding::warning(CHECK, "", message, fix));
    }
    found
}

#[cfg(test)]
mod tests;
