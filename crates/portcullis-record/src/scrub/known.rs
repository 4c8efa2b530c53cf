//! The secrets of a request, to be looked for elsewhere in the same review.

use super::MOST;
use super::forms::Forms;
use crate::mask::Secret;
pub(crate) use crate::search::known::Known;

/// Shortest line of a longer secret that is looked for by itself.
const SHORTEST_LINE: usize = 16;

impl<'a> Known<'a> {
    /// Those of these secrets that count; none of them is what is public anyway.
    pub(crate) fn new(secrets: &'a [Secret<'a>], public: &'a [&'a str]) -> Self {
        let is_blind = secrets.len() > MOST;
        let mut needles = Vec::new();
        if !is_blind && secrets.iter().any(|secret| secret.is_everywhere) {
            let mut forms = Forms::with_lines(public, SHORTEST_LINE);
            for secret in secrets.iter().filter(|secret| secret.is_everywhere) {
                forms.add_known(secret);
            }
            needles = forms.into_needles();
        }
        Self::of_needles(needles, public, is_blind)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn secrets(values: &[&'static str]) -> Vec<Secret<'static>> {
        values.iter().map(|value| Secret::plain(*value)).collect()
    }

    #[test]
    fn a_secret_is_found_wherever_it_begins() {
        let secrets = secrets(&["hunter2!", "s3cret", "tab\tand \"quote\""]);
        let known = Known::new(&secrets, &[]);
        for around in 0..9 {
            for secret in ["hunter2!", "s3cret", "tab\\tand \\\"quote\\\""] {
                let text = format!("{}{secret}{}", "x".repeat(around), "y".repeat(9 - around));
                assert!(known.may_be_in(text.as_bytes()), "{text}");
            }
        }
        // In base64, as it is in a Secret.
        assert!(known.is_in("data: aHVudGVyMiE="));
        for harmless in ["hunter2", "s3cre", "", "tab", "xhunter2?"] {
            assert!(!known.is_in(harmless), "{harmless}");
        }
    }

    #[test]
    fn short_values_numbers_and_public_names_are_not_looked_for() {
        let secrets = secrets(&["short", "100000", "production", "12345678"]);
        let known = Known::new(&secrets, &["production"]);
        assert!(!known.is_in("short 100000 production"));
        assert!(known.is_in("x12345678x"));
        assert!(known.is_number("12345678") && !known.is_number("100000"));
        let weak = [Secret {
            is_everywhere: false,
            ..Secret::plain("registry.example/app:1")
        }];
        assert!(Known::new(&weak, &[]).is_empty());
    }
}
