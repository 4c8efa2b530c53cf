//! Key pairs, generated for every run.

use std::sync::LazyLock;

use aws_lc_rs::encoding::{AsDer, Pkcs8V1Der, PublicKeyX509Der};
use aws_lc_rs::rand::SystemRandom;
use aws_lc_rs::rsa::KeySize;
use aws_lc_rs::signature::{
    ECDSA_P256_SHA256_FIXED_SIGNING, ECDSA_P384_SHA384_FIXED_SIGNING, EcdsaKeyPair, Ed25519KeyPair,
    KeyPair as _, RSA_PKCS1_SHA256, RsaKeyPair,
};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use der::asn1::UintRef;
use der::{Decode, Reader, SliceReader};
use serde_json::{Value, json};

use crate::encoding::encode;
use crate::settings::Algorithm;

/// A key pair.
pub(crate) struct Pair {
    pub(crate) algorithm: Algorithm,
    private: Vec<u8>,
    public: Vec<u8>,
    inner: Inner,
}

enum Inner {
    Rsa(RsaKeyPair),
    Ec(EcdsaKeyPair),
    Ed(Ed25519KeyPair),
}

static RSA: LazyLock<Pair> = LazyLock::new(Pair::new_rsa);
static OTHER_RSA: LazyLock<Pair> = LazyLock::new(Pair::new_rsa);

impl Pair {
    /// The RSA pair of this run; making one takes long.
    pub(crate) fn rsa() -> &'static Self {
        &RSA
    }

    /// Another RSA pair.
    pub(crate) fn other_rsa() -> &'static Self {
        &OTHER_RSA
    }

    fn new_rsa() -> Self {
        let pair = RsaKeyPair::generate(KeySize::Rsa2048).unwrap();
        let private = AsDer::<Pkcs8V1Der<'_>>::as_der(&pair).unwrap();
        let public = AsDer::<PublicKeyX509Der<'_>>::as_der(pair.public_key()).unwrap();
        Self {
            algorithm: Algorithm::Rs256,
            private: private.as_ref().to_vec(),
            public: public.as_ref().to_vec(),
            inner: Inner::Rsa(pair),
        }
    }

    /// A new pair of P-256.
    pub(crate) fn ec() -> Self {
        Self::curve(&ECDSA_P256_SHA256_FIXED_SIGNING)
    }

    /// A new pair of P-384, which nothing here uses.
    pub(crate) fn p384() -> Self {
        Self::curve(&ECDSA_P384_SHA384_FIXED_SIGNING)
    }

    fn curve(algorithm: &'static aws_lc_rs::signature::EcdsaSigningAlgorithm) -> Self {
        let pair = EcdsaKeyPair::generate(algorithm).unwrap();
        let public = AsDer::<PublicKeyX509Der<'_>>::as_der(pair.public_key()).unwrap();
        Self {
            algorithm: Algorithm::Es256,
            private: pair.to_pkcs8v1().unwrap().as_ref().to_vec(),
            public: public.as_ref().to_vec(),
            inner: Inner::Ec(pair),
        }
    }

    /// A new Ed25519 pair.
    pub(crate) fn ed() -> Self {
        let pair = Ed25519KeyPair::generate().unwrap();
        let public = AsDer::<PublicKeyX509Der<'_>>::as_der(pair.public_key()).unwrap();
        Self {
            algorithm: Algorithm::EdDsa,
            private: pair.to_pkcs8v1().unwrap().as_ref().to_vec(),
            public: public.as_ref().to_vec(),
            inner: Inner::Ed(pair),
        }
    }

    /// Signs.
    pub(crate) fn sign(&self, message: &[u8]) -> Vec<u8> {
        let rng = SystemRandom::new();
        match &self.inner {
            Inner::Rsa(pair) => {
                let mut signature = vec![0; pair.public_modulus_len()];
                pair.sign(&RSA_PKCS1_SHA256, &rng, message, &mut signature)
                    .unwrap();
                signature
            }
            Inner::Ec(pair) => pair.sign(&rng, message).unwrap().as_ref().to_vec(),
            Inner::Ed(pair) => pair.sign(message).as_ref().to_vec(),
        }
    }

    /// The public key in PEM.
    pub(crate) fn public_pem(&self) -> String {
        pem("PUBLIC KEY", &self.public)
    }

    /// The private key in PEM.
    pub(crate) fn private_pem(&self) -> String {
        pem("PRIVATE KEY", &self.private)
    }

    /// The private key in DER.
    pub(crate) fn private_der(&self) -> &[u8] {
        &self.private
    }

    /// The public key in DER.
    pub(crate) fn public_der(&self) -> &[u8] {
        &self.public
    }

    /// The public key as a provider publishes it.
    pub(crate) fn jwk(&self, id: &str) -> Value {
        match &self.inner {
            Inner::Rsa(pair) => {
                let mut key = SliceReader::new(pair.public_key().as_ref()).unwrap();
                let numbers =
                    key.sequence(|key| Ok((UintRef::decode(key)?, UintRef::decode(key)?)));
                let (n, e) = numbers.unwrap();
                let (n, e) = (n.as_bytes(), e.as_bytes());
                json!({ "kty": "RSA", "kid": id, "use": "sig", "alg": "RS256", "n": encode(n), "e": encode(e) })
            }
            Inner::Ec(pair) => {
                let point = pair.public_key().as_ref();
                let (x, y) = (encode(&point[1..33]), encode(&point[33..65]));
                json!({ "kty": "EC", "crv": "P-256", "kid": id, "use": "sig", "alg": "ES256", "x": x, "y": y })
            }
            Inner::Ed(pair) => {
                json!({ "kty": "OKP", "crv": "Ed25519", "kid": id, "x": encode(pair.public_key().as_ref()) })
            }
        }
    }
}

/// A PEM text with this label.
pub(crate) fn pem(label: &str, der: &[u8]) -> String {
    let text = STANDARD.encode(der);
    let lines: Vec<_> = text
        .as_bytes()
        .chunks(64)
        .map(|l| std::str::from_utf8(l).unwrap())
        .collect();
    format!(
        "-----BEGIN {label}-----\n{}\n-----END {label}-----\n",
        lines.join("\n")
    )
}
