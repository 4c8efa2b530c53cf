//! As much of DER as the envelopes of keys need.

use std::fmt;

const RSA: &[u8] = &[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 1, 1, 1];
const RSA_PSS: &[u8] = &[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 1, 1, 10];
const EC: &[u8] = &[0x2a, 0x86, 0x48, 0xce, 0x3d, 2, 1];
const P256: &[u8] = &[0x2a, 0x86, 0x48, 0xce, 0x3d, 3, 1, 7];
const P384: &[u8] = &[0x2b, 0x81, 4, 0, 34];
const P521: &[u8] = &[0x2b, 0x81, 4, 0, 35];
const K256: &[u8] = &[0x2b, 0x81, 4, 0, 10];
const ED25519: &[u8] = &[0x2b, 0x65, 0x70];
const ED448: &[u8] = &[0x2b, 0x65, 0x71];

const INTEGER: u8 = 0x02;
const BIT_STRING: u8 = 0x03;
const OCTET_STRING: u8 = 0x04;
const OBJECT: u8 = 0x06;
const SEQUENCE: u8 = 0x30;
/// The curve of an `EC PRIVATE KEY`.
const PARAMETERS: u8 = 0xa0;

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
pub(super) fn public(der: &[u8]) -> Option<Public> {
    let mut outer = whole(der, SEQUENCE)?;
    let mut kind = Reader(outer.take(SEQUENCE)?);
    let object = kind.take(OBJECT)?;
    let key = outer.take(BIT_STRING)?;
    // The first byte says how many bits of the last one don't count.
    let key = key.strip_prefix(&[0])?;
    outer.end()?;
    Some(match object {
        RSA => return rsa_public(key),
        EC => match kind.take(OBJECT)? {
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
pub(super) fn rsa_public(der: &[u8]) -> Option<Public> {
    let mut numbers = whole(der, SEQUENCE)?;
    let modulus = numbers.take(INTEGER)?.to_vec();
    let exponent = numbers.take(INTEGER)?.to_vec();
    numbers.end()?;
    Some(Public::Rsa { modulus, exponent })
}

/// A `PRIVATE KEY`: which algorithm, then the key.
pub(super) fn private(der: &[u8]) -> Option<Private> {
    let mut outer = whole(der, SEQUENCE)?;
    outer.take(INTEGER)?;
    let mut kind = Reader(outer.take(SEQUENCE)?);
    let key = |outer: &mut Reader<'_>| outer.take(OCTET_STRING).map(<[u8]>::to_vec);
    Some(match kind.take(OBJECT)? {
        RSA => Private::Rsa {
            pkcs1: key(&mut outer)?,
        },
        EC => match kind.take(OBJECT)? {
            P256 => Private::P256 { der: der.to_vec() },
            curve => Private::Other(curve_name(curve)),
        },
        ED25519 => Private::Ed25519 {
            pkcs8: der.to_vec(),
        },
        other => Private::Other(name(other)),
    })
}

/// An `EC PRIVATE KEY`: the key, and perhaps its curve.
pub(super) fn ec_private(der: &[u8]) -> Option<Private> {
    let mut outer = whole(der, SEQUENCE)?;
    outer.take(INTEGER)?;
    let key = outer.take(OCTET_STRING)?;
    let curve = match outer.take(PARAMETERS) {
        Some(inside) => Reader(inside).take(OBJECT)?,
        None if key.len() == 32 => P256,
        None => return Some(Private::Other("a key on another curve")),
    };
    Some(match curve {
        P256 => Private::P256 { der: der.to_vec() },
        curve => Private::Other(curve_name(curve)),
    })
}

fn name(object: &[u8]) -> &'static str {
    match object {
        RSA_PSS => "an RSA-PSS key",
        ED448 => "an Ed448 key",
        _ => "a key of another type",
    }
}

fn curve_name(object: &[u8]) -> &'static str {
    match object {
        P384 => "a P-384 key",
        P521 => "a P-521 key",
        K256 => "a secp256k1 key",
        _ => "a key on another curve",
    }
}

/// What is left to be read.
struct Reader<'a>(&'a [u8]);

/// The inside of the one element there is.
fn whole(der: &[u8], tag: u8) -> Option<Reader<'_>> {
    let mut reader = Reader(der);
    let inside = reader.take(tag)?;
    reader.end()?;
    Some(Reader(inside))
}

impl<'a> Reader<'a> {
    /// The inside of the next element, if it has this tag.
    fn take(&mut self, tag: u8) -> Option<&'a [u8]> {
        let rest = self.0.strip_prefix(&[tag])?;
        let (&first, rest) = rest.split_first()?;
        let (length, rest) = match first {
            short if short < 0x80 => (usize::from(short), rest),
            0x81..=0x84 => {
                let (digits, rest) = rest.split_at_checked(usize::from(first & 0x7f))?;
                let number = digits
                    .iter()
                    .fold(0_usize, |n, d| (n << 8) | usize::from(*d));
                (number, rest)
            }
            _ => return None,
        };
        let (inside, rest) = rest.split_at_checked(length)?;
        self.0 = rest;
        Some(inside)
    }

    fn end(&self) -> Option<()> {
        self.0.is_empty().then_some(())
    }
}
