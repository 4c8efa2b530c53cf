//! Shared vocabularies: closed sets of names, each defined in one place.
//!
//! [`vocabulary!`](crate::vocabulary!) makes an enum of them with its names for messages, JSON, the command
//! line and the configuration. What the names mean is documented with each enum.

/// A string that is not one of the expected words.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown value `{text}`: expected one of {}", known.join(", "))]
pub struct UnknownWord {
    /// The text.
    pub text: String,
    /// The words.
    pub known: &'static [&'static str],
}

/// Makes an enum whose variants are words: `ALL` of them in order, `as_str`, and the same word in
/// `Display`, `FromStr`, `Serialize` and `Deserialize`.
#[macro_export]
macro_rules! vocabulary {
    (
        $(#[$of_enum:meta])*
        $vis:vis enum $name:ident {
            $($(#[$of_word:meta])* $word:ident = $text:literal,)+
        }
    ) => {
        $(#[$of_enum])*
        #[derive(
            Debug, Clone, Copy, PartialEq, Eq, Hash, ::serde::Serialize, ::serde::Deserialize,
        )]
        $vis enum $name {
            $($(#[$of_word])* #[serde(rename = $text)] $word,)+
        }

        impl $name {
            /// All of them, in the order in which people list them.
            $vis const ALL: [Self; [$($text),+].len()] = [$(Self::$word),+];

            /// The word.
            $vis const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$word => $text,)+
                }
            }
        }

        impl ::std::fmt::Display for $name {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                f.pad(self.as_str())
            }
        }

        impl ::std::str::FromStr for $name {
            type Err = $crate::UnknownWord;

            fn from_str(text: &str) -> Result<Self, Self::Err> {
                match text {
                    $($text => Ok(Self::$word),)+
                    _ => Err($crate::UnknownWord {
                        text: text.to_owned(),
                        known: &[$($text),+],
                    }),
                }
            }
        }
    };
}

#[cfg(test)]
mod tests {
    use std::fmt::{Debug, Display};
    use std::str::FromStr;

    use serde::Serialize;
    use serde::de::DeserializeOwned;

    use crate::{
        Door, FailureMode, HostFunction, Operation, OpinionKind, Phase, PolicyLimit, PolicyMode,
        PolicyOutcome, StepOutcome,
    };

    fn check<W>(all: &[W], texts: &[&str])
    where
        W: Copy + PartialEq + Debug + Display + FromStr + Serialize + DeserializeOwned,
    {
        assert_eq!(all.len(), texts.len(), "{texts:?}");
        for (word, text) in all.iter().zip(texts) {
            assert_eq!(word.to_string(), *text);
            assert_eq!(text.parse::<W>().ok(), Some(*word), "{text}");
            let json = serde_json::to_string(word).unwrap();
            assert_eq!(json, format!("\"{text}\""));
            assert_eq!(serde_json::from_str::<W>(&json).unwrap(), *word);
        }
        assert!("".parse::<W>().is_err());
        assert!(serde_json::from_str::<W>("\"\"").is_err());
    }

    /// Records, configurations and metrics have these words: none may change.
    #[test]
    fn the_words_are_those_that_were_written_down() {
        check(&Door::ALL, &["kubernetes", "authorization", "ci", "api"]);
        check(&Operation::ALL, &["CREATE", "UPDATE", "DELETE", "CONNECT"]);
        check(&Phase::ALL, &["admit", "validate"]);
        check(
            &StepOutcome::ALL,
            &[
                "skipped", "passed", "changed", "denied", "error", "timeout", "panic",
            ],
        );
        check(&PolicyMode::ALL, &["enforce", "warn", "dry-run"]);
        check(
            &PolicyOutcome::ALL,
            &["allow", "deny", "pass", "skip", "warn", "error"],
        );
        check(&PolicyLimit::ALL, &["deadline", "memory", "stack"]);
        check(
            &HostFunction::ALL,
            &[
                "cosignVerify",
                "slsaVerify",
                "slsaEnsureComingFrom",
                "forwardToAdmissionController",
                "kube.get",
                "kube.list",
                "webhook",
                "imageReview",
                "$harness",
            ],
        );
        check(&OpinionKind::ALL, &["allow", "deny", "no_opinion"]);
        check(&FailureMode::ALL, &["closed", "open"]);
    }

    #[test]
    fn a_text_that_is_none_of_them_is_named_with_those_that_are() {
        let error = "Admit".parse::<Phase>().unwrap_err();
        let wanted = "unknown value `Admit`: expected one of admit, validate";
        assert_eq!(error.to_string(), wanted);
        assert_eq!(format!("{:>9}|", Phase::Admit), "    admit|");
    }
}
