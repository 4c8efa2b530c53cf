//! Headers and address of the HTTP request.

use std::borrow::Cow;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use portcullis_core::DoorContext;
use portcullis_core::percent::decoded_leniently;

use super::{MASKED, Secret, credentials, names};
use crate::search::known::Known;

/// What was found in a request.
#[derive(Debug, Default)]
pub(crate) struct Found<'a> {
    /// Path and query, if anything in it is masked.
    pub(crate) uri: Option<String>,
    /// Which headers are masked, in order.
    pub(crate) headers: Vec<usize>,
    /// The values.
    pub(crate) secrets: Vec<Secret<'a>>,
}

/// Finds the secrets of a request.
pub(crate) fn find(context: &DoorContext) -> Found<'_> {
    let mut found = Found::default();
    for (place, (name, value)) in context.headers.iter().enumerate() {
        if value.is_empty() || !(names::is_secret_header(name) || credentials::is_secret(value)) {
            continue;
        }
        found.headers.push(place);
        found.secrets.push(Secret::plain(value.as_str()));
        if name.ends_with("cookie") {
            add_cookies(value, &mut found.secrets);
        } else if let Some((_, credentials)) = value.split_once(' ') {
            add_credentials(credentials.trim(), &mut found.secrets);
        }
    }
    found.uri = uri(&context.uri, &mut found.secrets);
    found
}

impl Found<'_> {
    /// Masks what is known to be a secret in other headers and in the address, too.
    pub(crate) fn mask_known(&mut self, context: &DoorContext, known: &Known<'_>) {
        if known.is_empty() {
            return;
        }
        let headers = context.headers.iter().enumerate();
        let more = headers
            .filter(|(place, (_, value))| !self.headers.contains(place) && known.is_in(value));
        let more: Vec<usize> = more.map(|(place, _)| place).collect();
        self.headers.extend(more);
        self.headers.sort_unstable();
        let uri = self.uri.as_deref().unwrap_or(&context.uri);
        if known.is_in(uri) || known.is_in(&decoded_leniently(uri)) {
            let path = uri.split('?').next().unwrap_or_default();
            self.uri = Some(
                match known.is_in(path) || known.is_in(&decoded_leniently(path)) {
                    true => MASKED.to_owned(),
                    false => format!("{path}?{MASKED}"),
                },
            );
        }
    }
}

fn add_cookies<'a>(value: &'a str, secrets: &mut Vec<Secret<'a>>) {
    let values = value.split(';').filter_map(|cookie| cookie.split_once('='));
    secrets.extend(values.map(|(_, value)| Secret::plain(value.trim().trim_matches('"'))));
}

/// What is behind `Bearer` or `Basic`.
fn add_credentials<'a>(credentials: &'a str, secrets: &mut Vec<Secret<'a>>) {
    secrets.push(Secret::plain(credentials));
    let decoded = STANDARD.decode(credentials).ok();
    let decoded = decoded.and_then(|bytes| String::from_utf8(bytes).ok());
    if let Some((_, password)) = decoded.as_deref().and_then(|d| d.split_once(':')) {
        secrets.push(Secret::plain(password.to_owned()));
    }
}

/// Path and query without secrets; none if there are none in it.
fn uri<'a>(uri: &'a str, secrets: &mut Vec<Secret<'a>>) -> Option<String> {
    let mut is_masked = false;
    let mut written = String::new();
    let (path, query) = match uri.split_once('?') {
        Some((path, query)) => (path, Some(query)),
        None => (uri, None),
    };
    if let Some(shown) = without_secrets(path, secrets) {
        is_masked = true;
        written.push_str(&shown);
    } else {
        written.push_str(path);
    }
    for (place, pair) in query.iter().flat_map(|q| q.split('&')).enumerate() {
        written.push(if place == 0 { '?' } else { '&' });
        let (name, value) = match pair.split_once('=') {
            Some((name, value)) => (name, Some(value)),
            None => (pair, None),
        };
        let Some(value) = value.filter(|value| !value.is_empty()) else {
            written.push_str(pair);
            continue;
        };
        let (meant_name, meant) = (decoded_leniently(name), decoded_leniently(value));
        let is_secret_name =
            names::is_secret_header(&meant_name) || meant_name.eq_ignore_ascii_case("sig");
        if !(is_secret_name || credentials::is_secret(&meant)) {
            written.push_str(pair);
            continue;
        }
        is_masked = true;
        written.push_str(name);
        written.push('=');
        written.push_str(MASKED);
        secrets.push(Secret::plain(value));
        if let Cow::Owned(meant) = meant {
            secrets.push(Secret::plain(meant));
        }
    }
    is_masked.then_some(written)
}

/// A path without secrets; none if there are none in it. A secret may be percent-encoded.
fn without_secrets<'a>(path: &'a str, secrets: &mut Vec<Secret<'a>>) -> Option<String> {
    let plain = credentials::without_secrets(path);
    let is_masked = matches!(plain, Cow::Owned(_));
    if is_masked {
        secrets.push(Secret::plain(path));
    }
    let is_hidden =
        |part: &str| part.contains('%') && credentials::is_secret(&decoded_leniently(part));
    if !is_hidden(path) {
        return is_masked.then(|| plain.into_owned());
    }
    if credentials::has_key(&decoded_leniently(path)) {
        // Its parts say nothing of themselves.
        secrets.push(Secret::plain(path));
        return Some(MASKED.to_owned());
    }
    let shown: Vec<&str> = path
        .split('/')
        .map(
            |part| match is_hidden(part) || credentials::is_secret(part) {
                true => {
                    secrets.push(Secret::plain(part));
                    secrets.push(Secret::plain(decoded_leniently(part)));
                    MASKED
                }
                false => part,
            },
        )
        .collect();
    Some(shown.join("/"))
}
