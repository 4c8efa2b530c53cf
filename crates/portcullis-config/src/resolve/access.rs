//! Checks of `tenants`, `authenticators` and `sessions`.
//!
//! The files they name are watched, but read only by those who need them: judging manifests needs no
//! secrets.

use std::path::{Path, PathBuf};

use crate::{
    document::Document,
    model::{AuthenticatorDriver, AuthenticatorSpec, Configuration, SessionsSpec},
    notes::Notes,
    resolved::{AccessSettings, Authenticator, Origin, SessionSettings},
};

/// Checks and resolves who is believed, and where it says what people may do.
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
    check_repeats(document, &authenticators, notes);
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

/// A key of an authenticator, which drivers need it, and which take it.
struct Key {
    name: &'static str,
    is_given: bool,
    needed_by: &'static [AuthenticatorDriver],
    taken_by: &'static [AuthenticatorDriver],
}

const PAIRS: &[AuthenticatorDriver] = &[
    AuthenticatorDriver::RS256,
    AuthenticatorDriver::ES256,
    AuthenticatorDriver::EdDSA,
];
const PROVIDERS: &[AuthenticatorDriver] = &[AuthenticatorDriver::OpenIDConnect];
const TOKENS: &[AuthenticatorDriver] = &[
    AuthenticatorDriver::HS256,
    AuthenticatorDriver::RS256,
    AuthenticatorDriver::ES256,
    AuthenticatorDriver::EdDSA,
    AuthenticatorDriver::OpenIDConnect,
];

fn keys(spec: &AuthenticatorSpec) -> [Key; 12] {
    let key = |name, is_given, needed_by, taken_by| Key {
        name,
        is_given,
        needed_by,
        taken_by,
    };
    let shared: &[AuthenticatorDriver] = &[AuthenticatorDriver::HS256];
    [
        key("issuer", spec.issuer.is_some(), TOKENS, &[]),
        key("audience", spec.audience.is_some(), &[], TOKENS),
        key("secretFile", spec.secret_file.is_some(), shared, &[]),
        key("publicKeyFile", spec.public_key_file.is_some(), PAIRS, &[]),
        key(
            "privateKeyFile",
            spec.private_key_file.is_some(),
            &[],
            PAIRS,
        ),
        key("keysUrl", spec.keys_url.is_some(), &[], PROVIDERS),
        key("clientId", spec.client_id.is_some(), &[], PROVIDERS),
        key(
            "clientSecretFile",
            spec.client_secret_file.is_some(),
            &[],
            PROVIDERS,
        ),
        key("scope", spec.scope.is_some(), &[], PROVIDERS),
        key("caFile", spec.ca_file.is_some(), &[], PROVIDERS),
        key("allowAuthzOverride", spec.allow_authz_override, &[], TOKENS),
        key(
            "maxValidityTime",
            spec.max_validity_time.is_some(),
            &[],
            TOKENS,
        ),
    ]
}

fn authenticator(
    document: &Document,
    index: usize,
    spec: &AuthenticatorSpec,
    notes: &mut Notes,
) -> Authenticator {
    let at = format!("authenticators[{index}]");
    let driver = spec.driver;
    let may_name_issuer = |key: &Key| key.name == "issuer";
    for key in keys(spec) {
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
    let has_tokens = TOKENS.contains(&driver);
    let audience = spec.audience.clone().or_else(|| spec.client_id.clone());
    if has_tokens && audience.is_none() {
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
    let realm = spec.realm.clone().unwrap_or_else(|| spec.name.clone());
    if realm.contains(['"', '\\']) || realm.chars().any(char::is_control) {
        let message = "invalid realm: quotes, backslashes and control characters are not allowed";
        notes.fault(document.fault(&format!("{at}.realm"), message));
    }
    let mut file =
        |named_file: &Option<PathBuf>| named_file.as_ref().map(|file| named(document, file, notes));
    Authenticator {
        name: spec.name.clone(),
        driver,
        issuer: spec.issuer.clone().unwrap_or_else(|| match driver {
            AuthenticatorDriver::ClientCertificate => "client-certificate".to_owned(),
            AuthenticatorDriver::UnixSocket => "unix-socket".to_owned(),
            _ => String::new(),
        }),
        audience: audience.unwrap_or_default(),
        realm,
        is_default: spec.default,
        secret_file: file(&spec.secret_file),
        public_key_file: file(&spec.public_key_file),
        private_key_file: file(&spec.private_key_file),
        keys_url: spec.keys_url.clone(),
        client_id: spec.client_id.clone(),
        client_secret_file: file(&spec.client_secret_file),
        scopes: spec
            .scope
            .as_deref()
            .unwrap_or("openid profile")
            .split_whitespace()
            .map(str::to_owned)
            .collect(),
        ca_file: file(&spec.ca_file),
        uid_claim: spec.uid_claim.clone(),
        allow_authz_override: spec.allow_authz_override,
        max_validity: spec.max_validity_time.map(Into::into),
        skew: spec.skew.into(),
        origin: Origin::of(document, &at),
    }
}

fn check_repeats(document: &Document, list: &[Authenticator], notes: &mut Notes) {
    let mut has_default = false;
    for (index, one) in list.iter().enumerate() {
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
        if one.is_default && has_default {
            let message = "another authenticator is already the default";
            notes.fault(document.fault(&format!("authenticators[{index}].default"), message));
        }
        has_default |= one.is_default;
    }
}

fn sessions(document: &Document, spec: &SessionsSpec, notes: &mut Notes) -> SessionSettings {
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
        lifetime: spec.lifetime.into(),
        key_file: spec
            .key_file
            .as_ref()
            .map(|file| kept(document, file, notes)),
        public_url,
    }
}
