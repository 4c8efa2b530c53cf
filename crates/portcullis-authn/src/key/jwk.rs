//! The keys of a provider, as it publishes them (JWKS).

use serde_json::{Map, Value};

use super::{Signing, Verifier};
use crate::encoding::decode;

/// The most keys a provider may have; what is after them is left out.
const MOST: usize = 100;

/// A key of a provider.
#[derive(Debug, Clone)]
pub(crate) struct Jwk {
    /// Its name, which tokens say.
    pub(crate) id: Option<String>,
    pub(crate) verifier: Verifier,
    /// What it consists of, to see whether it changed.
    material: Vec<Vec<u8>>,
}

impl PartialEq for Jwk {
    fn eq(&self, other: &Self) -> bool {
        self.id == other.id
            && self.verifier.signing() == other.verifier.signing()
            && self.material == other.material
    }
}

impl Jwk {
    /// How it signs.
    pub(crate) fn signing(&self) -> Signing {
        self.verifier.signing()
    }

    /// A key for verifying tokens; any other key is ignored.
    fn read(members: &Map<String, Value>) -> Option<Self> {
        let text = |name: &str| members.get(name).and_then(Value::as_str);
        let number = |name: &str| text(name).and_then(decode);
        if members.contains_key("use") && text("use") != Some("sig") {
            return None;
        }
        if let Some(operations) = members.get("key_ops") {
            let operations = operations.as_array()?;
            if !operations.iter().any(|o| o.as_str() == Some("verify")) {
                return None;
            }
        }
        let (verifier, material) = match (text("kty")?, text("crv")) {
            ("RSA", None) => {
                let (n, e) = (number("n")?, number("e")?);
                (Verifier::rsa(&n, &e).ok()?, vec![n, e])
            }
            ("EC", Some("P-256")) => {
                let (x, y) = (number("x")?, number("y")?);
                if x.len() != 32 || y.len() != 32 {
                    return None;
                }
                let point = [&[4], x.as_slice(), y.as_slice()].concat();
                (Verifier::p256(&point).ok()?, vec![point])
            }
            ("OKP", Some("Ed25519")) => {
                let x = number("x")?;
                (Verifier::ed25519(&x).ok()?, vec![x])
            }
            _ => return None,
        };
        let named = match members.get("alg") {
            None => true,
            // RFC 9864 gave EdDSA with this curve a name of its own.
            Some(Value::String(name)) => {
                name == verifier.signing().name()
                    || (name == "Ed25519" && verifier.signing() == Signing::EdDsa)
            }
            Some(_) => false,
        };
        let id = match members.get("kid") {
            None => None,
            Some(Value::String(id)) => Some(id.clone()),
            Some(_) => return None,
        };
        named.then_some(Self {
            id,
            verifier,
            material,
        })
    }
}

/// The keys of this document that can verify tokens; the others are passed over.
pub(crate) fn key_set(document: &Map<String, Value>) -> Result<Vec<Jwk>, String> {
    let keys = document.get("keys").and_then(Value::as_array);
    let keys = keys.ok_or_else(|| "the answer has no list of keys".to_owned())?;
    let read: Vec<_> = keys
        .iter()
        .filter_map(Value::as_object)
        .filter_map(Jwk::read)
        .take(MOST)
        .collect();
    if read.is_empty() {
        return Err("none of its keys can verify tokens".to_owned());
    }
    Ok(read)
}
