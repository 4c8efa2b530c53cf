//! What is wrong, for the person at the terminal.

use super::plain::printable;
use crate::output;

/// Tells it; further lines say more.
pub(in crate::commands) fn tell(text: &str) {
    output::tell(&format!("error: {}", lines(text)));
}

/// Each line by itself holds nothing but text.
pub(in crate::commands) fn lines(text: &str) -> String {
    let clean: Vec<_> = text.lines().map(printable).collect();
    clean.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_stay_lines_and_hold_only_text() {
        assert_eq!(lines("a\u{1b}[2J\n  b\tc"), "a\\u{1b}[2J\n  b\\tc");
    }
}
