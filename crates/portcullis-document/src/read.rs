//! Typed values from a tree: a serde `Deserializer` over [`Node`].
//!
//! It checks the kind of every value itself, so that messages say "a list" and
//! "a map" and never name a Rust type. [`Located`] fields keep their place for
//! the checks that follow, and a [`Node`] field keeps its whole tree.

mod all;
mod located;

pub use all::{generous, json, partly, typed};

use serde::{
    de::{
        DeserializeSeed, Deserializer, EnumAccess, Error as _, IntoDeserializer, MapAccess,
        SeqAccess, Unexpected, VariantAccess, Visitor, value::StrDeserializer,
    },
    forward_to_deserialize_any,
};

use super::{
    document::{Located, Node, Value},
    path::Segment,
    read_error::ReadError,
};
use located::{LOCATED, LocatedParts};

/// Reads one value.
#[derive(Clone, Copy)]
struct NodeReader<'a>(&'a Node);

impl NodeReader<'_> {
    fn unexpected(&self) -> Unexpected<'_> {
        match &self.0.value {
            Value::Null => Unexpected::Unit,
            Value::Bool(value) => Unexpected::Bool(*value),
            Value::Int(value) => Unexpected::Signed(*value),
            Value::UInt(value) => Unexpected::Unsigned(*value),
            Value::Float(value) => Unexpected::Float(*value),
            Value::Str(value) => Unexpected::Str(value),
            Value::Seq(_) => Unexpected::Seq,
            Value::Map(_) => Unexpected::Map,
        }
    }

    fn wrong(&self, expected: &str) -> ReadError {
        match (&self.0.value, expected) {
            (Value::Null, "a map") => {
                ReadError::new("expected a map, found nothing: remove the key or write `{}`")
            }
            (Value::Null, "a list") => {
                ReadError::new("expected a list, found nothing: remove the key or write `[]`")
            }
            (Value::Bool(_) | Value::Int(_) | Value::UInt(_) | Value::Float(_), "text") => {
                ReadError::new(format!(
                    "expected text, found {}: put it in quotes",
                    self.0.kind()
                ))
            }
            _ => ReadError::invalid_type(self.unexpected(), &expected),
        }
    }
}

macro_rules! whole_numbers {
    ($($method:ident)*) => {$(
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ReadError> {
            match &self.0.value {
                Value::Int(_) | Value::UInt(_) => self.deserialize_any(visitor),
                _ => Err(self.wrong("a whole number")),
            }
        }
    )*};
}

impl<'de> Deserializer<'de> for NodeReader<'de> {
    type Error = ReadError;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ReadError> {
        match &self.0.value {
            Value::Null => visitor.visit_unit(),
            Value::Bool(value) => visitor.visit_bool(*value),
            Value::Int(value) => visitor.visit_i64(*value),
            Value::UInt(value) => visitor.visit_u64(*value),
            Value::Float(value) => visitor.visit_f64(*value),
            Value::Str(value) => visitor.visit_borrowed_str(value),
            Value::Seq(items) => visitor.visit_seq(Items { items, index: 0 }),
            Value::Map(entries) => visitor.visit_map(Entries {
                entries,
                value: None,
            }),
        }
    }

    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ReadError> {
        match &self.0.value {
            Value::Bool(_) => self.deserialize_any(visitor),
            _ => Err(self.wrong("true or false")),
        }
    }

    whole_numbers!(deserialize_i8 deserialize_i16 deserialize_i32 deserialize_i64
        deserialize_u8 deserialize_u16 deserialize_u32 deserialize_u64);

    fn deserialize_str<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ReadError> {
        match &self.0.value {
            Value::Str(_) => self.deserialize_any(visitor),
            _ => Err(self.wrong("text")),
        }
    }

    fn deserialize_string<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ReadError> {
        self.deserialize_str(visitor)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ReadError> {
        match &self.0.value {
            Value::Null => visitor.visit_none(),
            _ => visitor.visit_some(self),
        }
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ReadError> {
        match &self.0.value {
            Value::Seq(_) => self.deserialize_any(visitor),
            _ => Err(self.wrong("a list")),
        }
    }

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ReadError> {
        match &self.0.value {
            Value::Map(_) => self.deserialize_any(visitor),
            _ => Err(self.wrong("a map")),
        }
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, ReadError> {
        if name == LOCATED {
            return visitor.visit_map(LocatedParts::new(self.0.position, self));
        }
        self.deserialize_map(visitor)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, ReadError> {
        match &self.0.value {
            Value::Str(value) => visitor.visit_enum(Word(value)),
            _ => Err(self.wrong(&format!("one of {}", variants.join(", ")))),
        }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, ReadError> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ReadError> {
        visitor.visit_unit()
    }

    forward_to_deserialize_any! {
        i128 u128 f32 f64 char bytes byte_buf unit unit_struct tuple tuple_struct identifier
    }
}

/// Reads a key.
#[derive(Clone, Copy)]
struct KeyReader<'a>(&'a Located<String>);

impl<'de> Deserializer<'de> for KeyReader<'de> {
    type Error = ReadError;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ReadError> {
        visitor.visit_borrowed_str(&self.0.value)
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, ReadError> {
        visitor.visit_map(LocatedParts::new(self.0.position, self))
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit
        unit_struct newtype_struct seq tuple tuple_struct map enum identifier ignored_any
    }
}

struct Items<'a> {
    items: &'a [Node],
    index: usize,
}

impl<'de> SeqAccess<'de> for Items<'de> {
    type Error = ReadError;

    fn next_element_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, ReadError> {
        let Some(node) = self.items.get(self.index) else {
            return Ok(None);
        };
        let index = self.index;
        self.index += 1;
        seed.deserialize(NodeReader(node))
            .map(Some)
            .map_err(|error| error.at(node.position).inside(Segment::Index(index)))
    }
}

struct Entries<'a> {
    entries: &'a [(Located<String>, Node)],
    value: Option<&'a (Located<String>, Node)>,
}

impl<'de> MapAccess<'de> for Entries<'de> {
    type Error = ReadError;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, ReadError> {
        let Some((entry, rest)) = self.entries.split_first() else {
            return Ok(None);
        };
        self.entries = rest;
        self.value = Some(entry);
        let (key, _) = entry;
        seed.deserialize(KeyReader(key)).map(Some).map_err(|error| {
            error
                .at(key.position)
                .inside(Segment::Key(key.value.clone()))
        })
    }

    fn next_value_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<T::Value, ReadError> {
        let (key, node) = self
            .value
            .take()
            .ok_or_else(|| ReadError::new("a value was read before its key"))?;
        // A key without a value has no place of its own worth pointing at.
        let place = if node.value == Value::Null {
            key.position
        } else {
            node.position
        };
        seed.deserialize(NodeReader(node))
            .map_err(|error| error.at(place).inside(Segment::Key(key.value.clone())))
    }
}

/// A text as the name of an enum's variant.
struct Word<'a>(&'a str);

impl<'de> EnumAccess<'de> for Word<'de> {
    type Error = ReadError;
    type Variant = Self;

    fn variant_seed<V: DeserializeSeed<'de>>(self, seed: V) -> Result<(V::Value, Self), ReadError> {
        let name: StrDeserializer<'_, ReadError> = self.0.into_deserializer();
        Ok((seed.deserialize(name)?, self))
    }
}

impl<'de> VariantAccess<'de> for Word<'de> {
    type Error = ReadError;

    fn unit_variant(self) -> Result<(), ReadError> {
        Ok(())
    }

    fn newtype_variant_seed<T: DeserializeSeed<'de>>(self, _: T) -> Result<T::Value, ReadError> {
        Err(ReadError::new(format!("`{}` needs a value", self.0)))
    }

    fn tuple_variant<V: Visitor<'de>>(self, _: usize, _: V) -> Result<V::Value, ReadError> {
        Err(ReadError::new(format!("`{}` needs a list", self.0)))
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        _: &'static [&'static str],
        _: V,
    ) -> Result<V::Value, ReadError> {
        Err(ReadError::new(format!("`{}` needs a map", self.0)))
    }
}
