//! The text of a review, which stays byte for byte as it is but for the secrets.
//!
//! One pass over the text that reads names and passes over values. What an object says of itself
//! (`kind`, `apiVersion`) may come after what depends on it, so it is looked up when it matters, once
//! for each object, with the help of the index.

use std::borrow::Cow;

use portcullis_core::json::{self, Index, MAX_DEPTH};

use super::found::{Edit, Found};
use super::frame::{Frame, SharedPointer, Step};
use super::names::{self, KeyRule};
use super::paths::Places;
use super::text::{self, Members, blanks, scalar_end, string_end};
use super::{Header, Mode, Secret, credentials};
use crate::search::known::{self, Known};
use crate::shape::MaskShape;

/// A text to look through, and what is known of it.
#[derive(Clone, Copy)]
pub(crate) struct Subject<'t, 'r> {
    /// The text: strict JSON.
    pub(crate) text: &'t str,
    /// Where its lists and objects are, if that is known.
    pub(crate) index: Option<&'r Index>,
    /// Where its objects are.
    pub(crate) shape: &'static MaskShape,
    /// What the request says the objects are.
    pub(crate) header: Header,
    /// What the configuration adds, from the beginning of the text.
    pub(crate) configured: Option<&'r Places>,
}

/// As many secrets are made room for at once.
const USUAL: usize = 16;

/// Finds the secrets of a text. None if the text is not what it should be.
pub(crate) fn find<'t>(subject: Subject<'t, '_>, prefix: &str) -> Option<Found<'t>> {
    walk(subject, prefix, None)
}

/// The same where these are secrets too, wherever they stand.
pub(super) fn find_known<'t>(
    subject: Subject<'t, '_>,
    prefix: &str,
    known: &Known<'_>,
) -> Option<Found<'t>> {
    walk(subject, prefix, Some(known))
}

fn walk<'t>(
    subject: Subject<'t, '_>,
    prefix: &str,
    known: Option<&Known<'_>>,
) -> Option<Found<'t>> {
    let mut walker = Walker {
        known,
        shared: SharedPointer::default(),
        subject,
        bytes: subject.text.as_bytes(),
        at: 0,
        looks: credentials::may_have_secrets(subject.text.as_bytes()),
        prefix,
        found: Found::default(),
    };
    walker.at = blanks(walker.bytes, 0);
    walker.value(Mode::Plain, None, subject.configured)?;
    (blanks(walker.bytes, walker.at) == walker.bytes.len()).then_some(walker.found)
}

/// Whether a text is JSON with secrets in it, like an earlier version of the object in an annotation.
fn hides_secrets(text: &str) -> bool {
    let subject = Subject {
        text,
        index: None,
        shape: &MaskShape::OBJECT,
        header: Header::default(),
        configured: None,
    };
    json::scan(text.as_bytes()).is_ok()
        && find(subject, "").is_some_and(|found| !found.edits.is_empty())
}

struct Walker<'t, 'r> {
    subject: Subject<'t, 'r>,
    bytes: &'t [u8],
    at: usize,
    /// Whether any value may look like a secret.
    looks: bool,
    prefix: &'r str,
    found: Found<'t>,
    /// What is a secret wherever it stands, once that is known.
    known: Option<&'r Known<'r>>,
    /// The pointer to the container two levels above the last value that was masked: variables of one
    /// environment share it.
    shared: SharedPointer,
}

impl<'t, 'r> Walker<'t, 'r> {
    fn value(
        &mut self,
        mode: Mode,
        parent: Option<&Frame<'_>>,
        places: Option<&'r Places>,
    ) -> Option<()> {
        if places.is_some_and(Places::is_masked) {
            return self.whole(parent);
        }
        match self.bytes.get(self.at)? {
            b'"' => self.string(mode, parent),
            b'{' => self.object(mode, parent, places),
            b'[' => self.list(mode, parent, places),
            b't' | b'f' | b'n' => self.word(),
            b'-' | b'0'..=b'9' => {
                let start = self.at;
                self.at = scalar_end(self.bytes, start);
                let written = self.subject.text.get(start..self.at)?;
                if mode.masks() {
                    self.mask(start, self.at, "0", parent);
                    self.found.secrets.push(Secret {
                        is_everywhere: mode != Mode::Variable,
                        ..Secret::plain(written)
                    });
                } else if self.known.is_some_and(|known| known.is_number(written)) {
                    self.mask(start, self.at, "0", parent);
                }
                Some(())
            }
            _ => None,
        }
    }

    fn word(&mut self) -> Option<()> {
        self.at = scalar_end(self.bytes, self.at);
        Some(())
    }

    /// A value that is masked as a whole, because the configuration says so.
    fn whole(&mut self, parent: Option<&Frame<'_>>) -> Option<()> {
        let start = self.at;
        let (edits, pointers) = (self.found.edits.len(), self.found.pointers.len());
        // Finds what is in it.
        self.value(Mode::Everything, parent, None)?;
        let with = match self.bytes.get(start)? {
            b'{' => "{}",
            b'[' => "[]",
            _ => return Some(()),
        };
        self.found.edits.truncate(edits);
        self.found.pointers.truncate(pointers);
        self.mask(start, self.at, with, parent);
        Some(())
    }

    #[inline]
    fn string(&mut self, mode: Mode, parent: Option<&Frame<'_>>) -> Option<()> {
        let start = self.at;
        let (end, has_escapes) = string_end(self.bytes, start + 1)?;
        self.at = end + 1;
        let is_json = self.bytes.get(start + 1) == Some(&b'{');
        if !(mode.masks() || self.looks || is_json || self.known.is_some()) {
            return Some(());
        }
        let content = self.subject.text.get(start + 1..end)?;
        if mode.masks() {
            if !content.is_empty() {
                self.mask(start, self.at, "\"(masked)\"", parent);
                self.found.secrets.push(Secret {
                    written: Cow::Borrowed(content),
                    has_escapes,
                    is_everywhere: mode != Mode::Variable || self.is_sure(content, parent),
                });
            }
            return Some(());
        }
        if content.is_empty() {
            return Some(());
        }
        let meant = match has_escapes {
            true => text::unescaped(content),
            false => Cow::Borrowed(content),
        };
        let is_secret = self.looks && credentials::is_secret(&meant);
        if is_secret || (is_json && hides_secrets(&meant)) {
            self.mask(start, self.at, "\"(masked)\"", parent);
            self.found.secrets.push(Secret {
                written: Cow::Borrowed(content),
                has_escapes,
                is_everywhere: true,
            });
        } else if let Some(known) = self.known
            && known.masks(content, &meant)
            && !self.is_structure(parent)
        {
            self.mask(start, self.at, "\"(masked)\"", parent);
        }
        Some(())
    }

    /// Whether the value of a variable is a secret for sure: its name says so, or it looks random.
    fn is_sure(&self, value: &str, parent: Option<&Frame<'_>>) -> bool {
        if value.len() < known::SHORTEST_KNOWN {
            return false;
        }
        let Some(frame) = parent.filter(|frame| !frame.is_list) else {
            let name = value.split_once('=').map(|(name, _)| name);
            return name.is_some_and(names::is_secret) || known::looks_random(value);
        };
        known::looks_random(value)
            || names::is_secret(&frame.key(self.subject.text))
            || self.has_secret_name(frame, self.at)
    }

    /// Whether a text says what the review is and what it is about: a review is unreadable without it.
    fn is_structure(&self, parent: Option<&Frame<'_>>) -> bool {
        let Some(frame) = parent else {
            return false;
        };
        let shape = self.subject.shape;
        let is_type = || matches!(frame.key(self.subject.text).as_ref(), "apiVersion" | "kind");
        match (shape.envelope, frame.depth, frame.parent) {
            (None, 0, _) => is_type(),
            (Some(_), 0 | 1, _) => true,
            (Some(_), 2, Some(envelope)) => {
                let member = envelope.key(self.subject.text);
                shape.subjects.contains(&member.as_ref())
                    || (shape.objects.contains(&member.as_ref()) && is_type())
            }
            _ => false,
        }
    }

    /// Whether the name of a member is, or holds, a secret.
    fn is_secret_key(&self, written: &str, key: &str) -> bool {
        (self.looks && credentials::is_secret(key))
            || self.known.is_some_and(|known| known.masks(written, key))
    }

    fn list(
        &mut self,
        mode: Mode,
        parent: Option<&Frame<'_>>,
        places: Option<&'r Places>,
    ) -> Option<()> {
        let frame = self.open(parent, true)?;
        let mode = mode.of_element();
        let mut index = 0;
        self.at = blanks(self.bytes, self.at);
        if self.bytes.get(self.at)? == &b']' {
            self.at += 1;
            return Some(());
        }
        loop {
            frame.step.set(Step::Index(index));
            let inner = places.and_then(|places| places.element(index));
            self.value(mode, Some(&frame), inner)?;
            index += 1;
            if self.ends(b']')? {
                return Some(());
            }
        }
    }

    fn object(
        &mut self,
        mode: Mode,
        parent: Option<&Frame<'_>>,
        places: Option<&'r Places>,
    ) -> Option<()> {
        let frame = self.open(parent, false)?;
        let (edits, pointers) = (self.found.edits.len(), self.found.pointers.len());
        let mut has_secret_keys = false;
        self.at = blanks(self.bytes, self.at);
        if self.bytes.get(self.at)? == &b'}' {
            self.at += 1;
            return Some(());
        }
        loop {
            if self.bytes.get(self.at)? != &b'"' {
                return None;
            }
            let start = self.at + 1;
            let (end, has_escapes) = string_end(self.bytes, start)?;
            frame.step.set(Step::Key {
                start,
                end,
                has_escapes,
            });
            self.at = blanks(self.bytes, end + 1);
            if self.bytes.get(self.at)? != &b':' {
                return None;
            }
            self.at = blanks(self.bytes, self.at + 1);
            let content = self.subject.text.get(start..end)?;
            let key = match has_escapes {
                true => text::unescaped(content),
                false => Cow::Borrowed(content),
            };
            if self.looks || self.known.is_some() {
                has_secret_keys |= self.is_secret_key(content, &key);
            }
            if matches!(key.as_ref(), "name" | "key")
                && let Some(before) = frame.name.replace(Some(self.at))
            {
                // A second one: only the last is looked at later.
                let is_secret = frame.has_secret_name.get() || self.is_secret_name(before);
                frame.has_secret_name.set(is_secret);
            }
            let inner = places.and_then(|places| places.member(&key));
            let mode = match mode.of_member(&key) {
                Some(mode) => mode,
                None => self.mode_by_name(&key, &frame),
            };
            self.value(mode, Some(&frame), inner)?;
            if self.ends(b'}')? {
                if has_secret_keys {
                    // Its position would reveal it: all of the object is masked.
                    self.found.edits.truncate(edits);
                    self.found.pointers.truncate(pointers);
                    self.mask(frame.start, self.at, "{}", parent);
                }
                return Some(());
            }
        }
    }

    /// Passes over what is between two values of a list or object; true at its end.
    #[inline]
    fn ends(&mut self, bracket: u8) -> Option<bool> {
        self.at = blanks(self.bytes, self.at);
        let byte = *self.bytes.get(self.at)?;
        self.at += 1;
        if byte == bracket {
            return Some(true);
        }
        if byte != b',' {
            return None;
        }
        self.at = blanks(self.bytes, self.at);
        Some(false)
    }

    fn open<'p>(&mut self, parent: Option<&'p Frame<'p>>, is_list: bool) -> Option<Frame<'p>> {
        let frame = Frame::new(parent, self.at, is_list);
        self.at += 1;
        (frame.depth <= MAX_DEPTH).then_some(frame)
    }

    #[inline]
    fn mode_by_name(&self, key: &str, frame: &Frame<'_>) -> Mode {
        let (is_it, mode) = match names::key_rule(key) {
            KeyRule::None => return Mode::Plain,
            KeyRule::Secret => return Mode::Named,
            KeyRule::Environment => return Mode::Environment,
            KeyRule::Data => (self.is_secret(frame), Mode::Everything),
            KeyRule::Variables => (self.is_in_ci_job(frame), Mode::Environment),
            KeyRule::Value => {
                let index = self.subject.index;
                let end = text::value_end(self.bytes, self.at, index).unwrap_or(self.at);
                (self.has_secret_name(frame, end), Mode::Named)
            }
        };
        if is_it { mode } else { Mode::Plain }
    }

    /// Whether an object is a Secret: by its own account, or as item of a list of Secrets.
    fn is_secret(&self, frame: &Frame<'_>) -> bool {
        let is_item = || {
            let list = frame.parent.filter(|list| list.is_list)?;
            let around = list.parent.filter(|around| !around.is_list)?;
            (around.key(self.subject.text) == "items").then(|| self.header(around).is_secret_list)
        };
        self.header(frame).is_secret || is_item() == Some(true)
    }

    fn is_in_ci_job(&self, frame: &Frame<'_>) -> bool {
        let mut around = Some(frame);
        while let Some(frame) = around {
            if !frame.is_list && self.header(frame).is_ci_job {
                return true;
            }
            around = frame.parent;
        }
        false
    }

    /// Whether the text that begins at this quote is the name of a secret.
    fn is_secret_name(&self, quote: usize) -> bool {
        let value = || text::value_end(self.bytes, quote, self.subject.index);
        let name = value().and_then(|end| text::string_at(self.subject.text, quote, end));
        name.is_some_and(|name| names::is_secret(&name))
    }

    /// Whether the object's `name` or `key` is the name of a secret: one of those that were passed, or one
    /// behind the value that ends at `end`.
    fn has_secret_name(&self, frame: &Frame<'_>, end: usize) -> bool {
        frame.has_secret_name.get()
            || frame
                .name
                .get()
                .is_some_and(|name| self.is_secret_name(name))
            || Members::behind(self.subject.text, self.subject.index, end)
                .filter(|(key, ..)| matches!(key.as_ref(), "name" | "key"))
                .filter_map(|(_, start, end)| text::string_at(self.subject.text, start, end))
                .any(|name| names::is_secret(&name))
    }

    fn header(&self, frame: &Frame<'_>) -> Header {
        if let Some(header) = frame.header.get() {
            return header;
        }
        let (mut version, mut kind) = (None, None);
        for (key, start, end) in self.members(frame) {
            match key.as_ref() {
                "apiVersion" => version = text::string_at(self.subject.text, start, end),
                "kind" => kind = text::string_at(self.subject.text, start, end),
                _ => {}
            }
        }
        let mut header = Header::new(version.as_deref(), kind.as_deref());
        if self.is_object_of_request(frame) {
            header = header.or(self.subject.header);
        }
        frame.header.set(Some(header));
        header
    }

    fn is_object_of_request(&self, frame: &Frame<'_>) -> bool {
        let shape = self.subject.shape;
        match (shape.envelope, frame.parent) {
            (None, parent) => parent.is_none(),
            (Some(name), Some(envelope)) => {
                let is_envelope = |body: &Frame<'_>| body.key(self.subject.text) == name;
                frame.depth == 2
                    && envelope.parent.is_some_and(is_envelope)
                    && shape
                        .objects
                        .contains(&envelope.key(self.subject.text).as_ref())
            }
            (Some(_), None) => false,
        }
    }

    fn members(&self, frame: &Frame<'_>) -> Members<'t, 'r> {
        Members::new(self.subject.text, self.subject.index, frame.start)
    }

    fn mask(&mut self, start: usize, end: usize, with: &'static str, parent: Option<&Frame<'_>>) {
        if self.found.edits.is_empty() {
            // Where there is one, there are more.
            self.found.edits.reserve(USUAL);
            self.found.pointers.reserve(USUAL);
            self.found.secrets.reserve(USUAL);
        }
        self.found.edits.push(Edit { start, end, with });
        let pointer = self.shared.pointer(self.subject.text, self.prefix, parent);
        self.found.pointers.push(pointer);
    }
}
