//! The command line of `portcullis explain`.

use clap::{Args, ValueEnum};

use super::Store;

#[derive(Debug, Args)]
pub(crate) struct Explain {
    /// The decision: it stands in the answer, in the audit annotation `decision-id`, and in lists.
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

/// A ULID: 26 characters of Crockford's alphabet, in either case, that come to 128 bits.
fn decision_id(text: &str) -> Result<String, String> {
    let id = text.trim().to_ascii_uppercase();
    let is_digit = |b: u8| b.is_ascii_digit() || b.is_ascii_uppercase() && !b"ILOU".contains(&b);
    let is_id = id.len() == 26 && id.bytes().all(is_digit) && id.starts_with(|c| c <= '7');
    match is_id {
        true => Ok(id),
        false => Err(
            "a decision's id has 26 letters and digits, like 01JD8QZ1V3M5T7X9Y2B4C6D8F0".to_owned(),
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
        for wrong in [
            "",
            "01JD8QZ1V3M5T7X9Y2B4C6D8F",
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
