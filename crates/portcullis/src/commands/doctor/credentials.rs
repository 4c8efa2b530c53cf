//! What is used to sign in to a cluster: does it expire, and can others read it?

use std::time::SystemTime;

use portcullis_files::{Use, check_named};
use portcullis_watch::Access;

use super::certificates;
use super::finding::Finding;

const CHECK: &str = "credentials";

/// Checks a kubeconfig.
pub(super) fn check(access: &Access, now: SystemTime) -> Vec<Finding> {
    let Access::Kubeconfig(path) = access else {
        return Vec::new();
    };
    let place = path.display().to_string();
    let fix = format!("let only its user read it: chmod 600 {place}");
    let mut found = match check_named(path, Use::Key) {
        Ok(None) => Vec::new(),
        Ok(Some(odd)) => vec![Finding::warning(CHECK, &place, odd, &fix)],
        Err(why) => vec![Finding::problem(CHECK, &place, why, &fix)],
    };
    match access.credentials() {
        Err(error) => found.push(Finding::problem(
            CHECK,
            &place,
            error,
            "write the kubeconfig again",
        )),
        Ok(Some(credentials)) => {
            let place = format!("{place} (user {})", credentials.user);
            if let Some(facts) = &credentials.certificate {
                found.push(certificates::validity(CHECK, &place, facts, now));
            }
        }
        Ok(None) => {}
    }
    found
}
