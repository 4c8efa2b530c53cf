//! Strict JSON: one pass that checks everything a door must refuse.
//!
//! [`scan`] refuses what lenient parsers let through and attackers use: a key twice, trailing
//! text, invalid UTF-8, numbers no machine holds, nesting without end. It also notes where the
//! members of the two outermost objects are, so that a door can read them without a second pass
//! over the whole text. It builds no tree.

use std::borrow::Cow;
use std::collections::HashSet;

/// What is wrong with a text, and where.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message} at line {line}, column {column}")]
pub struct JsonFault {
    /// What is wrong.
    pub message: String,
    /// Line, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
}

/// How deep lists and objects may be nested: below what `serde_json` reads.
pub const MAX_DEPTH: usize = 120;

/// How deep members are noted.
const NOTED_DEPTH: usize = 2;

/// Objects with more members look for repeated keys in a set.
const LINEAR_KEYS: usize = 24;

/// A member of one of the outermost objects.
#[derive(Debug, Clone)]
pub struct Member<'a> {
    depth: usize,
    key: Cow<'a, str>,
    start: usize,
    end: usize,
}

/// A text that was found to be strict JSON.
#[derive(Debug, Clone)]
pub struct Scanned<'a> {
    text: &'a str,
    members: Vec<Member<'a>>,
}

impl<'a> Scanned<'a> {
    /// The whole text.
    pub fn text(&self) -> &'a str {
        self.text
    }

    /// Whether the text is an object.
    pub fn is_object(&self) -> bool {
        self.text.trim_start().starts_with('{')
    }

    /// The text of the outermost object's member of this name.
    pub fn member(&self, key: &str) -> Option<&'a str> {
        self.members
            .iter()
            .find(|m| m.depth == 1 && m.key == key)
            .map(|m| self.of(m))
    }

    /// Name and text of the members of the object that is the outermost object's member `outer`.
    pub fn members_of(&self, outer: &str) -> impl Iterator<Item = (&str, &'a str)> {
        let parent = self.members.iter().find(|m| m.depth == 1 && m.key == outer);
        let (start, end) = parent.map_or((0, 0), |p| (p.start, p.end));
        let inside = move |m: &&Member<'a>| m.depth == 2 && m.start > start && m.end < end;
        self.members
            .iter()
            .filter(inside)
            .map(|m| (m.key.as_ref(), self.of(m)))
    }

    /// A fault of the value whose text this is. The text must be a part of the scanned one.
    pub fn fault_at(&self, part: &str, message: &str) -> JsonFault {
        let offset = (part.as_ptr() as usize).saturating_sub(self.text.as_ptr() as usize);
        fault(self.text.as_bytes(), offset, message)
    }

    /// A fault of the whole.
    pub fn fault(&self, message: &str) -> JsonFault {
        self.fault_at(self.text.trim_start(), message)
    }

    fn of(&self, member: &Member<'a>) -> &'a str {
        self.text.get(member.start..member.end).unwrap_or_default()
    }
}

/// Checks the whole text.
pub fn scan(bytes: &[u8]) -> Result<Scanned<'_>, JsonFault> {
    let text = match std::str::from_utf8(bytes) {
        Ok(text) => text,
        Err(e) => return Err(fault(bytes, e.valid_up_to(), "invalid UTF-8")),
    };
    let mut scanner = Scanner {
        bytes,
        text,
        at: 0,
        open: Vec::new(),
        keys: Vec::new(),
        members: Vec::new(),
    };
    match scanner.document() {
        Ok(()) => Ok(Scanned {
            text,
            members: scanner.members,
        }),
        Err(Wrong { at, message }) => Err(fault(bytes, at, &message)),
    }
}

struct Wrong {
    at: usize,
    message: Cow<'static, str>,
}

/// An open list or object.
struct Open<'a> {
    is_object: bool,
    /// Where its keys start in `Scanner::keys`.
    first_key: usize,
    /// Its keys, once there are many.
    many: Option<HashSet<Cow<'a, str>>>,
    /// Its member being read, if noted.
    noting: Option<usize>,
}

struct Scanner<'a> {
    bytes: &'a [u8],
    text: &'a str,
    at: usize,
    open: Vec<Open<'a>>,
    keys: Vec<Cow<'a, str>>,
    members: Vec<Member<'a>>,
}

impl<'a> Scanner<'a> {
    fn document(&mut self) -> Result<(), Wrong> {
        self.blanks();
        if self.peek().is_none() {
            return self.wrong("expected a value, found nothing");
        }
        loop {
            // A value starts here; a list or object that is opened continues with its first value.
            if self.begin_value()? {
                continue;
            }
            // A value has ended; close what ends with it.
            loop {
                self.end_of_member();
                self.blanks();
                let Some(open) = self.open.last() else {
                    return match self.peek() {
                        None => Ok(()),
                        Some(_) => self.wrong("unexpected text after the end"),
                    };
                };
                let is_object = open.is_object;
                match self.peek() {
                    Some(b',') => {
                        self.at += 1;
                        self.blanks();
                        if is_object {
                            self.key()?;
                        }
                        break;
                    }
                    Some(b'}') if is_object => self.close(),
                    Some(b']') if !is_object => self.close(),
                    None => return self.wrong("the text ends too early"),
                    Some(_) if is_object => return self.wrong("expected `,` or `}`"),
                    Some(_) => return self.wrong("expected `,` or `]`"),
                }
            }
        }
    }

    /// Reads a value; true if it opened a list or object that holds something.
    fn begin_value(&mut self) -> Result<bool, Wrong> {
        match self.peek() {
            Some(b'{') => {
                self.open(true)?;
                if self.peek() == Some(b'}') {
                    self.close();
                    return Ok(false);
                }
                self.key()?;
                Ok(true)
            }
            Some(b'[') => {
                self.open(false)?;
                if self.peek() == Some(b']') {
                    self.close();
                    return Ok(false);
                }
                Ok(true)
            }
            Some(b'"') => self.string().map(|_| false),
            Some(b'-' | b'0'..=b'9') => self.number().map(|()| false),
            Some(b't') => self.word("true").map(|()| false),
            Some(b'f') => self.word("false").map(|()| false),
            Some(b'n') => self.word("null").map(|()| false),
            Some(_) => self.wrong("expected a value"),
            None => self.wrong("the text ends too early"),
        }
    }

    fn open(&mut self, is_object: bool) -> Result<(), Wrong> {
        if self.open.len() >= MAX_DEPTH {
            return self.wrong(format!("nested deeper than {MAX_DEPTH} levels"));
        }
        self.open.push(Open {
            is_object,
            first_key: self.keys.len(),
            many: None,
            noting: None,
        });
        self.at += 1;
        self.blanks();
        Ok(())
    }

    fn close(&mut self) {
        if let Some(open) = self.open.pop() {
            self.keys.truncate(open.first_key);
        }
        self.at += 1;
    }

    /// A key and its colon, up to where its value starts.
    fn key(&mut self) -> Result<(), Wrong> {
        let start = self.at;
        match self.peek() {
            Some(b'"') => {}
            None => return self.wrong("the text ends too early"),
            Some(_) => return self.wrong("expected a key in quotes"),
        }
        let has_escapes = self.string()?;
        let inside = self.text.get(start + 1..self.at - 1).unwrap_or_default();
        let key = if has_escapes {
            let quoted = self.text.get(start..self.at).unwrap_or_default();
            match serde_json::from_str::<String>(quoted) {
                Ok(key) => Cow::Owned(key),
                Err(_) => {
                    return Err(Wrong {
                        at: start,
                        message: "invalid escape".into(),
                    });
                }
            }
        } else {
            Cow::Borrowed(inside)
        };
        self.blanks();
        if self.peek() != Some(b':') {
            return self.wrong("expected `:`");
        }
        self.at += 1;
        self.blanks();
        self.remember(key, start)
    }

    /// Refuses a key its object already has, and notes outer members.
    fn remember(&mut self, key: Cow<'a, str>, key_at: usize) -> Result<(), Wrong> {
        let depth = self.open.len();
        let in_objects = depth <= NOTED_DEPTH && self.open.iter().all(|o| o.is_object);
        let Some(open) = self.open.last_mut() else {
            return Ok(());
        };
        let is_new = match &mut open.many {
            Some(set) => set.insert(key.clone()),
            None => {
                let known = self.keys.get(open.first_key..).unwrap_or_default();
                let is_new = !known.contains(&key);
                if known.len() >= LINEAR_KEYS {
                    open.many = Some(known.iter().cloned().chain([key.clone()]).collect());
                } else {
                    self.keys.push(key.clone());
                }
                is_new
            }
        };
        if !is_new {
            return Err(Wrong {
                at: key_at,
                message: format!("key `{}` twice", shorten(&key)).into(),
            });
        }
        if in_objects {
            open.noting = Some(self.members.len());
            self.members.push(Member {
                depth,
                key,
                start: self.at,
                end: self.at,
            });
        }
        Ok(())
    }

    fn end_of_member(&mut self) {
        let noted = self.open.last_mut().and_then(|o| o.noting.take());
        if let Some(member) = noted.and_then(|i| self.members.get_mut(i)) {
            member.end = self.at;
        }
    }

    /// Passes over a string; true if it has escapes.
    fn string(&mut self) -> Result<bool, Wrong> {
        self.at += 1;
        let mut has_escapes = false;
        loop {
            let rest = self.bytes.get(self.at..).unwrap_or_default();
            let plain = rest
                .iter()
                .position(|b| matches!(b, b'"' | b'\\' | 0..=0x1f));
            self.at += plain.unwrap_or(rest.len());
            match self.peek() {
                Some(b'"') => {
                    self.at += 1;
                    return Ok(has_escapes);
                }
                Some(b'\\') => {
                    has_escapes = true;
                    self.escape()?;
                }
                Some(_) => return self.wrong("control character in a string"),
                None => return self.wrong("the text ends inside a string"),
            }
        }
    }

    fn escape(&mut self) -> Result<(), Wrong> {
        let start = self.at;
        match self.bytes.get(start + 1) {
            Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => self.at += 2,
            Some(b'u') => {
                let unit = self.unit(start)?;
                self.at += 6;
                if (0xdc00..0xe000).contains(&unit) {
                    return Err(Wrong {
                        at: start,
                        message: "half a surrogate pair".into(),
                    });
                }
                if (0xd800..0xdc00).contains(&unit) {
                    let low = self.bytes.get(self.at..self.at + 2) == Some(b"\\u");
                    let low = if low { self.unit(self.at)? } else { 0 };
                    if !(0xdc00..0xe000).contains(&low) {
                        return Err(Wrong {
                            at: start,
                            message: "half a surrogate pair".into(),
                        });
                    }
                    self.at += 6;
                }
            }
            None => return self.wrong("the text ends inside a string"),
            Some(_) => return self.wrong("invalid escape"),
        }
        Ok(())
    }

    /// The code unit of the `\uXXXX` at this place.
    fn unit(&self, start: usize) -> Result<u32, Wrong> {
        let digits = self.text.get(start + 2..start + 6).unwrap_or_default();
        match u32::from_str_radix(digits, 16) {
            Ok(unit) if digits.bytes().all(|b| b.is_ascii_hexdigit()) => Ok(unit),
            _ => Err(Wrong {
                at: start,
                message: "invalid escape".into(),
            }),
        }
    }

    fn number(&mut self) -> Result<(), Wrong> {
        let start = self.at;
        if self.peek() == Some(b'-') {
            self.at += 1;
        }
        match self.peek() {
            Some(b'0') => self.at += 1,
            Some(b'1'..=b'9') => self.digits(),
            _ => return self.wrong("invalid number"),
        }
        if matches!(self.peek(), Some(b'0'..=b'9')) {
            return self.wrong("a number can't start with 0");
        }
        let mut is_float = false;
        if self.peek() == Some(b'.') {
            is_float = true;
            self.at += 1;
            self.some_digits()?;
        }
        if matches!(self.peek(), Some(b'e' | b'E')) {
            is_float = true;
            self.at += 1;
            if matches!(self.peek(), Some(b'+' | b'-')) {
                self.at += 1;
            }
            self.some_digits()?;
        }
        // Up to 18 digits fit every integer type; the rest is worth a real look.
        if is_float || self.at - start > 18 {
            let digits = self.text.get(start..self.at).unwrap_or_default();
            if !digits.parse::<f64>().is_ok_and(f64::is_finite) {
                return Err(Wrong {
                    at: start,
                    message: "number out of range".into(),
                });
            }
        }
        Ok(())
    }

    fn some_digits(&mut self) -> Result<(), Wrong> {
        if !matches!(self.peek(), Some(b'0'..=b'9')) {
            return self.wrong("expected a digit");
        }
        self.digits();
        Ok(())
    }

    fn digits(&mut self) {
        while matches!(self.peek(), Some(b'0'..=b'9')) {
            self.at += 1;
        }
    }

    fn word(&mut self, word: &'static str) -> Result<(), Wrong> {
        if self.bytes.get(self.at..self.at + word.len()) == Some(word.as_bytes()) {
            self.at += word.len();
            return Ok(());
        }
        self.wrong("expected a value")
    }

    fn blanks(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    fn wrong<T>(&self, message: impl Into<Cow<'static, str>>) -> Result<T, Wrong> {
        Err(Wrong {
            at: self.at,
            message: message.into(),
        })
    }
}

/// Keys are whatever the caller sends: messages repeat only a part of a long one.
fn shorten(key: &str) -> Cow<'_, str> {
    match key.char_indices().nth(64) {
        Some((end, _)) => format!("{}…", key.get(..end).unwrap_or_default()).into(),
        None => key.into(),
    }
}

fn fault(bytes: &[u8], at: usize, message: &str) -> JsonFault {
    let before = bytes.get(..at).unwrap_or(bytes);
    let line_start = before
        .iter()
        .rposition(|b| *b == b'\n')
        .map_or(0, |i| i + 1);
    let on_line = before.get(line_start..).unwrap_or_default();
    JsonFault {
        message: message.to_owned(),
        line: before.iter().filter(|b| **b == b'\n').count() + 1,
        column: String::from_utf8_lossy(on_line).chars().count() + 1,
    }
}

#[cfg(test)]
mod tests;
