//! Values of columns: times, words, JSON, roots.

use std::str::FromStr;
use std::time::SystemTime;

use portcullis_jobs::Timestamp;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::database::{Row, Value, number, unsigned};
use crate::error::Failure;
use crate::times;

/// The first name of a path.
pub(super) fn root(path: &str) -> &str {
    path.split_once('/').map_or(path, |(first, _)| first)
}

pub(super) fn id(id: u64) -> Value<'static> {
    Value::Number(number(id))
}

pub(super) fn optional_id(optional: Option<u64>) -> Value<'static> {
    optional.map_or(Value::Null, id)
}

pub(super) fn flag(flag: bool) -> Value<'static> {
    Value::Number(flag.into())
}

pub(super) fn time(time: Timestamp) -> Value<'static> {
    times::value(Some(time.into()))
}

pub(super) fn optional_time(time: Option<Timestamp>) -> Value<'static> {
    times::value(time.map(SystemTime::from))
}

/// The text of a value. What is stored has string keys only, so there always is one.
pub(super) fn json(value: &impl Serialize) -> Result<String, Failure> {
    serde_json::to_string(value)
        .map_err(|error| Failure::new(crate::error::Kind::Other, error.to_string()))
}

pub(super) fn read_id(row: &mut Row) -> Result<u64, Failure> {
    row.number().map(unsigned)
}

pub(super) fn read_optional_id(row: &mut Row) -> Result<Option<u64>, Failure> {
    Ok(row.optional_number()?.map(unsigned))
}

pub(super) fn read_flag(row: &mut Row) -> Result<bool, Failure> {
    Ok(row.number()? != 0)
}

pub(super) fn read_time(row: &mut Row) -> Result<Timestamp, Failure> {
    Ok(times::from_number(row.number()?).into())
}

pub(super) fn read_optional_time(row: &mut Row) -> Result<Option<Timestamp>, Failure> {
    let number = row.optional_number()?;
    Ok(number.map(|number| times::from_number(number).into()))
}

pub(super) fn read_word<T: FromStr>(row: &mut Row) -> Result<T, Failure> {
    let word = row.text()?;
    let unknown = || Failure::corrupt(format!("unknown word `{word}`"));
    word.parse().map_err(|_| unknown())
}

pub(super) fn read_json<T: DeserializeOwned>(row: &mut Row) -> Result<T, Failure> {
    parse(&row.text()?)
}

pub(super) fn read_optional_json<T: DeserializeOwned>(row: &mut Row) -> Result<Option<T>, Failure> {
    row.optional_text()?.as_deref().map(parse).transpose()
}

pub(super) fn parse<T: DeserializeOwned>(text: &str) -> Result<T, Failure> {
    serde_json::from_str(text).map_err(|error| Failure::corrupt(format!("invalid JSON: {error}")))
}
