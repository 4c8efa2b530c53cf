//! JSON as a tree that is parsed lazily from its text.
//!
//! A scanned text knows where its lists and objects end ([`crate::json::Index`]). A [`Tree`] of it
//! reads one level at a time, and passes over the lists and objects in it until something reads
//! them. Looking at one member of a large object costs what the levels on the way cost, not the whole.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

use serde_json::{Number, Value};

use crate::json::Index;

/// A value, parsed as far as it was read.
#[derive(Debug, Clone)]
pub struct Tree(Node);

#[derive(Debug, Clone)]
enum Node {
    Null,
    Bool(bool),
    Number(Number),
    String(String),
    List(Vec<Tree>),
    Object(Vec<(String, Tree)>),
    /// Text, and what it says once it was looked at.
    Text(Part, OnceLock<Box<Node>>),
}

/// What a value is.
#[derive(Debug, Clone, Copy)]
pub enum Look<'a> {
    /// `null`.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A number.
    Number(&'a Number),
    /// A text.
    String(&'a str),
    /// A list.
    List(&'a [Tree]),
    /// An object: each key once.
    Object(&'a [(String, Tree)]),
}

/// A text whose parts are known.
#[derive(Debug, Clone)]
pub(crate) struct IndexedText {
    text: Arc<str>,
    index: Index,
    /// Where the text begins in the one that was scanned.
    base: u32,
    /// The outermost container.
    place: u32,
}

impl IndexedText {
    /// The text of a list or object; none where it is not known.
    pub(crate) fn new(text: Arc<str>, index: &Index, base: usize) -> Option<Self> {
        u32::try_from(base.checked_add(text.len())?).ok()?;
        let base = u32::try_from(base).ok()?;
        Some(Self {
            text,
            place: index.at(base)?,
            index: index.clone(),
            base,
        })
    }

    pub(crate) fn tree(&self) -> Tree {
        let part = Part {
            place: self.place,
            whole: Arc::new(self.clone()),
        };
        Tree(Node::Text(part, OnceLock::new()))
    }
}

/// A list or object in a text.
#[derive(Debug, Clone)]
struct Part {
    whole: Arc<IndexedText>,
    place: u32,
}

impl Tree {
    /// What it is. Text is read now, if it was not before.
    pub fn look(&self) -> Look<'_> {
        self.0.look()
    }

    /// Whether it is a list or object that has not been read yet.
    pub fn is_unread(&self) -> bool {
        matches!(&self.0, Node::Text(_, read) if read.get().is_none())
    }

    /// Its text, if it has not been read yet.
    pub fn unread_text(&self) -> Option<&str> {
        match &self.0 {
            Node::Text(part, read) if read.get().is_none() => part.text(),
            _ => None,
        }
    }

    /// The member of this key, or nothing.
    pub fn get(&self, key: &str) -> Option<&Tree> {
        match self.look() {
            Look::Object(members) => {
                let mut members = members.iter();
                members.find(|(own, _)| own == key).map(|(_, tree)| tree)
            }
            _ => None,
        }
    }

    /// The element at this place, or nothing.
    pub fn element(&self, index: usize) -> Option<&Tree> {
        match self.look() {
            Look::List(elements) => elements.get(index),
            _ => None,
        }
    }

    /// The text, if it is one.
    pub fn as_str(&self) -> Option<&str> {
        match self.look() {
            Look::String(text) => Some(text),
            _ => None,
        }
    }

    /// The whole of it as a plain value.
    pub fn to_value(&self) -> Value {
        if let Node::Text(part, read) = &self.0
            && read.get().is_none()
        {
            return part.text().map_or(Value::Null, |text| {
                serde_json::from_str(text).unwrap_or_default()
            });
        }
        match self.look() {
            Look::Null => Value::Null,
            Look::Bool(value) => Value::Bool(value),
            Look::Number(number) => Value::Number(number.clone()),
            Look::String(text) => Value::String(text.to_owned()),
            Look::List(list) => list.iter().map(Tree::to_value).collect(),
            Look::Object(members) => {
                let members = members.iter();
                members.map(|(k, v)| (k.clone(), v.to_value())).collect()
            }
        }
    }
}

impl PartialEq<Value> for Tree {
    fn eq(&self, other: &Value) -> bool {
        match (self.look(), other) {
            (Look::Null, Value::Null) => true,
            (Look::Bool(one), Value::Bool(other)) => one == *other,
            (Look::Number(one), Value::Number(other)) => one == other,
            (Look::String(one), Value::String(other)) => one == other,
            (Look::List(one), Value::Array(other)) => {
                one.len() == other.len() && one.iter().zip(other).all(|(one, other)| one == other)
            }
            (Look::Object(one), Value::Object(other)) => {
                one.len() == other.len()
                    && one
                        .iter()
                        .all(|(key, tree)| other.get(key).is_some_and(|value| tree == value))
            }
            _ => false,
        }
    }
}

impl PartialEq for Tree {
    fn eq(&self, other: &Self) -> bool {
        match (self.look(), other.look()) {
            (Look::Null, Look::Null) => true,
            (Look::Bool(one), Look::Bool(other)) => one == other,
            (Look::Number(one), Look::Number(other)) => one == other,
            (Look::String(one), Look::String(other)) => one == other,
            (Look::List(one), Look::List(other)) => one == other,
            (Look::Object(one), Look::Object(two)) => {
                if one.len() != two.len() {
                    return false;
                }
                // Objects may be large, and their members in any order.
                let two: HashMap<&str, &Self> = two.iter().map(|(k, v)| (k.as_str(), v)).collect();
                let same = |(key, tree): &(String, Self)| two.get(key.as_str()) == Some(&tree);
                one.iter().all(same)
            }
            _ => false,
        }
    }
}

impl From<&Value> for Tree {
    fn from(value: &Value) -> Self {
        Self(match value {
            Value::Null => Node::Null,
            Value::Bool(value) => Node::Bool(*value),
            Value::Number(number) => Node::Number(number.clone()),
            Value::String(text) => Node::String(text.clone()),
            Value::Array(list) => Node::List(list.iter().map(Self::from).collect()),
            Value::Object(map) => {
                let member = |(key, value): (&String, &Value)| (key.clone(), Self::from(value));
                Node::Object(map.iter().map(member).collect())
            }
        })
    }
}

impl Node {
    fn look(&self) -> Look<'_> {
        match self {
            Self::Null => Look::Null,
            Self::Bool(value) => Look::Bool(*value),
            Self::Number(number) => Look::Number(number),
            Self::String(text) => Look::String(text),
            Self::List(list) => Look::List(list),
            Self::Object(members) => Look::Object(members),
            Self::Text(part, read) => read.get_or_init(|| Box::new(part.read())).look(),
        }
    }
}

impl Part {
    /// Its text, brackets included.
    fn text(&self) -> Option<&str> {
        let container = self.whole.index.get(self.place)?;
        let at = |offset: u32| usize::try_from(offset.checked_sub(self.whole.base)?).ok();
        self.whole
            .text
            .get(at(container.start)?..at(container.end)?)
    }

    /// One level of it. The text was found to be strict JSON; should it not be, it is null.
    fn read(&self) -> Node {
        let read = || {
            let start = self.whole.index.get(self.place)?.start;
            let mut reader = Reader {
                whole: &self.whole,
                at: usize::try_from(start.checked_sub(self.whole.base)?).ok()?,
                place: self.place,
            };
            reader.container()
        };
        read().unwrap_or(Node::Null)
    }
}

/// Reads text that is known to be strict JSON.
struct Reader<'a> {
    whole: &'a Arc<IndexedText>,
    at: usize,
    /// The place of the next container.
    place: u32,
}

impl<'a> Reader<'a> {
    fn container(&mut self) -> Option<Node> {
        self.place += 1;
        match self.next()? {
            b'{' => {
                let mut members = Vec::new();
                while self.blanks()? != b'}' {
                    let key = self.string()?.into_owned();
                    self.blanks()?;
                    self.at += 1;
                    members.push((key, Tree(self.value()?)));
                    if self.blanks()? == b',' {
                        self.at += 1;
                    }
                }
                self.at += 1;
                Some(Node::Object(members))
            }
            _ => {
                let mut elements = Vec::new();
                while self.blanks()? != b']' {
                    elements.push(Tree(self.value()?));
                    if self.blanks()? == b',' {
                        self.at += 1;
                    }
                }
                self.at += 1;
                Some(Node::List(elements))
            }
        }
    }

    fn value(&mut self) -> Option<Node> {
        match self.blanks()? {
            b'{' | b'[' => {
                let container = self.whole.index.get(self.place)?;
                let part = Part {
                    whole: Arc::clone(self.whole),
                    place: self.place,
                };
                self.at = usize::try_from(container.end.checked_sub(self.whole.base)?).ok()?;
                self.place = container.next;
                Some(Node::Text(part, OnceLock::new()))
            }
            b'"' => self.string().map(|text| Node::String(text.into_owned())),
            b't' => self.word(4, Node::Bool(true)),
            b'f' => self.word(5, Node::Bool(false)),
            b'n' => self.word(4, Node::Null),
            _ => {
                let rest = self.rest()?;
                let is_part = |b: &u8| matches!(b, b'0'..=b'9' | b'-' | b'+' | b'.' | b'e' | b'E');
                let length = rest.bytes().take_while(is_part).count();
                let number = serde_json::from_str(rest.get(..length)?).ok()?;
                self.word(length, Node::Number(number))
            }
        }
    }

    fn word(&mut self, length: usize, node: Node) -> Option<Node> {
        self.at += length;
        Some(node)
    }

    /// A text in quotes.
    fn string(&mut self) -> Option<Cow<'a, str>> {
        self.at += 1;
        let start = self.at;
        let bytes = self.whole.text.as_bytes();
        let mut has_escapes = false;
        loop {
            let rest = bytes.get(self.at..)?;
            self.at += rest.iter().position(|b| matches!(b, b'"' | b'\\'))?;
            if bytes.get(self.at) == Some(&b'"') {
                break;
            }
            has_escapes = true;
            self.at += 2;
        }
        self.at += 1;
        if has_escapes {
            let quoted = self.whole.text.get(start - 1..self.at)?;
            return serde_json::from_str(quoted).ok().map(Cow::Owned);
        }
        self.whole.text.get(start..self.at - 1).map(Cow::Borrowed)
    }

    fn rest(&self) -> Option<&'a str> {
        self.whole.text.get(self.at..)
    }

    fn next(&mut self) -> Option<u8> {
        let byte = self.whole.text.as_bytes().get(self.at).copied();
        self.at += 1;
        byte
    }

    /// The byte behind blanks.
    fn blanks(&mut self) -> Option<u8> {
        loop {
            match self.whole.text.as_bytes().get(self.at)? {
                b' ' | b'\t' | b'\n' | b'\r' => self.at += 1,
                byte => return Some(*byte),
            }
        }
    }
}

#[cfg(test)]
mod tests;
