//! Cursors: what a runner that got nothing says the next time.
//!
//! One whose cursor is current is held until there is a job. A cursor of another server can't be compared with what this
//! one knows; its runner is held as well, or behind a load balancer none would ever be.

/// Whether a request with this cursor is held.
pub(super) fn is_current(cursor: Option<&str>, server: &str, changed: u64) -> bool {
    let Some((of_server, of_change)) = cursor.and_then(|cursor| cursor.split_once('.')) else {
        return false;
    };
    let Ok(of_change) = u64::from_str_radix(of_change, 16) else {
        return false;
    };
    of_server != short(server) || of_change == changed
}

/// The cursor of a runner for which what there is last changed then.
pub(super) fn write(server: &str, changed: u64) -> String {
    format!("{}.{changed:x}", short(server))
}

/// A name that is short enough for a header.
fn short(server: &str) -> &str {
    let start = server.len().saturating_sub(16);
    server.get(start..).unwrap_or(server)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_is_current_until_something_changes_for_its_runner() {
        let cursor = write("server-0123456789abcdef", 17);
        assert!(is_current(Some(&cursor), "server-0123456789abcdef", 17));
        assert!(!is_current(Some(&cursor), "server-0123456789abcdef", 18));
        assert!(is_current(Some(&cursor), "server-another", 3));
        for none in [None, Some(""), Some("x"), Some("x.y"), Some("2026-11-18")] {
            assert!(!is_current(none, "server-0123456789abcdef", 17), "{none:?}");
        }
    }
}
