//! Words in a record: those of this version as their meaning, those of other versions as written.

use std::fmt;
use std::marker::PhantomData;
use std::str::FromStr;

use serde::de::{Error, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A word in a record. Another version may have written words that this one doesn't know: they are kept
/// and shown, and are equal to none that is known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Recorded<T> {
    /// A word of this version.
    Known(T),
    /// A word of another version.
    Unknown(Box<str>),
}

impl<T> Recorded<T> {
    /// What it means, if that is known.
    pub fn known(&self) -> Option<&T> {
        match self {
            Self::Known(word) => Some(word),
            Self::Unknown(_) => None,
        }
    }
}

impl<T> From<T> for Recorded<T> {
    fn from(word: T) -> Self {
        Self::Known(word)
    }
}

impl<T: PartialEq> PartialEq<T> for Recorded<T> {
    fn eq(&self, word: &T) -> bool {
        self.known() == Some(word)
    }
}

impl<T: fmt::Display> fmt::Display for Recorded<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Known(word) => word.fmt(f),
            Self::Unknown(text) => f.pad(text),
        }
    }
}

impl<T: Serialize> Serialize for Recorded<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Known(word) => word.serialize(serializer),
            Self::Unknown(text) => serializer.serialize_str(text),
        }
    }
}

impl<'de, T: FromStr> Deserialize<'de> for Recorded<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_str(Word(PhantomData))
    }
}

struct Word<T>(PhantomData<T>);

impl<T: FromStr> Visitor<'_> for Word<T> {
    type Value = Recorded<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Self::Value, E> {
        Ok(match text.parse() {
            Ok(word) => Recorded::Known(word),
            Err(_) => Recorded::Unknown(text.into()),
        })
    }
}
