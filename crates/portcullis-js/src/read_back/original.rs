//! The original of an object, as far as reading it back needs it.

use std::collections::HashMap;

use portcullis_core::{Look, Tree};
use serde_json::{Number, Value};

use super::EXACT;

/// The members of an object by their keys.
pub(super) enum Members<'a> {
    /// Few, to be gone through.
    Few(&'a [(String, Tree)]),
    /// Many: hostile objects cost no more than others.
    Many(HashMap<&'a str, &'a Tree>),
}

impl<'a> Members<'a> {
    pub(super) fn of(tree: Option<&'a Tree>) -> Self {
        match tree.map(Tree::look) {
            Some(Look::Object(members)) if members.len() > 16 => {
                Self::Many(members.iter().map(|(k, v)| (k.as_str(), v)).collect())
            }
            Some(Look::Object(members)) => Self::Few(members),
            _ => Self::Few(&[]),
        }
    }

    pub(super) fn get(&self, key: &str) -> Option<&'a Tree> {
        match self {
            Self::Few(members) => {
                let mut members = members.iter();
                members.find(|(own, _)| own == key).map(|(_, v)| v)
            }
            Self::Many(members) => members.get(key).copied(),
        }
    }
}

/// Notes the integers of a value that have no exact float, by the float they become.
pub(super) fn note_large(value: &Value, large: &mut HashMap<u64, Number>) {
    match value {
        Value::Number(n) if !n.is_f64() => {
            if let Some(x) = n.as_f64().filter(|x| x.abs() >= EXACT) {
                large.entry(x.to_bits()).or_insert_with(|| n.clone());
            }
        }
        Value::Array(list) => list.iter().for_each(|v| note_large(v, large)),
        Value::Object(map) => map.values().for_each(|v| note_large(v, large)),
        _ => {}
    }
}
