//! The keys of a provider at one time.

use std::time::SystemTime;

use crate::key::{Jwk, Signing, Verifier};

/// Keys that were fetched together.
#[derive(Debug)]
pub(crate) struct KeyRing {
    keys: Vec<Jwk>,
    /// Counts how often the keys changed.
    pub(crate) generation: u64,
    pub(crate) fetched: SystemTime,
}

/// What is known of the key a token wants.
#[derive(Debug)]
pub(crate) enum KeyLookup {
    /// This is it.
    Key(Verifier),
    /// There is no such key.
    Nothing,
    /// There is one, for another algorithm.
    OtherAlgorithm,
    /// The token doesn't say, and there are several.
    NotNamed,
}

impl KeyRing {
    /// The first keys there are.
    pub(crate) fn first(keys: Vec<Jwk>, fetched: SystemTime) -> Self {
        Self {
            keys,
            generation: 0,
            fetched,
        }
    }

    /// What comes after these; the same keys are the same generation.
    pub(crate) fn followed_by(&self, keys: Vec<Jwk>, fetched: SystemTime) -> Self {
        let generation = self.generation + u64::from(keys != self.keys);
        Self {
            keys,
            generation,
            fetched,
        }
    }

    /// The key of this name, or the only one for this algorithm.
    pub(crate) fn find(&self, id: Option<&str>, signing: Signing) -> KeyLookup {
        let of_algorithm = || self.keys.iter().filter(|key| key.signing() == signing);
        let Some(id) = id else {
            let mut keys = of_algorithm();
            return match (keys.next(), keys.next()) {
                (Some(key), None) => KeyLookup::Key(key.verifier.clone()),
                (None, _) => KeyLookup::Nothing,
                (Some(_), Some(_)) => KeyLookup::NotNamed,
            };
        };
        let named = |key: &&Jwk| key.id.as_deref() == Some(id);
        if let Some(key) = of_algorithm().find(named) {
            KeyLookup::Key(key.verifier.clone())
        } else if self.keys.iter().any(|key| named(&key)) {
            KeyLookup::OtherAlgorithm
        } else {
            KeyLookup::Nothing
        }
    }
}
