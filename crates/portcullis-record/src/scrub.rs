//! Free texts without the secrets that were masked elsewhere.
//!
//! A policy may repeat a secret in a message, a warning, a host call or a patch. Every masked value of
//! four bytes or more is looked for: as it is, decoded from base64, encoded in it, and as JSON writes
//! these. A text that was cut inside a secret ends with its beginning: four bytes of it are enough there.

mod forms;
pub(crate) mod known;

use std::borrow::Cow;

use serde_json::{Map, Value};

use crate::mask::{MASKED, Secret, credentials};
use crate::search::Search;

/// More secrets are not looked for: then no text is kept.
const MOST: usize = 20_000;

/// Takes the secrets of one request out of texts.
#[derive(Debug)]
pub struct Scrubber<'a> {
    search: Search<'a>,
    /// No text can be proved to be free of secrets.
    is_blind: bool,
}

impl<'a> Scrubber<'a> {
    /// One that looks for these, but not for what is public anyway.
    pub(crate) fn new(secrets: &'a [Secret<'a>], public: &[&str]) -> Self {
        if secrets.len() > MOST {
            return Self::blind();
        }
        let mut search = forms::Forms::new(public);
        for secret in secrets {
            search.add(secret);
        }
        Self {
            search: Search::new(search.into_needles()),
            is_blind: false,
        }
    }

    /// One that lets nothing pass.
    pub(crate) fn blind() -> Self {
        Self {
            search: Search::new(Vec::new()),
            is_blind: true,
        }
    }

    /// The text without them.
    pub fn scrub<'t>(&self, text: &'t str) -> Cow<'t, str> {
        if self.is_blind && !text.is_empty() {
            return Cow::Borrowed(MASKED);
        }
        match self.search.replaced(text, MASKED) {
            None => credentials::without_secrets(text),
            Some(text) => Cow::Owned(credentials::without_secrets(&text).into_owned()),
        }
    }

    /// Puts the scrubbed text in the place of the text.
    pub(crate) fn scrub_in_place(&self, text: &mut String) {
        if let Cow::Owned(scrubbed) = self.scrub(text) {
            *text = scrubbed;
        } else if self.is_blind && !text.is_empty() {
            MASKED.clone_into(text);
        }
    }

    /// A tree without them, names of members included.
    pub(crate) fn scrub_value(&self, value: &mut Value) {
        match value {
            Value::Null | Value::Bool(_) => {}
            Value::Number(number) => {
                if self.is_blind || self.search.is_needle(&number.to_string()) {
                    *value = Value::from(0);
                }
            }
            Value::String(text) => {
                if self.hides_secrets(text) {
                    MASKED.clone_into(text);
                } else {
                    self.scrub_in_place(text);
                }
            }
            Value::Array(list) => list
                .iter_mut()
                .for_each(|element| self.scrub_value(element)),
            Value::Object(object) => {
                let is_changed = |key: &String| matches!(self.scrub(key), Cow::Owned(_));
                if self.is_blind || object.keys().any(is_changed) {
                    let scrubbed = |(key, value): (String, Value)| {
                        let key = self.scrub(&key).into_owned();
                        (key, value)
                    };
                    *object = std::mem::take(object)
                        .into_iter()
                        .map(scrubbed)
                        .collect::<Map<_, _>>();
                }
                object
                    .values_mut()
                    .for_each(|value| self.scrub_value(value));
            }
        }
    }

    /// Whether a text is base64 of something with secrets in it, like a patch in an answer.
    fn hides_secrets(&self, text: &str) -> bool {
        if text.len() < 16 || self.search.is_empty() {
            return false;
        }
        forms::decoded(text).is_some_and(|decoded| {
            let decoded = String::from_utf8_lossy(&decoded);
            matches!(self.scrub(&decoded), Cow::Owned(_))
        })
    }
}
