//! Certificate requests: who they are for.

use base64::Engine as _;
use base64::alphabet;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use serde_json::{Value, json};
use x509_parser::certification_request::X509CertificationRequest;
use x509_parser::cri_attributes::ParsedCriAttribute;
use x509_parser::extensions::{GeneralName, ParsedExtension};
use x509_parser::prelude::FromDer;

/// How long a request may be.
const MAX_LENGTH: usize = 64 * 1024;

const BASE64: GeneralPurpose = GeneralPurpose::new(
    &alphabet::STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// The bytes of a text in base64.
pub(crate) fn from_base64(text: &str) -> Option<Vec<u8>> {
    BASE64.decode(text).ok()
}

/// Subject and names of a PEM certificate request in base64.
pub(crate) fn request(text: &str) -> Option<Value> {
    if text.len() > MAX_LENGTH {
        return None;
    }
    let pem = String::from_utf8(from_base64(text)?).ok()?;
    let der = from_pem(&pem)?;
    let (rest, request) = X509CertificationRequest::from_der(&der).ok()?;
    if !rest.is_empty() {
        return None;
    }
    let info = &request.certification_request_info;
    let texts = |attributes: Vec<&x509_parser::x509::AttributeTypeAndValue<'_>>| {
        let texts = attributes
            .into_iter()
            .map(|a| a.as_str().map(str::to_owned));
        texts.collect::<Result<Vec<_>, _>>().ok()
    };
    // Of several common names the last counts, as it does for Kubernetes.
    let common_name = texts(info.subject.iter_common_name().collect())?.pop();
    let organizations = texts(info.subject.iter_organization().collect())?;
    let mut names = Names::default();
    for attribute in info.iter_attributes() {
        if let ParsedCriAttribute::ExtensionRequest(request) = attribute.parsed_attribute() {
            for extension in &request.extensions {
                names.add(extension.parsed_extension())?;
            }
        }
    }
    Some(json!({
        "commonName": common_name.unwrap_or_default(),
        "organizations": organizations,
        "dnsNames": names.dns,
        "ipAddresses": names.ip,
        "emailAddresses": names.email,
        "uris": names.uri,
    }))
}

#[derive(Default)]
struct Names {
    dns: Vec<String>,
    ip: Vec<String>,
    email: Vec<String>,
    uri: Vec<String>,
}

impl Names {
    fn add(&mut self, extension: &ParsedExtension<'_>) -> Option<()> {
        match extension {
            ParsedExtension::SubjectAlternativeName(names) => {
                for name in &names.general_names {
                    match name {
                        GeneralName::DNSName(name) => self.dns.push((*name).to_owned()),
                        GeneralName::RFC822Name(name) => self.email.push((*name).to_owned()),
                        GeneralName::URI(name) => self.uri.push((*name).to_owned()),
                        GeneralName::IPAddress(bytes) => self.ip.push(address(bytes)?),
                        GeneralName::Invalid(..) => return None,
                        _ => {}
                    }
                }
                Some(())
            }
            ParsedExtension::ParseError { .. } => None,
            _ => Some(()),
        }
    }
}

fn address(bytes: &[u8]) -> Option<String> {
    if let Ok(four) = <[u8; 4]>::try_from(bytes) {
        return Some(std::net::Ipv4Addr::from(four).to_string());
    }
    let sixteen = <[u8; 16]>::try_from(bytes).ok()?;
    Some(std::net::Ipv6Addr::from(sixteen).to_string())
}

/// The bytes of the first block, which must be a certificate request.
fn from_pem(pem: &str) -> Option<Vec<u8>> {
    let (_, begun) = pem.split_once("-----BEGIN ")?;
    let (label, rest) = begun.split_once("-----")?;
    if !matches!(label, "CERTIFICATE REQUEST" | "NEW CERTIFICATE REQUEST") {
        return None;
    }
    let (body, rest) = rest.split_once("-----END ")?;
    rest.strip_prefix(label)?.strip_prefix("-----")?;
    let body: String = body.chars().filter(|c| !c.is_ascii_whitespace()).collect();
    from_base64(&body)
}
