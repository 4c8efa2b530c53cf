//! How one value inside a Kubernetes object is read.
//!
//! [`Field`] says which JSON kinds a type accepts; everything else is rejected
//! with a message of its own (`expected an object, found a number`). `null`
//! is always the same as absent, in lists too. The reader never builds an
//! intermediate document and borrows text from its input where it can.
//!
//! It does not know where in the document it is: see `error` for paths.

use std::{borrow::Cow, collections::BTreeMap, fmt, marker::PhantomData};

use serde::de::{Deserialize, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};

/// A type that can be read from a JSON value.
///
/// Each method answers for one JSON kind and rejects unless overridden.
pub(crate) trait Field<'de>: Default {
    /// What the value has to be, to complete "expected ...".
    const EXPECTED: &'static str;

    fn from_bool<E: Error>(_value: bool) -> Result<Self, E> {
        Err(mismatch::<Self, E>("a boolean"))
    }

    fn from_integer<E: Error>(_value: i128) -> Result<Self, E> {
        Err(mismatch::<Self, E>("a number"))
    }

    fn from_fraction<E: Error>(_value: f64) -> Result<Self, E> {
        Err(mismatch::<Self, E>("a number"))
    }

    fn from_text<E: Error>(_value: Cow<'de, str>) -> Result<Self, E> {
        Err(mismatch::<Self, E>("a string"))
    }

    fn from_list<A: SeqAccess<'de>>(_list: A) -> Result<Self, A::Error> {
        Err(mismatch::<Self, A::Error>("a list"))
    }

    fn from_object<A: MapAccess<'de>>(_object: A) -> Result<Self, A::Error> {
        Err(mismatch::<Self, A::Error>("an object"))
    }
}

fn mismatch<'de, T: Field<'de>, E: Error>(found: &str) -> E {
    E::custom(format_args!("expected {}, found {found}", T::EXPECTED))
}

/// Reads any [`Field`] through serde; `null` gives the default value.
#[derive(Debug)]
pub(crate) struct Read<T>(pub(crate) T);

impl<'de, T: Field<'de>> Deserialize<'de> for Read<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(AnyKind(PhantomData)).map(Self)
    }
}

struct AnyKind<T>(PhantomData<T>);

impl<'de, T: Field<'de>> Visitor<'de> for AnyKind<T> {
    type Value = T;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(T::EXPECTED)
    }

    fn visit_unit<E: Error>(self) -> Result<T, E> {
        Ok(T::default())
    }

    fn visit_none<E: Error>(self) -> Result<T, E> {
        Ok(T::default())
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<T, D::Error> {
        deserializer.deserialize_any(self)
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<T, E> {
        T::from_bool(value)
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<T, E> {
        T::from_integer(value.into())
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<T, E> {
        T::from_integer(value.into())
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<T, E> {
        T::from_fraction(value)
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<T, E> {
        T::from_text(Cow::Owned(value.to_owned()))
    }

    fn visit_borrowed_str<E: Error>(self, value: &'de str) -> Result<T, E> {
        T::from_text(Cow::Borrowed(value))
    }

    fn visit_string<E: Error>(self, value: String) -> Result<T, E> {
        T::from_text(Cow::Owned(value))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<T, A::Error> {
        T::from_list(list)
    }

    fn visit_map<A: MapAccess<'de>>(self, object: A) -> Result<T, A::Error> {
        T::from_object(object)
    }
}

impl<'de> Field<'de> for bool {
    const EXPECTED: &'static str = "a boolean";

    fn from_bool<E: Error>(value: bool) -> Result<Self, E> {
        Ok(value)
    }
}

impl<'de> Field<'de> for i64 {
    const EXPECTED: &'static str = "an integer";

    fn from_integer<E: Error>(value: i128) -> Result<Self, E> {
        Self::try_from(value)
            .map_err(|_| E::custom("expected an integer, found a number out of range"))
    }

    fn from_fraction<E: Error>(_value: f64) -> Result<Self, E> {
        Err(mismatch::<Self, E>("a number that is not whole"))
    }
}

impl<'de> Field<'de> for Cow<'de, str> {
    const EXPECTED: &'static str = "a string";

    fn from_text<E: Error>(value: Cow<'de, str>) -> Result<Self, E> {
        Ok(value)
    }
}

impl<'de, T: Field<'de>> Field<'de> for Option<T> {
    const EXPECTED: &'static str = T::EXPECTED;

    fn from_bool<E: Error>(value: bool) -> Result<Self, E> {
        T::from_bool(value).map(Some)
    }

    fn from_integer<E: Error>(value: i128) -> Result<Self, E> {
        T::from_integer(value).map(Some)
    }

    fn from_fraction<E: Error>(value: f64) -> Result<Self, E> {
        T::from_fraction(value).map(Some)
    }

    fn from_text<E: Error>(value: Cow<'de, str>) -> Result<Self, E> {
        T::from_text(value).map(Some)
    }

    fn from_list<A: SeqAccess<'de>>(list: A) -> Result<Self, A::Error> {
        T::from_list(list).map(Some)
    }

    fn from_object<A: MapAccess<'de>>(object: A) -> Result<Self, A::Error> {
        T::from_object(object).map(Some)
    }
}

impl<'de, T: Field<'de>> Field<'de> for Vec<T> {
    const EXPECTED: &'static str = "a list";

    fn from_list<A: SeqAccess<'de>>(mut list: A) -> Result<Self, A::Error> {
        let mut items = Vec::new();
        while let Some(Read(item)) = list.next_element()? {
            items.push(item);
        }
        Ok(items)
    }
}

impl<'de, T: Field<'de>> Field<'de> for BTreeMap<Cow<'de, str>, T> {
    const EXPECTED: &'static str = "an object";

    fn from_object<A: MapAccess<'de>>(mut object: A) -> Result<Self, A::Error> {
        let mut entries = BTreeMap::new();
        while let Some(Read(key)) = object.next_key()? {
            let Read(value) = object.next_value()?;
            entries.insert(key, value);
        }
        Ok(entries)
    }
}

/// True for an object, whatever it holds; false when absent.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Presence(pub(crate) bool);

impl<'de> Field<'de> for Presence {
    const EXPECTED: &'static str = "an object";

    fn from_object<A: MapAccess<'de>>(mut object: A) -> Result<Self, A::Error> {
        while object.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(Self(true))
    }
}
