//! The DER envelopes of keys: which kind of key is inside, and where it begins.

use std::fmt;

use der::asn1::{ObjectIdentifier, OctetStringRef, UintRef};
use der::{Decode, Reader, SliceReader, Tag, TagMode, TagNumber};
use spki::{AlgorithmIdentifierRef, SubjectPublicKeyInfoRef};

const RSA: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.113549.1.1.1");
const RSA_PSS: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.113549.1.1.10");
const EC: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.10045.2.1");
const P256: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.10045.3.1.7");
const P384: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.3.132.0.34");
const P521: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.3.132.0.35");
const K256: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.3.132.0.10");
const ED25519: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.3.101.112");
const ED448: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.3.101.113");

/// A public key.
#[derive(Debug)]
pub(super) enum Public {
    Rsa { modulus: Vec<u8>, exponent: Vec<u8> },
    P256 { point: Vec<u8> },
    Ed25519 { key: Vec<u8> },
    Other(&'static str),
}

/// A private key.
pub(super) enum Private {
    Rsa { pkcs1: Vec<u8> },
    P256 { der: Vec<u8> },
    Ed25519 { pkcs8: Vec<u8> },
    Other(&'static str),
}

impl fmt::Display for Public {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Rsa { modulus, .. } => write!(f, "an RSA key of {} bits", bits(modulus)),
            Self::P256 { .. } => f.write_str("a P-256 key"),
            Self::Ed25519 { .. } => f.write_str("an Ed25519 key"),
            Self::Other(kind) => f.write_str(kind),
        }
    }
}

impl fmt::Display for Private {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Rsa { .. } => "an RSA key",
            Self::P256 { .. } => "a P-256 key",
            Self::Ed25519 { .. } => "an Ed25519 key",
            Self::Other(kind) => kind,
        })
    }
}

/// How many bits a number has.
pub(super) fn bits(number: &[u8]) -> usize {
    let mut rest = number.iter().skip_while(|b| **b == 0);
    match rest.next() {
        Some(first) => rest.count() * 8 + (8 - first.leading_zeros() as usize),
        None => 0,
    }
}

/// A `PUBLIC KEY`: which algorithm, then the key.
pub(super) fn public(der: &[u8]) -> der::Result<Public> {
    let info = SubjectPublicKeyInfoRef::from_der(der)?;
    let key = info.subject_public_key.as_bytes();
    let key = key.ok_or_else(|| Tag::BitString.value_error())?;
    Ok(match info.algorithm.oid {
        RSA => return rsa_public(key),
        EC => match curve(&info.algorithm)? {
            P256 => Public::P256 {
                point: key.to_vec(),
            },
            curve => Public::Other(curve_name(curve)),
        },
        ED25519 => Public::Ed25519 { key: key.to_vec() },
        other => Public::Other(name(other)),
    })
}

/// An `RSA PUBLIC KEY`: modulus and exponent.
pub(super) fn rsa_public(der: &[u8]) -> der::Result<Public> {
    let mut reader = SliceReader::new(der)?;
    let (modulus, exponent) = reader.sequence(|numbers| {
        let modulus: UintRef<'_> = numbers.decode()?;
        let exponent: UintRef<'_> = numbers.decode()?;
        Ok((modulus.as_bytes().to_vec(), exponent.as_bytes().to_vec()))
    })?;
    reader.finish(Public::Rsa { modulus, exponent })
}

/// A `PRIVATE KEY`: which algorithm, then the key, and perhaps more.
pub(super) fn private(der: &[u8]) -> der::Result<Private> {
    let mut reader = SliceReader::new(der)?;
    let key = reader.sequence(|inside| {
        let _version: u8 = inside.decode()?;
        let algorithm: AlgorithmIdentifierRef<'_> = inside.decode()?;
        let key: OctetStringRef<'_> = inside.decode()?;
        inside.read_slice(inside.remaining_len())?;
        Ok(match algorithm.oid {
            RSA => Private::Rsa {
                pkcs1: key.as_bytes().to_vec(),
            },
            EC => match curve(&algorithm)? {
                P256 => Private::P256 { der: der.to_vec() },
                curve => Private::Other(curve_name(curve)),
            },
            ED25519 => Private::Ed25519 {
                pkcs8: der.to_vec(),
            },
            other => Private::Other(name(other)),
        })
    })?;
    reader.finish(key)
}

/// An `EC PRIVATE KEY`: the key, and perhaps its curve and more.
pub(super) fn ec_private(der: &[u8]) -> der::Result<Private> {
    let mut reader = SliceReader::new(der)?;
    let key = reader.sequence(|inside| {
        let _version: u8 = inside.decode()?;
        let key: OctetStringRef<'_> = inside.decode()?;
        let curve = inside.context_specific(TagNumber::N0, TagMode::Explicit)?;
        inside.read_slice(inside.remaining_len())?;
        Ok(match curve {
            Some(P256) => Private::P256 { der: der.to_vec() },
            Some(curve) => Private::Other(curve_name(curve)),
            None if key.as_bytes().len() == 32 => Private::P256 { der: der.to_vec() },
            None => Private::Other("a key on another curve"),
        })
    })?;
    reader.finish(key)
}

/// The curve that the parameters of an algorithm name.
fn curve(algorithm: &AlgorithmIdentifierRef<'_>) -> der::Result<ObjectIdentifier> {
    let parameters = algorithm.parameters;
    let parameters = parameters.ok_or_else(|| Tag::ObjectIdentifier.value_error())?;
    parameters.decode_as()
}

fn name(algorithm: ObjectIdentifier) -> &'static str {
    match algorithm {
        RSA_PSS => "an RSA-PSS key",
        ED448 => "an Ed448 key",
        _ => "a key of another type",
    }
}

fn curve_name(curve: ObjectIdentifier) -> &'static str {
    match curve {
        P384 => "a P-384 key",
        P521 => "a P-521 key",
        K256 => "a secp256k1 key",
        _ => "a key on another curve",
    }
}
