//! Checks of `tenants`, `authenticators` and `sessions`.
//!
//! The files they name are watched, but read only by the parts that need them: judging manifests needs no
//! secrets.

use std::path::{Path, PathBuf};

use crate::{
    model::{
        AccessSettings, Authenticator, AuthenticatorKey, AuthenticatorSpec, Configuration,
        SessionSettings,
    },
    notes::Notes,
};
use portcullis_document::{Document, Origin};

/// Checks and resolves whose tokens are accepted, and where permissions are defined.
pub(crate) fn access(
    document: &Document,
    spec: &Configuration,
    notes: &mut Notes,
) -> AccessSettings {
    let tenants = spec.tenants.as_ref().map(|tenants| {
        let file = named(document, &tenants.file, notes);
        (file, Origin::of(document, "tenants.file"))
    });
    let authenticators = spec
        .authenticators
        .iter()
        .enumerate()
        .map(|(index, one)| authenticator(document, index, one, notes))
        .collect::<Vec<_>>();
    check_repeats(document, &spec.authenticators, &authenticators, notes);
    AccessSettings {
        tenants,
        authenticators,
        sessions: sessions(document, &spec.sessions, notes),
    }
}

/// A file that is made if it is missing is watched once it is there.
fn kept(document: &Document, file: &Path, notes: &mut Notes) -> PathBuf {
    let file = document.source.resolve(file);
    if file.exists() {
        notes.watch(&file);
    }
    file
}

fn named(document: &Document, file: &Path, notes: &mut Notes) -> PathBuf {
    let file = document.source.resolve(file);
    notes.watch(&file);
    file
}

fn authenticator(
    document: &Document,
    index: usize,
    spec: &AuthenticatorSpec,
    notes: &mut Notes,
) -> Authenticator {
    let at = format!("authenticators[{index}]");
    let driver = spec.driver;
    let may_name_issuer = |key: &AuthenticatorKey| key.name == "issuer";
    for key in spec.keys() {
        let key_at = format!("{at}.{}", key.name);
        if key.needed_by.contains(&driver) && !key.is_given {
            let message = format!(
                "the key `{}` is missing: the authenticator `{}` is {}",
                key.name,
                spec.name,
                driver.name()
            );
            notes.fault(document.fault(&at, message));
        }
        let takes = key.needed_by.contains(&driver) || key.taken_by.contains(&driver);
        if key.is_given && !takes && !may_name_issuer(&key) {
            let message = format!("the driver {} takes no `{}`", driver.name(), key.name);
            notes.fault(document.fault(&key_at, message));
        }
    }
    let has_tokens = driver.takes_tokens();
    if has_tokens && spec.audience().is_none() {
        let message = format!(
            "the key `audience` is missing: `{}` would accept tokens for other services",
            spec.name
        );
        notes.fault(document.fault(&at, message));
    }
    for (key, value) in [
        ("name", Some(&spec.name)),
        ("issuer", spec.issuer.as_ref()),
        ("audience", spec.audience.as_ref()),
        ("realm", spec.realm.as_ref()),
        ("clientId", spec.client_id.as_ref()),
        ("uidClaim", Some(&spec.uid_claim)),
    ] {
        if value.is_some_and(String::is_empty) {
            notes.fault(document.fault(&format!("{at}.{key}"), "must not be empty"));
        }
    }
    let realm = spec.realm();
    if realm.contains(['"', '\\']) || realm.chars().any(char::is_control) {
        let message = "invalid realm: quotes, backslashes and control characters are not allowed";
        notes.fault(document.fault(&format!("{at}.realm"), message));
    }
    let tokens = spec.tokens();
    let tokens = tokens.map(|one| one.map_files(|named| self::named(document, named.file, notes)));
    if let (Some(file), None) = (&spec.client_secret_file, &spec.client_id) {
        // Not read, but a file that is named is followed.
        drop(named(document, file, notes));
        let key = format!("{at}.clientSecretFile");
        notes.warn(document.fault(&key, "is not used without `clientId`"));
    }
    Authenticator {
        name: spec.name.clone(),
        driver,
        issuer: spec.issuer(),
        tokens,
        origin: Origin::of(document, &at),
    }
}

fn check_repeats(
    document: &Document,
    specs: &[AuthenticatorSpec],
    list: &[Authenticator],
    notes: &mut Notes,
) {
    let mut has_default = false;
    for (index, (one, spec)) in list.iter().zip(specs).enumerate() {
        let earlier = list.iter().take(index);
        for (key, value, same) in [
            (
                "name",
                &one.name,
                earlier.clone().find(|e| e.name == one.name),
            ),
            (
                "issuer",
                &one.issuer,
                earlier.clone().find(|e| e.issuer == one.issuer),
            ),
        ] {
            if let Some(same) = same {
                let place = same.origin.place();
                let message = format!("the {key} `{value}` is given twice, first at {place}");
                notes.fault(document.fault(&format!("authenticators[{index}].{key}"), message));
            }
        }
        if spec.default && has_default {
            let message = "another authenticator is already the default";
            notes.fault(document.fault(&format!("authenticators[{index}].default"), message));
        }
        has_default |= spec.default;
    }
}

fn sessions(document: &Document, spec: &SessionSettings, notes: &mut Notes) -> SessionSettings {
    if spec.lifetime.is_zero() {
        notes.fault(document.fault("sessions.lifetime", "must be more than zero"));
    }
    let public_url = spec.public_url.as_deref().map(|url| {
        let parsed = url.parse::<http::Uri>().ok();
        let is_origin = parsed.as_ref().is_some_and(|uri| {
            matches!(uri.scheme_str(), Some("https" | "http"))
                && uri.authority().is_some_and(|a| !a.as_str().contains('@'))
                && uri.path() == "/"
                && uri.query().is_none()
        });
        if !is_origin {
            let message =
                "invalid URL: expected the address of a server, like `https://gate.example.org`";
            notes.fault(document.fault("sessions.publicUrl", message));
        }
        url.trim_end_matches('/').to_owned()
    });
    SessionSettings {
        lifetime: spec.lifetime,
        key_file: spec
            .key_file
            .as_ref()
            .map(|file| kept(document, file, notes)),
        public_url,
    }
}
