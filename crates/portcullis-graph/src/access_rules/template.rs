//! Strings with placeholders for what the subject's pattern captured: `seed-{name}`.
//!
//! They are compared piece by piece; no string is built.

use portcullis_core::braces::{self, Token};

use super::captures::{CaptureNames, Values};

#[derive(Debug, Clone, PartialEq, Eq)]
enum Piece {
    Text(Box<str>),
    Capture(u8),
}

/// A text with places.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Template(Box<[Piece]>);

/// Takes a text with braces apart, in which letters, digits and `_` stand.
///
/// # Errors
///
/// What is wrong with its braces, or with what stands in them.
pub(super) fn tokens(text: &str) -> Result<Vec<Token<'_>>, String> {
    let tokens = braces::tokens(text)?;
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let wrong = tokens.iter().find_map(|token| match token {
        Token::Name(name) if name.is_empty() || !name.chars().all(plain) => Some(name),
        _ => None,
    });
    match wrong {
        Some(name) => Err(format!("invalid name in braces `{{{name}}}`")),
        None => Ok(tokens),
    }
}

/// Why a string is not a template.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum TemplateFault {
    /// Its braces are wrong.
    Braces(String),
    /// No subject captures this.
    Unknown(String),
}

impl Template {
    /// Reads a text.
    ///
    /// # Errors
    ///
    /// What is wrong with it.
    pub(super) fn parse(text: &str, names: &CaptureNames) -> Result<Self, TemplateFault> {
        let mut pieces: Vec<Piece> = Vec::new();
        for token in tokens(text).map_err(TemplateFault::Braces)? {
            match token {
                Token::Text(text) => pieces.push(Piece::Text(text.into())),
                Token::Name(name) => {
                    let number = names.find(name);
                    let unknown = || TemplateFault::Unknown(name.to_owned());
                    pieces.push(Piece::Capture(number.ok_or_else(unknown)?));
                }
            }
        }
        Ok(Self(pieces.into()))
    }

    /// The numbers of the names in it.
    pub(super) fn captures(&self) -> impl Iterator<Item = u8> {
        self.0.iter().filter_map(|piece| match piece {
            Piece::Text(_) => None,
            Piece::Capture(number) => Some(*number),
        })
    }

    /// Whether it is empty whatever it is filled with.
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The one place it consists of, if it does.
    pub(super) fn only_capture(&self) -> Option<u8> {
        match *self.0 {
            [Piece::Capture(number)] => Some(number),
            _ => None,
        }
    }

    /// The text it is whatever it is filled with, if there is one.
    pub(super) fn only_text(&self) -> Option<&str> {
        match &*self.0 {
            [] => Some(""),
            [Piece::Text(text)] => Some(text),
            _ => None,
        }
    }

    /// Whether it is just this text.
    pub(super) fn is(&self, values: &impl Values, text: &str) -> bool {
        self.rest_of(values, text).is_some_and(str::is_empty)
    }

    /// Whether this text begins with it.
    pub(super) fn begins(&self, values: &impl Values, text: &str) -> bool {
        self.rest_of(values, text).is_some()
    }

    fn rest_of<'t>(&self, values: &impl Values, text: &'t str) -> Option<&'t str> {
        self.0.iter().try_fold(text, |rest, piece| match piece {
            Piece::Text(text) => rest.strip_prefix(&**text),
            Piece::Capture(number) => rest.strip_prefix(values.value(*number)),
        })
    }

    /// The text, built.
    pub(super) fn expand(&self, values: &impl Values) -> String {
        let pieces = self.0.iter().map(|piece| match piece {
            Piece::Text(text) => &**text,
            Piece::Capture(number) => values.value(*number),
        });
        pieces.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::super::captures::{Captured, NAME, NAMESPACE};
    use super::*;

    fn filled(text: &str) -> (Template, Captured<'static>) {
        let mut values = Captured::default();
        values.set(NAME, "s1");
        values.set(NAMESPACE, "garden");
        let template = Template::parse(text, &CaptureNames::default()).unwrap();
        (template, values)
    }

    #[test]
    fn compares_as_the_built_text_does() {
        let texts = [
            "",
            "s1",
            "seed-s1",
            "seed-s",
            "seed-s11",
            "garden/s1",
            "s1s1",
            "{s1}",
            "seed-",
        ];
        for template in [
            "",
            "{name}",
            "seed-{name}",
            "{namespace}/{name}",
            "{name}{name}",
            "{{{name}}}",
        ] {
            let (template, values) = filled(template);
            let built = template.expand(&values);
            for text in texts {
                assert_eq!(template.is(&values, text), text == built, "{built} {text}");
                assert_eq!(
                    template.begins(&values, text),
                    text.starts_with(&built),
                    "{built} {text}"
                );
            }
        }
    }

    #[test]
    fn refuses_unknown_names_and_lone_braces() {
        let parse = |text| Template::parse(text, &CaptureNames::default());
        assert_eq!(parse("a{seed}"), Err(TemplateFault::Unknown("seed".into())));
        for text in ["{", "}", "{name", "a}b", "{}", "{a b}", "{subject.name}"] {
            assert!(
                matches!(parse(text), Err(TemplateFault::Braces(_))),
                "{text}"
            );
        }
    }
}
