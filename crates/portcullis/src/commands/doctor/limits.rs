//! Whether the system lets the server open as many files and connections as it may have.

use portcullis_config::Loaded;
use rustix::process::{Resource, getrlimit};

use super::finding::{Finding, Findings};

const CHECK: &str = "open files";
/// Files, databases, watches and evaluation processes besides connections.
const OTHERS: u64 = 256;

/// Checks the limits of this process, which a server started here would have.
pub(super) fn check(loaded: &Loaded, findings: &mut Findings) {
    let limit = getrlimit(Resource::Nofile).current;
    findings.add(judged(limit, loaded.limits.connections));
}

fn judged(limit: Option<u64>, connections: u32) -> Finding {
    let needed = u64::from(connections) + OTHERS;
    match limit {
        Some(limit) if limit < needed => {
            let message = format!(
                "a server started here could open {limit} files, and `limits.connections` is {connections}"
            );
            let fix = format!(
                "raise the limit to {needed} (`ulimit -n`, or `LimitNOFILE=` of the unit), or lower `limits.connections`"
            );
            Finding::warning(CHECK, "", message, fix)
        }
        _ => Finding::ok(CHECK, "", format!("enough for {connections} connections")),
    }
}

#[cfg(test)]
mod tests {
    use super::super::finding::State;
    use super::*;

    #[test]
    fn connections_need_files() {
        for (limit, expected) in [
            (None, State::Ok),
            (Some(1024), State::Warning),
            (Some(65_536), State::Ok),
        ] {
            assert_eq!(judged(limit, 4096).state, expected);
        }
    }
}
