//! Client certificates as policies see them: the fields of Go's `x509.Certificate` and `pkix.Name`
//! that people use.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use x509_parser::extensions::GeneralName;
use x509_parser::prelude::{FromDer, X509Certificate, X509Name};
use x509_parser::x509::AttributeTypeAndValue;

use super::time::rfc3339;

/// The subject of a certificate, as `pkix.Name` has it; null if it can't be read.
pub(super) fn subject(der: &[u8]) -> Value {
    match X509Certificate::from_der(der) {
        Ok((_, certificate)) => name(certificate.subject()),
        Err(_) => Value::Null,
    }
}

/// A certificate, as `x509.Certificate` has it; null if it can't be read.
pub(super) fn describe(der: &[u8]) -> Value {
    let Ok((_, certificate)) = X509Certificate::from_der(der) else {
        return Value::Null;
    };
    let validity = certificate.validity();
    let names = certificate.subject_alternative_name().ok().flatten();
    let names = names.map(|n| n.value.general_names.as_slice());
    let of_kind = |pick: fn(&GeneralName<'_>) -> Option<String>| -> Vec<String> {
        names.unwrap_or_default().iter().filter_map(pick).collect()
    };
    json!({
        "Subject": name(certificate.subject()),
        "Issuer": name(certificate.issuer()),
        "SerialNumber": certificate.raw_serial_as_string().replace(':', ""),
        "Version": certificate.version().0 + 1,
        "NotBefore": rfc3339(validity.not_before.timestamp()),
        "NotAfter": rfc3339(validity.not_after.timestamp()),
        "IsCA": certificate.is_ca(),
        "DNSNames": of_kind(|n| match n {
            GeneralName::DNSName(name) => Some((*name).to_owned()),
            _ => None,
        }),
        "EmailAddresses": of_kind(|n| match n {
            GeneralName::RFC822Name(name) => Some((*name).to_owned()),
            _ => None,
        }),
        "URIs": of_kind(|n| match n {
            GeneralName::URI(uri) => Some((*uri).to_owned()),
            _ => None,
        }),
        "IPAddresses": of_kind(|n| match n {
            GeneralName::IPAddress(bytes) => ip(bytes),
            _ => None,
        }),
        "Raw": STANDARD.encode(der),
    })
}

fn name(name: &X509Name<'_>) -> Value {
    let one = |mut found: Vec<String>| found.pop().unwrap_or_default();
    json!({
        "CommonName": one(texts(name.iter_common_name())),
        "SerialNumber": one(by_id(name, "2.5.4.5")),
        "Organization": texts(name.iter_organization()),
        "OrganizationalUnit": texts(name.iter_organizational_unit()),
        "Country": texts(name.iter_country()),
        "Locality": texts(name.iter_locality()),
        "Province": texts(name.iter_state_or_province()),
        "StreetAddress": by_id(name, "2.5.4.9"),
        "PostalCode": by_id(name, "2.5.4.17"),
    })
}

fn texts<'a>(attributes: impl Iterator<Item = &'a AttributeTypeAndValue<'a>>) -> Vec<String> {
    attributes
        .filter_map(|a| a.as_str().ok().map(str::to_owned))
        .collect()
}

fn by_id(name: &X509Name<'_>, id: &str) -> Vec<String> {
    let all = name.iter_attributes();
    texts(all.filter(|a| a.attr_type().to_id_string() == id))
}

fn ip(bytes: &[u8]) -> Option<String> {
    if let Ok(four) = <[u8; 4]>::try_from(bytes) {
        return Some(std::net::Ipv4Addr::from(four).to_string());
    }
    let sixteen = <[u8; 16]>::try_from(bytes).ok()?;
    Some(std::net::Ipv6Addr::from(sixteen).to_string())
}
