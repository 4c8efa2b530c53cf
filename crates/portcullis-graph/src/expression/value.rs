//! Values while an expression is computed: what is borrowed from the variables stays borrowed.

use std::rc::Rc;

use serde_json::{Map, Number, Value};

use super::ExpressionError;

/// How many steps an expression may take.
pub(crate) const MAX_STEPS: usize = 1_000_000;
/// How deep a value may be nested.
const MAX_DEPTH: usize = 64;
/// How many entries a list or map may have.
const MAX_ENTRIES: usize = 10_000;

/// A value.
#[derive(Debug, Clone)]
pub(crate) enum Val<'a> {
    Null,
    Bool(bool),
    Int(i64),
    Double(f64),
    /// A borrowed string.
    Text(&'a str),
    /// A text that was made here.
    Made(Rc<str>),
    /// A borrowed list.
    Entries(&'a [Value]),
    /// A borrowed map.
    Members(&'a Map<String, Value>),
    /// A list that was made here.
    List(Rc<Vec<Val<'a>>>),
    /// A map that was made here.
    Map(Rc<Vec<(String, Val<'a>)>>),
}

impl<'a> From<&'a Value> for Val<'a> {
    fn from(value: &'a Value) -> Self {
        match value {
            Value::Null => Self::Null,
            Value::Bool(b) => Self::Bool(*b),
            Value::Number(number) => number_of(number),
            Value::String(text) => Self::Text(text),
            Value::Array(entries) => Self::Entries(entries),
            Value::Object(members) => Self::Members(members),
        }
    }
}

fn number_of<'a>(number: &Number) -> Val<'a> {
    match number.as_i64() {
        Some(int) => Val::Int(int),
        None => Val::Double(number.as_f64().unwrap_or(f64::NAN)),
    }
}

impl<'a> Val<'a> {
    /// A text.
    pub(crate) fn text(text: impl Into<Rc<str>>) -> Self {
        Self::Made(text.into())
    }

    /// A list.
    pub(crate) fn list(entries: Vec<Val<'a>>) -> Self {
        Self::List(Rc::new(entries))
    }

    /// The text, if it is one.
    pub(crate) fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            Self::Made(text) => Some(text),
            _ => None,
        }
    }

    /// What kind of value it is, for messages.
    pub(crate) fn type_name(&self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Bool(_) => "a boolean",
            Self::Int(_) => "an integer",
            Self::Double(_) => "a number",
            Self::Text(_) | Self::Made(_) => "a string",
            Self::Entries(_) | Self::List(_) => "a list",
            Self::Members(_) | Self::Map(_) => "a map",
        }
    }

    /// The member of this name.
    pub(crate) fn member(&self, name: &str) -> Result<Val<'a>, ExpressionError> {
        match self {
            Self::Members(members) => match members.get(name) {
                Some(value) => Ok(value.into()),
                None => Err(ExpressionError::Missing),
            },
            Self::Map(members) => {
                let found = members.iter().find(|(key, _)| key == name);
                let found = found.map(|(_, value)| value.clone());
                found.ok_or(ExpressionError::Missing)
            }
            Self::Null => Err(ExpressionError::Missing),
            other => Err(ExpressionError::Failed(format!(
                "{} has no member `{name}`",
                other.type_name()
            ))),
        }
    }

    /// The entry of this number of a list.
    pub(crate) fn entry(&self, index: usize) -> Option<Val<'a>> {
        match self {
            Self::Entries(entries) => entries.get(index).map(Val::from),
            Self::List(entries) => entries.get(index).cloned(),
            _ => None,
        }
    }

    /// How many entries or members it has; nothing if it is not a list or map.
    pub(crate) fn count(&self) -> Option<usize> {
        match self {
            Self::Entries(entries) => Some(entries.len()),
            Self::List(entries) => Some(entries.len()),
            Self::Members(members) => Some(members.len()),
            Self::Map(members) => Some(members.len()),
            _ => None,
        }
    }

    /// Whether it is a list.
    pub(crate) fn is_list(&self) -> bool {
        matches!(self, Self::Entries(_) | Self::List(_))
    }

    /// The keys, if it is a map.
    pub(crate) fn keys(&self) -> Option<Vec<Val<'a>>> {
        match self {
            Self::Members(members) => Some(members.keys().map(|k| Val::Text(k)).collect()),
            Self::Map(members) => {
                let keys = members.iter().map(|(key, _)| Val::text(key.as_str()));
                Some(keys.collect())
            }
            _ => None,
        }
    }

    /// As JSON; nothing if it is larger than what is left.
    pub(crate) fn to_json(&self, left: &mut usize) -> Option<Value> {
        let texts = |text: &str, left: &mut usize| {
            *left = left.checked_sub(1 + text.len() / 64)?;
            Some(Value::String(text.to_owned()))
        };
        *left = left.checked_sub(1)?;
        Some(match self {
            Self::Null => Value::Null,
            Self::Bool(b) => Value::Bool(*b),
            Self::Int(int) => Value::from(*int),
            Self::Double(double) => Number::from_f64(*double).map_or(Value::Null, Value::Number),
            Self::Text(text) => texts(text, left)?,
            Self::Made(text) => texts(text, left)?,
            Self::Entries(entries) => {
                for entry in *entries {
                    *left = left.checked_sub(weight(entry))?;
                }
                Value::Array(entries.to_vec())
            }
            Self::Members(members) => {
                for member in members.values() {
                    *left = left.checked_sub(weight(member))?;
                }
                Value::Object((*members).clone())
            }
            Self::List(entries) => {
                let entries = entries.iter().map(|entry| entry.to_json(left));
                Value::Array(entries.collect::<Option<_>>()?)
            }
            Self::Map(members) => {
                let members = members
                    .iter()
                    .map(|(k, v)| Some((k.clone(), v.to_json(left)?)));
                Value::Object(members.collect::<Option<_>>()?)
            }
        })
    }
}

/// How much there is to copy.
fn weight(value: &Value) -> usize {
    match value {
        Value::String(text) => 1 + text.len() / 64,
        Value::Array(entries) => 1 + entries.iter().map(weight).sum::<usize>(),
        Value::Object(members) => 1 + members.values().map(weight).sum::<usize>(),
        _ => 1,
    }
}

/// Whether two values are equal. Numbers are equal if they are the same number, whatever their type.
/// `spent` counts the pairs that were compared; beyond [`MAX_STEPS`] nothing is equal.
pub(crate) fn equal(a: &Val<'_>, b: &Val<'_>, spent: &mut usize) -> bool {
    *spent += 1;
    if *spent > MAX_STEPS {
        return false;
    }
    match (a, b) {
        (Val::Null, Val::Null) => true,
        (Val::Bool(a), Val::Bool(b)) => a == b,
        (Val::Int(a), Val::Int(b)) => a == b,
        (Val::Double(a), Val::Double(b)) => a == b,
        (Val::Int(int), Val::Double(double)) | (Val::Double(double), Val::Int(int)) => {
            same_number(*int, *double)
        }
        (Val::Text(_) | Val::Made(_), Val::Text(_) | Val::Made(_)) => a.as_text() == b.as_text(),
        (Val::Entries(_) | Val::List(_), Val::Entries(_) | Val::List(_)) => {
            let count = a.count().unwrap_or_default();
            count == b.count().unwrap_or_default()
                && (0..count).all(|index| match (a.entry(index), b.entry(index)) {
                    (Some(a), Some(b)) => equal(&a, &b, spent),
                    _ => false,
                })
        }
        (Val::Members(_) | Val::Map(_), Val::Members(_) | Val::Map(_)) => {
            a.count() == b.count()
                && a.keys().unwrap_or_default().iter().all(|key| {
                    let key = key.as_text().unwrap_or_default();
                    match (a.member(key), b.member(key)) {
                        (Ok(a), Ok(b)) => equal(&a, &b, spent),
                        _ => false,
                    }
                })
        }
        _ => false,
    }
}

#[allow(
    clippy::cast_precision_loss,
    reason = "integers that a double can't hold are told apart by the second comparison"
)]
fn same_number(int: i64, double: f64) -> bool {
    let exact = 9_007_199_254_740_992_i64;
    if (-exact..=exact).contains(&int) {
        int as f64 == double
    } else {
        false
    }
}

/// Whether a value is small enough to compute with.
///
/// # Errors
///
/// What is too large, in words.
pub(crate) fn check_bounds(value: &Value) -> Result<(), String> {
    fn walk(value: &Value, depth: usize) -> Result<(), String> {
        let too_long = |what| format!("{what} of it has more than {MAX_ENTRIES} entries");
        if depth > MAX_DEPTH {
            return Err(format!("it is nested deeper than {MAX_DEPTH} levels"));
        }
        match value {
            Value::Array(entries) if entries.len() > MAX_ENTRIES => Err(too_long("a list")),
            Value::Object(members) if members.len() > MAX_ENTRIES => Err(too_long("a map")),
            Value::Array(entries) => entries.iter().try_for_each(|e| walk(e, depth + 1)),
            Value::Object(members) => members.values().try_for_each(|m| walk(m, depth + 1)),
            _ => Ok(()),
        }
    }
    walk(value, 0)
}
