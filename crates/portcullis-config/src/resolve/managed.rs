//! Checks of `managed`.

use std::collections::{BTreeSet, HashSet};
use std::net::IpAddr;

use portcullis_certificates::Terms;
use portcullis_document::{Document, Duration};
use portcullis_watch::{Access, NamespacedName};

use crate::model::{ManagedCertificate, ManagedSpec};
use crate::notes::Notes;

const VALIDITY: Duration = Duration::from_secs(90 * 24 * 60 * 60);
/// A certificate can't be replaced more often than it is looked at.
const SHORTEST: Duration = Duration::from_secs(10);
/// No certificate needs to last longer, if it is renewed by itself.
const LONGEST: Duration = Duration::from_secs(3650 * 24 * 60 * 60);
/// The longest host name.
const LONGEST_NAME: usize = 253;
/// The longest part of a host name.
const LONGEST_LABEL: usize = 63;

/// Checks and resolves a managed certificate.
pub(super) fn managed(
    document: &Document,
    at: &str,
    spec: &ManagedSpec,
    notes: &mut Notes,
) -> Option<ManagedCertificate> {
    let known_faults = notes.faults.len();
    let object = |key: &str, text: &str, notes: &mut Notes| {
        let parsed = text.parse::<NamespacedName>();
        let fault = |why| notes.fault(document.fault(&format!("{at}.{key}"), why));
        parsed.map_err(fault).ok()
    };
    let secret = object("secret", &spec.secret, notes);
    let service = spec.service.as_ref();
    let service = service.and_then(|text| object("service", text, notes));
    let names = names(document, at, spec, service.as_ref(), notes);
    check_webhooks(document, at, spec, notes);
    let (validity, renew_before) = times(document, at, spec, notes);
    let access = match &spec.kubeconfig {
        None => Access::InCluster,
        Some(named) => {
            let at = format!("{at}.kubeconfig");
            let before = notes.faults.len();
            let access = Access::Kubeconfig(notes.named_key(document, &at, named));
            if notes.faults.len() == before
                && let Err(error) = access.check()
            {
                notes.fault(document.fault(&at, error.to_string()));
            }
            access
        }
    };
    let secret = secret.filter(|_| notes.faults.len() == known_faults)?;
    Some(ManagedCertificate {
        terms: Terms {
            owner: format!("portcullis CA {secret}"),
            names,
            validity: validity.get(),
            renew_before: renew_before.get(),
        },
        secret,
        webhooks: spec.webhooks.clone(),
        service,
        access,
    })
}

/// The names of the certificate; empty if those of the webhook configurations count.
fn names(
    document: &Document,
    at: &str,
    spec: &ManagedSpec,
    service: Option<&NamespacedName>,
    notes: &mut Notes,
) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    if let Some(NamespacedName { namespace, name }) = service {
        for ending in ["", ".svc", ".svc.cluster.local"] {
            names.insert(format!("{name}.{namespace}{ending}"));
        }
    }
    for (index, name) in spec.dns_names.iter().enumerate() {
        match host(name) {
            Some(name) => drop(names.insert(name)),
            None => {
                let message = format!(
                    "invalid name `{name}`: use a host name in lower case, like `webhook.example.com`, or an IP address"
                );
                notes.fault(document.fault(&format!("{at}.dnsNames[{index}]"), message));
            }
        }
    }
    if spec.service.is_none() && spec.dns_names.is_empty() && spec.webhooks.is_empty() {
        let message = "the certificate has no names: give `service`, `dnsNames` or `webhooks`";
        notes.fault(document.fault(at, message));
    }
    names
}

/// A host name or address as it is written in a certificate.
fn host(name: &str) -> Option<String> {
    if let Ok(address) = name.parse::<IpAddr>() {
        return Some(address.to_string());
    }
    let plain = name.strip_prefix("*.").unwrap_or(name);
    let is_label = |label: &str| {
        let is_good = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-';
        let is_within = !label.starts_with('-') && !label.ends_with('-');
        !label.is_empty() && label.len() <= LONGEST_LABEL && is_within && label.bytes().all(is_good)
    };
    let is_name = name.len() <= LONGEST_NAME && plain.split('.').all(is_label);
    is_name.then(|| name.to_owned())
}

fn check_webhooks(document: &Document, at: &str, spec: &ManagedSpec, notes: &mut Notes) {
    let mut seen = HashSet::new();
    for (index, name) in spec.webhooks.iter().enumerate() {
        let at = format!("{at}.webhooks[{index}]");
        // As a path in a request, which is what becomes of it.
        if let Err(why) = format!("x/{name}").parse::<NamespacedName>() {
            notes.fault(document.fault(&at, why));
        } else if !seen.insert(name) {
            notes.fault(document.fault(&at, format!("`{name}` is named twice")));
        }
    }
}

fn times(
    document: &Document,
    at: &str,
    spec: &ManagedSpec,
    notes: &mut Notes,
) -> (Duration, Duration) {
    let validity = spec.validity.unwrap_or(VALIDITY);
    if !(SHORTEST..=LONGEST).contains(&validity) {
        let message = "must be between 10s and 3650d";
        notes.fault(document.fault(&format!("{at}.validity"), message));
    }
    let third = validity.get() / 3;
    let third = Duration::from_millis(u64::try_from(third.as_millis()).unwrap_or(u64::MAX));
    let renew_before = spec.renew_before.unwrap_or(third);
    if renew_before.get() > validity.get() / 4 * 3 || renew_before < Duration::from_secs(2) {
        let message = "must be between 2s and three quarters of `validity`";
        notes.fault(document.fault(&format!("{at}.renewBefore"), message));
    }
    (validity, renew_before)
}
