//! Certificates of listeners and their CAs: can they be read, and how long are they valid?

use std::path::Path;
use std::time::{Duration, SystemTime};

use portcullis_config::{Identity, Loaded};
use portcullis_net::{Certificate, CertificateFacts, certificates};

use super::finding::{Finding, Findings};
use crate::commands::text::plain::roughly;

/// The name of the check.
pub(super) const CHECK: &str = "certificates";
/// Larger files are not certificates.
const LARGEST: u64 = 1 << 20;
/// Certificates that live long are renewed in time if they have so long.
const ENOUGH: Duration = Duration::from_secs(30 * 86_400);

/// Checks the certificates of every listener.
pub(super) fn check(loaded: &Loaded, now: SystemTime, findings: &mut Findings) {
    let mut has_tls = false;
    for listener in &loaded.listeners {
        let Some(tls) = &listener.tls else {
            continue;
        };
        has_tls = true;
        let name = &listener.name;
        match &tls.identity {
            Identity::Files { certificate, .. } => {
                findings.extend(of_file(certificate, &format!("listener {name}"), now));
            }
            Identity::Managed(managed) => findings.add(Finding::skipped(
                CHECK,
                format!("listener {name}"),
                format!(
                    "managed by the server: it is in the Secret {}",
                    managed.secret
                ),
            )),
            Identity::Development => findings.add(Finding::warning(
                CHECK,
                format!("listener {name}"),
                "a development certificate, which only this machine trusts",
                "configure `certificate` and `key` for anything but trying it out",
            )),
        }
        if let Some(authority) = &tls.client_ca {
            let whose = format!("client CA of listener {name}");
            findings.extend(of_file(authority, &whose, now));
        }
    }
    if !has_tls {
        findings.add(Finding::skipped(CHECK, "", "no listener has TLS"));
    }
}

/// The certificates of a file.
pub(super) fn read(file: &Path) -> Result<Vec<Certificate>, String> {
    let text = portcullis_files::read(file, LARGEST)?;
    certificates(&text).map_err(|error| error.to_string())
}

fn of_file(file: &Path, whose: &str, now: SystemTime) -> Vec<Finding> {
    let place = format!("{} ({whose})", file.display());
    let fix = "write the certificate again, in PEM format";
    let chain = match read(file) {
        Ok(chain) => chain,
        Err(why) => return vec![Finding::problem(CHECK, place, why, fix)],
    };
    let facts = chain.iter().map(CertificateFacts::of);
    let each = facts.map(|facts| match facts {
        Ok(facts) => validity(CHECK, &place, &facts, now),
        Err(why) => Finding::problem(CHECK, &place, why, fix),
    });
    each.collect()
}

/// Whether a certificate is valid, and for how long.
pub(super) fn validity(
    check: &'static str,
    place: &str,
    facts: &CertificateFacts,
    now: SystemTime,
) -> Finding {
    let who = &facts.subject;
    let since = |from: SystemTime, to: SystemTime| to.duration_since(from).unwrap_or_default();
    let words = |time: Duration| roughly(time.as_secs());
    if now > facts.not_after {
        let ago = words(since(facts.not_after, now));
        let message = format!("{who} expired {ago} ago");
        return Finding::problem(
            check,
            place,
            message,
            "renew it; a running server takes up the new file",
        );
    }
    if now < facts.not_before {
        let left = words(since(now, facts.not_before));
        let message = format!("{who} is not valid yet, but in {left}");
        return Finding::problem(
            check,
            place,
            message,
            "check the clock of this machine, or issue it again",
        );
    }
    let left = since(now, facts.not_after);
    // Short-lived ones are renewed later in their life.
    let enough = ENOUGH.min(since(facts.not_before, facts.not_after) / 4);
    let message = format!("{who} expires in {}", words(left));
    match left < enough {
        true => Finding::warning(
            check,
            place,
            message,
            "renew it; a running server takes up the new file",
        ),
        false => Finding::ok(check, place, message),
    }
}

#[cfg(test)]
mod tests {
    use super::super::finding::State;
    use super::*;

    const DAY: u64 = 86_400;

    fn facts(from: u64, to: u64) -> CertificateFacts {
        let day = |day: u64| SystemTime::UNIX_EPOCH + Duration::from_secs(day * DAY);
        CertificateFacts {
            subject: "CN=gate".to_owned(),
            issuer: "CN=ca".to_owned(),
            not_before: day(from),
            not_after: day(to),
            is_authority: false,
            names: Vec::new(),
        }
    }

    #[test]
    fn certificates_are_judged_by_what_is_left() {
        let now = SystemTime::UNIX_EPOCH + Duration::from_secs(1000 * DAY);
        for (from, to, expected) in [
            (0, 999, State::Problem),
            (1001, 2000, State::Problem),
            (0, 1010, State::Warning),
            (0, 1031, State::Ok),
            // A week of life.
            (999, 1006, State::Ok),
            (994, 1001, State::Warning),
        ] {
            let found = validity(CHECK, "tls.crt", &facts(from, to), now);
            assert_eq!(found.state, expected, "{from} {to}: {found:?}");
            assert_eq!(found.fix.is_some(), expected != State::Ok);
        }
    }

    #[test]
    fn what_is_not_a_certificate_is_a_problem() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("tls.crt");
        for text in [
            "",
            "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n",
        ] {
            std::fs::write(&file, text).unwrap();
            let found = of_file(&file, "listener hooks", SystemTime::UNIX_EPOCH);
            assert!(
                found.iter().all(|one| one.state == State::Problem),
                "{found:?}"
            );
            assert_eq!(found.len(), 1);
        }
        let found = of_file(&dir.path().join("none"), "x", SystemTime::UNIX_EPOCH);
        assert_eq!(found[0].state, State::Problem);
    }
}
