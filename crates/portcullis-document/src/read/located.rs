//! How a [`Located`] is read: as a structure of a private name, whose parts are
//! the line, the column and the value.

use std::{fmt, marker::PhantomData};

use serde::{
    Deserialize,
    de::{
        DeserializeSeed, Deserializer, Error as _, IntoDeserializer, MapAccess, Visitor,
        value::{StrDeserializer, U64Deserializer},
    },
};

use crate::{document::Located, position::Position, read_error::ReadError};

/// The name under which [`Located`] asks for a place beside its value.
pub(super) const LOCATED: &str = "$portcullis::Located";
const LOCATED_FIELDS: &[&str] = &["line", "column", "value"];

/// The three parts of a [`Located`], one after the other.
pub(super) struct LocatedParts<D> {
    position: Position,
    inner: D,
    part: usize,
}

impl<D> LocatedParts<D> {
    pub(super) fn new(position: Position, inner: D) -> Self {
        Self {
            position,
            inner,
            part: 0,
        }
    }
}

impl<'de, D: Deserializer<'de, Error = ReadError> + Clone> MapAccess<'de> for LocatedParts<D> {
    type Error = ReadError;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, ReadError> {
        let Some(name) = LOCATED_FIELDS.get(self.part) else {
            return Ok(None);
        };
        self.part += 1;
        let name: StrDeserializer<'_, ReadError> = name.into_deserializer();
        seed.deserialize(name).map(Some)
    }

    fn next_value_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<T::Value, ReadError> {
        let number = |value: u64| -> U64Deserializer<ReadError> { value.into_deserializer() };
        match self.part {
            1 => seed.deserialize(number(self.position.line)),
            2 => seed.deserialize(number(self.position.column)),
            _ => seed.deserialize(self.inner.clone()),
        }
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Located<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_struct(LOCATED, LOCATED_FIELDS, LocatedVisitor(PhantomData))
    }
}

struct LocatedVisitor<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for LocatedVisitor<T> {
    type Value = Located<T>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a value with its place")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Located<T>, A::Error> {
        let mut missing = || A::Error::custom("a value without its place");
        let (_, line) = access
            .next_entry::<String, u64>()?
            .ok_or_else(&mut missing)?;
        let (_, column) = access
            .next_entry::<String, u64>()?
            .ok_or_else(&mut missing)?;
        let (_, value) = access.next_entry::<String, T>()?.ok_or_else(missing)?;
        Ok(Located {
            value,
            position: Position { line, column },
        })
    }
}
