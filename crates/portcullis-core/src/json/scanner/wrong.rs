//! What can be wrong with a text, and the message for each.

use std::borrow::Cow;

use super::Scanner;
use crate::json::MAX_DEPTH;
use crate::text::shortened;

/// What is wrong, and where. Small, because it is part of every result on the way.
pub(in crate::json) struct Wrong {
    pub(in crate::json) at: usize,
    pub(in crate::json) what: What,
}

#[derive(Clone, Copy)]
pub(in crate::json) enum What {
    NoValue,
    Value,
    Early,
    EarlyInString,
    After,
    CommaOrBrace,
    CommaOrBracket,
    Key,
    Colon,
    Depth,
    Control,
    Escape,
    Surrogate,
    Number,
    LeadingZero,
    Digit,
    Range,
    /// The key that was just read.
    Twice,
}

impl Scanner<'_> {
    /// The message for a fault.
    pub(in crate::json) fn message(&self, what: What) -> Cow<'static, str> {
        Cow::Borrowed(match what {
            What::NoValue => "expected a value, found nothing",
            What::Value => "expected a value",
            What::Early => "the text ends too early",
            What::EarlyInString => "the text ends inside a string",
            What::After => "unexpected text after the end",
            What::CommaOrBrace => "expected `,` or `}`",
            What::CommaOrBracket => "expected `,` or `]`",
            What::Key => "expected a key in quotes",
            What::Colon => "expected `:`",
            What::Control => "control character in a string",
            What::Escape => "invalid escape",
            What::Surrogate => "half a surrogate pair",
            What::Number => "invalid number",
            What::LeadingZero => "a number can't start with 0",
            What::Digit => "expected a digit",
            What::Range => "number out of range",
            What::Depth => return format!("nested deeper than {MAX_DEPTH} levels").into(),
            What::Twice => {
                let key = self
                    .keys
                    .last()
                    .map(|k| String::from_utf8_lossy(self.meant(*k)));
                return format!(
                    "duplicate key `{}`",
                    shortened(&key.unwrap_or_default(), 64)
                )
                .into();
            }
        })
    }
}
