//! JSON text that is known to be strict: where strings and values end.

use std::borrow::Cow;

use portcullis_core::json::{Index, plain_end};

/// The place of the quote that ends a string whose content begins at `at`, and whether there are
/// escapes before it.
#[inline]
pub(crate) fn string_end(bytes: &[u8], at: usize) -> Option<(usize, bool)> {
    let mut has_escapes = false;
    let mut at = at;
    loop {
        at = plain_end(bytes, at);
        match bytes.get(at)? {
            b'"' => return Some((at, has_escapes)),
            b'\\' => has_escapes = true,
            _ => return None,
        }
        at += 2;
    }
}

/// Behind blanks.
#[inline(always)]
pub(crate) fn blanks(bytes: &[u8], mut at: usize) -> usize {
    // Most of the time there are none.
    if bytes.get(at) > Some(&b' ') {
        return at;
    }
    while matches!(bytes.get(at), Some(b' ' | b'\n' | b'\t' | b'\r')) {
        at += 1;
    }
    at
}

/// Behind a number or word.
#[inline]
pub(crate) fn scalar_end(bytes: &[u8], at: usize) -> usize {
    let rest = bytes.get(at..).unwrap_or_default();
    let ends = |b: &u8| matches!(b, b',' | b']' | b'}' | b' ' | b'\n' | b'\t' | b'\r');
    at + rest.iter().position(ends).unwrap_or(rest.len())
}

/// Behind the value that begins at `at`. The index knows where lists and objects end; without it their
/// text is passed over.
pub(crate) fn value_end(bytes: &[u8], at: usize, index: Option<&Index>) -> Option<usize> {
    match bytes.get(at)? {
        b'"' => string_end(bytes, at + 1).map(|(end, _)| end + 1),
        b'{' | b'[' => index
            .and_then(|index| index.end_of(at))
            .or_else(|| container_end(bytes, at)),
        _ => Some(scalar_end(bytes, at)),
    }
}

fn container_end(bytes: &[u8], mut at: usize) -> Option<usize> {
    let mut depth = 0_usize;
    loop {
        match bytes.get(at)? {
            b'"' => at = string_end(bytes, at + 1)?.0,
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth = depth.checked_sub(1)?,
            _ => {}
        }
        at += 1;
        if depth == 0 {
            return Some(at);
        }
    }
}

/// What the content of a string means.
pub(crate) fn unescaped(content: &str) -> Cow<'_, str> {
    match memchr::memchr(b'\\', content.as_bytes()) {
        None => Cow::Borrowed(content),
        Some(first) => without_escapes(content, first).map_or(Cow::Borrowed(content), Cow::Owned),
    }
}

/// The content with its escapes replaced, the first of which is at `first`. None if one of them is not an
/// escape.
fn without_escapes(content: &str, first: usize) -> Option<String> {
    let mut meant = String::with_capacity(content.len());
    let mut rest = content;
    let mut escape = Some(first);
    while let Some(at) = escape {
        meant.push_str(rest.get(..at)?);
        let plain = match rest.as_bytes().get(at + 1)? {
            b'"' => '"',
            b'\\' => '\\',
            b'/' => '/',
            b'n' => '\n',
            b't' => '\t',
            b'r' => '\r',
            b'b' => '\u{8}',
            b'f' => '\u{c}',
            // Pairs of these make one character: rare, and left to the library.
            b'u' => return serde_json::from_str(&format!("\"{content}\"")).ok(),
            _ => return None,
        };
        meant.push(plain);
        rest = rest.get(at + 2..)?;
        escape = memchr::memchr(b'\\', rest.as_bytes());
    }
    meant.push_str(rest);
    Some(meant)
}

/// The members of the object that begins at `start`: the content of each key, and where its value
/// begins and ends.
pub(crate) struct Members<'t, 'i> {
    text: &'t str,
    index: Option<&'i Index>,
    at: usize,
}

impl<'t, 'i> Members<'t, 'i> {
    /// Of the object that begins at `start`.
    pub(crate) fn new(text: &'t str, index: Option<&'i Index>, start: usize) -> Self {
        let is_object = text.as_bytes().get(start) == Some(&b'{');
        Self {
            text,
            index,
            at: if is_object { start + 1 } else { text.len() },
        }
    }
}

impl<'t, 'i> Members<'t, 'i> {
    /// Those behind the value that ends at `end`.
    pub(crate) fn behind(text: &'t str, index: Option<&'i Index>, end: usize) -> Self {
        let bytes = text.as_bytes();
        let comma = blanks(bytes, end);
        Self {
            text,
            index,
            at: comma + usize::from(bytes.get(comma) == Some(&b',')),
        }
    }
}

impl<'t> Iterator for Members<'t, '_> {
    type Item = (Cow<'t, str>, usize, usize);

    fn next(&mut self) -> Option<Self::Item> {
        let bytes = self.text.as_bytes();
        let quote = blanks(bytes, self.at);
        if bytes.get(quote) != Some(&b'"') {
            return None;
        }
        let (key_end, has_escapes) = string_end(bytes, quote + 1)?;
        let content = self.text.get(quote + 1..key_end)?;
        let key = match has_escapes {
            true => unescaped(content),
            false => Cow::Borrowed(content),
        };
        let start = blanks(bytes, blanks(bytes, key_end + 1) + 1);
        let end = value_end(bytes, start, self.index)?;
        let comma = blanks(bytes, end);
        self.at = comma + usize::from(bytes.get(comma) == Some(&b','));
        Some((key, start, end))
    }
}

/// Where the member of this name begins, of the object that begins at `start`.
pub(crate) fn member(text: &str, index: &Index, start: usize, name: &str) -> Option<usize> {
    let mut members = Members::new(text, Some(index), start);
    members.find(|(key, ..)| key == name).map(|(_, at, _)| at)
}

/// The text that is the value at these places, if it is one.
pub(crate) fn string_at(text: &str, start: usize, end: usize) -> Option<Cow<'_, str>> {
    let content = text.get(start..end)?.strip_prefix('"')?.strip_suffix('"')?;
    Some(unescaped(content))
}
