//! Signatures of images made by hand, so that they can be wrong.

use std::path::PathBuf;

use aws_lc_rs::encoding::{AsDer, PublicKeyX509Der};
use aws_lc_rs::rand::SystemRandom;
use aws_lc_rs::rsa::KeySize;
use aws_lc_rs::signature::{
    ECDSA_P256_SHA256_ASN1_SIGNING, EcdsaKeyPair, Ed25519KeyPair, KeyPair, RSA_PKCS1_SHA256,
    RsaKeyPair,
};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use crate::registry::Registry;
use crate::script::Folder;

pub(crate) const TYPE: &str = "cosign container image signature";
pub(crate) const PAYLOAD: &str = "application/vnd.dev.cosign.simplesigning.v1+json";
pub(crate) const SIGNATURE: &str = "dev.cosignproject.cosign/signature";

/// A key that signs.
#[derive(Debug)]
pub(crate) enum Signer {
    P256(EcdsaKeyPair),
    Ed25519(Ed25519KeyPair),
    Rsa(RsaKeyPair),
}

impl Signer {
    pub(crate) fn p256() -> Self {
        Self::P256(EcdsaKeyPair::generate(&ECDSA_P256_SHA256_ASN1_SIGNING).unwrap())
    }

    pub(crate) fn ed25519() -> Self {
        Self::Ed25519(Ed25519KeyPair::generate().unwrap())
    }

    pub(crate) fn rsa() -> Self {
        Self::Rsa(RsaKeyPair::generate(KeySize::Rsa2048).unwrap())
    }

    /// Writes the public key.
    pub(crate) fn key(&self, folder: &Folder, name: &str) -> PathBuf {
        let der: PublicKeyX509Der<'_> = match self {
            Self::P256(pair) => pair.public_key().as_der().unwrap(),
            Self::Ed25519(pair) => pair.public_key().as_der().unwrap(),
            Self::Rsa(pair) => pair.public_key().as_der().unwrap(),
        };
        let text = STANDARD.encode(der.as_ref());
        let pem = format!("-----BEGIN PUBLIC KEY-----\n{text}\n-----END PUBLIC KEY-----\n");
        let path = folder.path(name);
        std::fs::write(&path, pem).unwrap();
        path
    }

    /// The signature of a text, in base64.
    pub(crate) fn sign(&self, text: &[u8]) -> String {
        let random = SystemRandom::new();
        STANDARD.encode(match self {
            Self::P256(pair) => pair.sign(&random, text).unwrap().as_ref().to_vec(),
            Self::Ed25519(pair) => pair.sign(text).as_ref().to_vec(),
            Self::Rsa(pair) => {
                let mut signature = vec![0; pair.public_modulus_len()];
                pair.sign(&RSA_PKCS1_SHA256, &random, text, &mut signature)
                    .unwrap();
                signature
            }
        })
    }
}

/// What a signature is over.
pub(crate) fn payload(digest: &str, kind: &str, optional: &Value) -> Vec<u8> {
    let payload = json!({
        "critical": {"identity": {"docker-reference": "r.example/app"}, "type": kind,
            "image": {"docker-manifest-digest": digest}},
        "optional": optional,
    });
    payload.to_string().into_bytes()
}

/// The digest in a reference.
pub(crate) fn digest_of(image: &str) -> &str {
    image.split_once('@').unwrap().1
}

/// Puts a good signature beside an image.
pub(crate) fn sign(registry: &Registry, image: &str, signer: &Signer) {
    let payload = payload(digest_of(image), TYPE, &Value::Null);
    let signature = signer.sign(&payload);
    registry.signatures(image, &[(PAYLOAD, &payload, json!({SIGNATURE: signature}))]);
}
