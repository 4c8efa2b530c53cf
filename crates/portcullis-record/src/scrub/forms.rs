//! The forms in which a secret may turn up in a text.

use std::borrow::Cow;

use base64::Engine;
use base64::alphabet;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use portcullis_core::json;

use crate::mask::review::{self, Root, Subject};
use crate::mask::{Header, MASKED, Secret, credentials, names};
use crate::search::{Needle, SHORTEST};

const LENIENT: GeneralPurposeConfig = GeneralPurposeConfig::new()
    .with_decode_padding_mode(DecodePaddingMode::Indifferent)
    .with_decode_allow_trailing_bits(true)
    .with_encode_padding(false);
const STANDARD: GeneralPurpose = GeneralPurpose::new(&alphabet::STANDARD, LENIENT);
const URL_SAFE: GeneralPurpose = GeneralPurpose::new(&alphabet::URL_SAFE, LENIENT);

/// Secrets in secrets are looked for so deep.
const DEPTH: usize = 2;

/// Shortest line that is looked for by itself.
const SHORTEST_LINE: usize = 8;

/// The secrets of JSON in a text.
fn secrets_in(text: &str) -> Option<Vec<String>> {
    json::scan(text.as_bytes()).ok()?;
    let found = review::find(
        Subject {
            text,
            index: None,
            root: Root::Object,
            header: Header::default(),
            configured: None,
        },
        "",
    )?;
    let meant = found.secrets.iter().map(|s| s.meant().into_owned());
    Some(meant.collect())
}

/// The values of `NAME=value`, and of those assignments in a longer text whose names say so, like
/// `Server=db;Password=…`.
fn assigned(text: &str) -> impl Iterator<Item = &str> {
    let is_name = |name: &str| {
        let is_part = |b: u8| b.is_ascii_alphanumeric() || b == b'_';
        !name.is_empty() && name.bytes().all(is_part)
    };
    let whole = text.split_once('=').filter(|(name, _)| is_name(name));
    let parts = text
        .split([';', '&', ' ', '\n', '?'])
        .filter_map(|part| part.split_once('='))
        .filter(|(name, _)| names::is_secret(name.trim()));
    whole.into_iter().chain(parts).map(|(_, value)| value)
}

/// The password of `scheme://user:password@host`.
fn password_of_address(text: &str) -> Option<&str> {
    let (_, rest) = text.split_once("://")?;
    let authority = rest.split(['/', '?', '#', ' ']).next()?;
    let (user, _) = authority.rsplit_once('@')?;
    user.split_once(':').map(|(_, password)| password)
}

/// What a text means in base64, if it is in it.
pub(super) fn decoded(text: &str) -> Option<Vec<u8>> {
    let text = text.trim();
    let is_part = |b: u8| {
        b.is_ascii_alphanumeric() || matches!(b, b'+' | b'/' | b'-' | b'_' | b'=' | b'\n' | b'\r')
    };
    if !text.bytes().all(is_part) {
        return None;
    }
    let in_one_of = |text: &str| {
        let decoded = STANDARD.decode(text).or_else(|_| URL_SAFE.decode(text));
        decoded.ok()
    };
    if text.contains(['\n', '\r']) {
        // As mail has it: with ends of lines.
        return in_one_of(&text.replace(['\n', '\r'], ""));
    }
    in_one_of(text)
}

/// Collects them.
pub(super) struct Forms<'a, 'p> {
    public: &'p [&'p str],
    shortest_line: usize,
    needles: Vec<Needle<'a>>,
}

impl<'a, 'p> Forms<'a, 'p> {
    /// None yet; what is public will be left out.
    pub(super) fn new(public: &'p [&'p str]) -> Self {
        Self::with_lines(public, SHORTEST_LINE)
    }

    /// The same where lines of longer secrets count from this length on.
    pub(super) fn with_lines(public: &'p [&'p str], shortest_line: usize) -> Self {
        Self {
            public,
            shortest_line,
            needles: Vec::new(),
        }
    }

    pub(super) fn into_needles(self) -> Vec<Needle<'a>> {
        self.needles
    }

    /// Those of one secret.
    pub(super) fn add(&mut self, secret: &'a Secret<'a>) {
        let meant = secret.meant();
        if self.is_known(&meant) {
            return;
        }
        if secret.has_escapes {
            self.needle(Cow::Borrowed(&secret.written), false);
        }
        self.forms(meant, DEPTH);
    }

    /// Those of one secret that is looked for in the review itself. JSON, like an earlier version of the
    /// object, is a secret for what is in it alone.
    pub(super) fn add_known(&mut self, secret: &'a Secret<'a>) {
        let meant = secret.meant();
        if meant.trim_start().starts_with('{') {
            self.parts(&meant, DEPTH);
        } else {
            self.add(secret);
        }
    }

    fn forms(&mut self, meant: Cow<'a, str>, depth: usize) {
        if let Some(bytes) = decoded(&meant) {
            if let Ok(text) = std::str::from_utf8(&bytes) {
                self.parts(text, depth);
            }
            self.decoded_forms(&bytes);
        }
        self.parts(&meant, depth);
        self.encoded_forms(meant.as_bytes());
        self.text_forms(meant);
    }

    /// Secrets in a secret: lines of a key, the last part of a token, passwords in JSON, in addresses and
    /// in assignments.
    fn parts(&mut self, whole: &str, depth: usize) {
        let mut parts: Vec<String> = Vec::new();
        let is_long =
            |line: &&str| line.trim().len() >= self.shortest_line && !line.starts_with("-----");
        if whole.contains('\n') {
            parts.extend(whole.lines().filter(is_long).map(str::to_owned));
        }
        if let Some(token) = credentials::first_token(whole) {
            parts.push(token.to_owned());
            parts.extend(token.rsplit('.').next().map(str::to_owned));
        }
        if whole.trim_start().starts_with('{') {
            parts.extend(secrets_in(whole).unwrap_or_default());
        }
        if whole.contains('=') {
            parts.extend(assigned(whole).map(str::to_owned));
        }
        parts.extend(password_of_address(whole).map(str::to_owned));
        for part in parts {
            if depth > 0 && part.len() < whole.len() && !self.is_known(&part) {
                self.forms(Cow::Owned(part), depth - 1);
            }
        }
    }

    /// What says nothing, or is public.
    fn is_known(&self, meant: &str) -> bool {
        let meant = meant.trim();
        meant == MASKED
            || meant.eq_ignore_ascii_case("true")
            || meant.eq_ignore_ascii_case("false")
            || self.public.contains(&meant)
    }

    fn decoded_forms(&mut self, bytes: &[u8]) {
        match std::str::from_utf8(bytes) {
            Ok(text) if self.is_known(text) => {}
            Ok(text) => self.text_forms(Cow::Owned(text.to_owned())),
            Err(_) => {
                self.text_forms(Cow::Owned(String::from_utf8_lossy(bytes).into_owned()));
            }
        }
        if !bytes.is_ascii() {
            // Each byte a character, as JavaScript's `atob` has it.
            self.text_forms(Cow::Owned(bytes.iter().copied().map(char::from).collect()));
        }
        // The same in the other alphabet, or with more behind it.
        self.encoded_forms(bytes);
    }

    fn encoded_forms(&mut self, bytes: &[u8]) {
        if bytes.len() < SHORTEST {
            return;
        }
        // The last characters depend on what may follow.
        let certain = |mut encoded: String| {
            encoded.truncate(encoded.len().saturating_sub(2));
            encoded
        };
        let standard = STANDARD.encode(bytes);
        if standard.bytes().any(|b| matches!(b, b'+' | b'/')) {
            let url_safe = URL_SAFE.encode(bytes);
            self.needle(Cow::Owned(certain(url_safe)), true);
        }
        self.needle(Cow::Owned(certain(standard)), true);
    }

    /// A text as it is, and as it looks in JSON, and in JSON in JSON.
    fn text_forms(&mut self, text: Cow<'a, str>) {
        let is_escaped = |b: &u8| *b < b' ' || matches!(b, b'"' | b'\\' | 0x7f);
        // The last is how the two characters for ends of lines and paragraphs begin.
        let is_escaped_by_go = |b: &u8| matches!(b, b'<' | b'>' | b'&' | 0xe2);
        let has_go_escapes = text.as_bytes().iter().any(is_escaped_by_go);
        if has_go_escapes || text.as_bytes().iter().any(is_escaped) {
            let once = in_json(text.trim());
            if has_go_escapes {
                self.needle(Cow::Owned(as_go_escapes(&once)), false);
            }
            self.needle(Cow::Owned(in_json(&once)), false);
            self.needle(Cow::Owned(once), false);
        }
        self.needle(text, false);
    }

    fn needle(&mut self, text: Cow<'a, str>, is_base64: bool) {
        let text = match text {
            Cow::Borrowed(text) => Cow::Borrowed(text.trim()),
            Cow::Owned(text) if text.trim().len() == text.len() => Cow::Owned(text),
            Cow::Owned(text) => Cow::Owned(text.trim().to_owned()),
        };
        if text.len() >= SHORTEST {
            self.needles.push(Needle { text, is_base64 });
        }
    }
}

fn in_json(text: &str) -> String {
    let quoted = serde_json::to_string(text).unwrap_or_default();
    let content = quoted.strip_prefix('"').and_then(|q| q.strip_suffix('"'));
    content.unwrap_or_default().to_owned()
}

fn as_go_escapes(json: &str) -> String {
    let mut result = String::with_capacity(json.len() + 16);
    for c in json.chars() {
        match c {
            '<' => result.push_str("\\u003c"),
            '>' => result.push_str("\\u003e"),
            '&' => result.push_str("\\u0026"),
            '\u{2028}' => result.push_str("\\u2028"),
            '\u{2029}' => result.push_str("\\u2029"),
            c => result.push(c),
        }
    }
    result
}
