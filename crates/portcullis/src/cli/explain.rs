//! The command line of `portcullis explain`.

use clap::{Args, ValueEnum};

use super::Store;

#[derive(Debug, Args)]
pub(crate) struct Explain {
    /// The decision, or the beginning of its id (6 characters or more). It is in the answer, in the audit
    /// annotation `decision-id`, and in lists.
    #[arg(value_name = "DECISION-ID", value_parser = decision_id)]
    pub(crate) id: String,
    /// How to print it.
    #[arg(short, long, value_enum, default_value_t = ExplainOutput::Text)]
    pub(crate) output: ExplainOutput,
    #[command(flatten)]
    pub(crate) store: Store,
}

/// How a decision is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ExplainOutput {
    /// For people.
    Text,
    /// Everything that is kept of it.
    Json,
    /// The same as YAML.
    Yaml,
    /// The same on one line: what `replay --file` reads.
    Jsonl,
}

/// Characters of a whole id.
pub(crate) const DECISION_ID: usize = 26;

/// The shortest beginning that is looked for.
const SHORTEST: usize = 6;

/// A ULID: 26 characters of Crockford's alphabet, in either case, that come to 128 bits; or how it begins.
fn decision_id(text: &str) -> Result<String, String> {
    let id = text.trim().to_ascii_uppercase();
    let is_digit = |b: u8| b.is_ascii_digit() || b.is_ascii_uppercase() && !b"ILOU".contains(&b);
    let is_id = (SHORTEST..=DECISION_ID).contains(&id.len())
        && id.bytes().all(is_digit)
        && id.starts_with(|c| c <= '7');
    match is_id {
        true => Ok(id),
        false => Err(
            "a decision's id has 26 letters and digits, like 01JD8QZ1V3M5T7X9Y2B4C6D8F0; its first 6 or more are enough".to_owned(),
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_read_in_either_case() {
        let id = "01JD8QZ1V3M5T7X9Y2B4C6D8F0";
        assert_eq!(decision_id(id).as_deref(), Ok(id));
        assert_eq!(decision_id(&id.to_lowercase()).as_deref(), Ok(id));
        assert!(decision_id("7ZZZZZZZZZZZZZZZZZZZZZZZZZ").is_ok());
        assert_eq!(decision_id("01jd8q").as_deref(), Ok("01JD8Q"));
        for wrong in [
            "",
            "01JD8",
            "01JD8QZ1V3M5T7X9Y2B4C6D8F00",
            "01JD8QZ1V3M5T7X9Y2B4C6D8FU",
            "8ZZZZZZZZZZZZZZZZZZZZZZZZZ",
            "01JD8Q…K4",
            "../../../../../etc/passwd0",
        ] {
            assert!(decision_id(wrong).is_err(), "{wrong}");
        }
    }
}
