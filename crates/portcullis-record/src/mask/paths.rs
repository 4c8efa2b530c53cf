//! What the configuration adds: `JSONPath` expressions (RFC 9535) that start at the object.

use std::collections::HashMap;

use portcullis_core::Attributes;
use portcullis_document::{Fault, path};
use serde_json::{Map, Value};
use serde_json_path::{JsonPath, PathElement};

/// The expressions.
#[derive(Debug, Clone, Default)]
pub(crate) struct Paths(Vec<JsonPath>);

/// Places in a tree, as a tree.
#[derive(Debug, Clone, Default)]
pub(crate) struct Places {
    is_masked: bool,
    members: HashMap<String, Places>,
    elements: HashMap<usize, Places>,
    /// Any element.
    any_element: Option<Box<Places>>,
}

impl Places {
    /// Whether this place is one of them.
    pub(crate) fn is_masked(&self) -> bool {
        self.is_masked
    }

    /// Those in a member.
    pub(crate) fn member(&self, key: &str) -> Option<&Self> {
        self.members.get(key)
    }

    /// Those in an element.
    pub(crate) fn element(&self, index: usize) -> Option<&Self> {
        self.elements.get(&index).or(self.any_element.as_deref())
    }

    /// Those behind a token of a JSON pointer.
    fn behind(&self, token: &str) -> Option<&Self> {
        let element = || match token.parse() {
            Ok(index) => self.element(index),
            Err(_) if token == "-" => self.any_element.as_deref(),
            Err(_) => None,
        };
        self.member(token).or_else(element)
    }

    fn is_empty(&self) -> bool {
        !self.is_masked
            && self.members.is_empty()
            && self.elements.is_empty()
            && self.any_element.is_none()
    }

    fn inside(key: &str, inner: Self) -> Self {
        Self {
            members: HashMap::from([(key.to_owned(), inner)]),
            ..Self::default()
        }
    }
}

/// How places of elements are kept.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Elements {
    /// Each by its index.
    Exact,
    /// All as one: lists may be longer or shorter at another time.
    Alike,
}

/// Where a value of a patch goes.
pub(crate) struct Target<'a> {
    /// The tokens of its path, and whether each is an index of a list.
    pub(crate) tokens: &'a [(String, bool)],
    /// The value.
    pub(crate) value: &'a Value,
}

/// Longest list that is made up around a value of a patch.
const LONGEST: usize = 256;

impl Paths {
    /// Reads them.
    pub(crate) fn new(paths: &[String]) -> Result<Self, Vec<Fault>> {
        let (mut read, mut faults) = (Vec::new(), Vec::new());
        for (index, written) in paths.iter().enumerate() {
            match JsonPath::parse(written) {
                Ok(path) => read.push(path),
                Err(e) => faults.push(Fault::at(path::index("mask", index), e.to_string())),
            }
        }
        if faults.is_empty() {
            Ok(Self(read))
        } else {
            Err(faults)
        }
    }

    /// Whether there are none.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The places in a value.
    pub(crate) fn in_value(&self, value: &Value) -> Option<Places> {
        if self.is_empty() {
            return None;
        }
        let mut places = Places::default();
        self.add(value, Elements::Exact, &mut places);
        (!places.is_empty()).then_some(places)
    }

    /// The places in the review of a request. None where a document can't be read.
    pub(crate) fn in_review(&self, request: &Attributes) -> Result<Option<Places>, ()> {
        if self.is_empty() {
            return Ok(None);
        }
        let mut members = HashMap::new();
        let documents = [
            ("object", &request.object),
            ("oldObject", &request.old_object),
        ];
        for (key, document) in documents {
            if let Some(document) = document {
                let value = document.original().map_err(|_| ())?;
                if let Some(places) = self.in_value(value) {
                    members.insert(key.to_owned(), places);
                }
            }
        }
        let request = Places {
            members,
            ..Places::default()
        };
        Ok((!request.is_empty()).then(|| Places::inside("request", request)))
    }

    /// Places that any of the objects of a request has, whatever the length of its lists: what a patch
    /// may put there is masked.
    pub(crate) fn in_patches(&self, request: &Attributes) -> Places {
        let mut places = Places::default();
        if self.is_empty() {
            return places;
        }
        let documents = [&request.object, &request.old_object];
        for document in documents.into_iter().flatten() {
            let trees = [document.original(), document.value()];
            for tree in trees.into_iter().flatten() {
                self.add(tree, Elements::Alike, &mut places);
            }
        }
        places
    }

    /// The places in a value of a patch: those the object has, and those the expressions find if
    /// nothing but the value is there.
    pub(crate) fn in_target(&self, target: &Target<'_>, known: &Places) -> Option<Places> {
        if self.is_empty() {
            return None;
        }
        let mut around = Some(known);
        let mut found = Places::default();
        for (token, _) in target.tokens {
            found.is_masked |= around.is_some_and(Places::is_masked);
            around = around.and_then(|places| places.behind(token));
        }
        found.merge(around);
        let mut skeleton = target.value.clone();
        for (token, is_index) in target.tokens.iter().rev() {
            skeleton = match (is_index, token.parse::<usize>()) {
                (true, index) => {
                    let mut list = vec![Value::Null; index.unwrap_or(0).min(LONGEST)];
                    list.push(skeleton);
                    Value::Array(list)
                }
                (false, _) => Value::Object(Map::from_iter([(token.clone(), skeleton)])),
            };
        }
        let mut places = Places::default();
        self.add(&skeleton, Elements::Exact, &mut places);
        let mut around = Some(&places);
        for (token, is_index) in target.tokens {
            found.is_masked |= around.is_some_and(Places::is_masked);
            around = around.and_then(|places| match (is_index, token.parse::<usize>()) {
                (true, index) => places.element(index.unwrap_or(0).min(LONGEST)),
                (false, _) => places.member(token),
            });
        }
        found.merge(around);
        (!found.is_empty()).then_some(found)
    }

    fn add(&self, value: &Value, elements: Elements, places: &mut Places) {
        for path in &self.0 {
            for location in path.query_located(value).locations() {
                let mut place = &mut *places;
                for element in location.iter() {
                    place = match (element, elements) {
                        (PathElement::Name(name), _) => {
                            place.members.entry((*name).to_owned()).or_default()
                        }
                        (PathElement::Index(index), Elements::Exact) => {
                            place.elements.entry(*index).or_default()
                        }
                        (PathElement::Index(_), Elements::Alike) => {
                            place.any_element.get_or_insert_default()
                        }
                    };
                }
                place.is_masked = true;
            }
        }
    }
}

impl Places {
    fn merge(&mut self, other: Option<&Self>) {
        let Some(other) = other else {
            return;
        };
        self.is_masked |= other.is_masked;
        for (key, inner) in &other.members {
            self.members
                .entry(key.clone())
                .or_default()
                .merge(Some(inner));
        }
        for (index, inner) in &other.elements {
            self.elements.entry(*index).or_default().merge(Some(inner));
        }
        if let Some(inner) = &other.any_element {
            self.any_element.get_or_insert_default().merge(Some(inner));
        }
    }
}
