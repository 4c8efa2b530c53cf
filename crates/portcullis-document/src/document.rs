//! A document as a tree in which every value and every key knows its line and
//! column.
//!
//! `yaml` makes the tree, `read` makes typed values from it, `path` finds a
//! place in it.

use std::{borrow::Cow, fmt, marker::PhantomData, ops::Deref, sync::Arc};

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};

use super::{fault::Fault, position::Position, source::Source};

/// A text and the tree that was read from it.
#[derive(Debug, Clone)]
pub struct Document {
    /// The text.
    pub source: Arc<Source>,
    /// The tree.
    pub root: Node,
}

impl Document {
    /// A tree that was not read from a text, so that nothing in it has a place.
    pub fn without_text(label: &str, json: &serde_json::Value) -> Self {
        Self {
            source: Source::named(label),
            root: Node::from_json(json, &|_| None),
        }
    }

    /// A fault at a path, or at the nearest place above it that exists.
    pub fn fault(&self, path: &str, message: impl Into<String>) -> Fault {
        self.source
            .fault(Some(self.root.nearest(path).position), path, message)
    }

    /// A fault that knows its path only, at its place in this document.
    pub fn locate(&self, fault: Fault) -> Fault {
        let position = self.root.nearest(&fault.path).position;
        self.source.locate_at(Some(position), fault)
    }

    /// The same for all of them.
    pub fn locate_all(&self, faults: impl IntoIterator<Item = Fault>) -> Vec<Fault> {
        let faults = faults.into_iter();
        faults.map(|fault| self.locate(fault)).collect()
    }
}

/// A value and where it stands.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Located<T> {
    /// The value.
    pub value: T,
    /// Where it begins.
    pub position: Position,
}

/// One node of a document.
pub type Node = Located<Value>;

/// What a node holds.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum Value {
    /// Nothing: `null`, `~`, or a key without a value.
    #[default]
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A negative whole number.
    Int(i64),
    /// A whole number.
    UInt(u64),
    /// Any other finite number.
    Float(f64),
    /// Text.
    Str(String),
    /// A list.
    Seq(Vec<Node>),
    /// A map, in the order of the file.
    Map(Vec<(Located<String>, Node)>),
}

impl Node {
    /// A tree of JSON. The places of keys and values are asked for by JSON pointer.
    pub fn from_json(
        json: &serde_json::Value,
        place: &dyn Fn(&str) -> Option<[Position; 2]>,
    ) -> Self {
        Self::from_json_at(json, "", Position::default(), place)
    }

    fn from_json_at(
        json: &serde_json::Value,
        pointer: &str,
        around: Position,
        place: &dyn Fn(&str) -> Option<[Position; 2]>,
    ) -> Self {
        use serde_json::Value as Json;
        let [_, position] = place(pointer).unwrap_or([around; 2]);
        let value = match json {
            Json::Null => Value::Null,
            Json::Bool(value) => Value::Bool(*value),
            Json::Number(number) => match (number.as_u64(), number.as_i64()) {
                (Some(value), _) => Value::UInt(value),
                (None, Some(value)) => Value::Int(value),
                (None, None) => Value::Float(number.as_f64().unwrap_or_default()),
            },
            Json::String(text) => Value::Str(text.clone()),
            Json::Array(items) => Value::Seq(
                items
                    .iter()
                    .enumerate()
                    .map(|(index, item)| {
                        Self::from_json_at(item, &format!("{pointer}/{index}"), position, place)
                    })
                    .collect(),
            ),
            Json::Object(entries) => Value::Map(
                entries
                    .iter()
                    .map(|(key, value)| {
                        let inner = format!("{pointer}/{key}");
                        let [at, _] = place(&inner).unwrap_or([position; 2]);
                        let key = Located {
                            value: key.clone(),
                            position: at,
                        };
                        (key, Self::from_json_at(value, &inner, position, place))
                    })
                    .collect(),
            ),
        };
        Self { value, position }
    }
}

impl<T> Deref for Located<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.value
    }
}

impl<T: JsonSchema> JsonSchema for Located<T> {
    fn inline_schema() -> bool {
        T::inline_schema()
    }

    fn schema_name() -> Cow<'static, str> {
        T::schema_name()
    }

    fn schema_id() -> Cow<'static, str> {
        T::schema_id()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        T::json_schema(generator)
    }
}

impl JsonSchema for Value {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Anything".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        Schema::default()
    }
}

impl Value {
    /// What this is, in the words a message uses.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Null => "nothing",
            Self::Bool(_) => "true or false",
            Self::Int(_) | Self::UInt(_) | Self::Float(_) => "a number",
            Self::Str(_) => "text",
            Self::Seq(_) => "a list",
            Self::Map(_) => "a map",
        }
    }

    /// The same as a JSON value, without positions.
    pub fn to_json(&self) -> serde_json::Value {
        use serde_json::Value as Json;
        match self {
            Self::Null => Json::Null,
            Self::Bool(value) => Json::from(*value),
            Self::Int(value) => Json::from(*value),
            Self::UInt(value) => Json::from(*value),
            Self::Float(value) => Json::from(*value),
            Self::Str(value) => Json::from(value.as_str()),
            Self::Seq(items) => items.iter().map(|item| item.to_json()).collect(),
            Self::Map(entries) => entries
                .iter()
                .map(|(key, value)| (key.value.clone(), value.to_json()))
                .collect(),
        }
    }
}

/// Part of a typed configuration can stay a tree: see `read`.
impl<'de> Deserialize<'de> for Value {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ValueVisitor::<Located<String>, Node>::new())
    }
}

/// Builds a value whose keys are read as `K` and whose parts are read as `N`.
pub(crate) struct ValueVisitor<K, N>(PhantomData<(K, N)>);

impl<K, N> ValueVisitor<K, N> {
    pub(crate) const fn new() -> Self {
        Self(PhantomData)
    }
}

impl<'de, K, N> Visitor<'de> for ValueVisitor<K, N>
where
    K: Deserialize<'de> + Into<Located<String>>,
    N: Deserialize<'de> + Into<Node>,
{
    type Value = Value;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("any value")
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(u64::try_from(value).map_or(Value::Int(value), Value::UInt))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(Value::UInt(value))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(Value::Float(value))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(Value::Str(value.to_owned()))
    }

    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(Value::Str(value))
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut access: A) -> Result<Value, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = access.next_element::<N>()? {
            items.push(item.into());
        }
        Ok(Value::Seq(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Value, A::Error> {
        let mut entries = Vec::new();
        while let Some((key, value)) = access.next_entry::<K, N>()? {
            entries.push((key.into(), value.into()));
        }
        Ok(Value::Map(entries))
    }
}
