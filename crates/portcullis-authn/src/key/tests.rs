//! Keys in the formats that programs write.

use super::{Signer, Verifier};
use crate::settings::Algorithm;
use crate::testing::{Pair, pem};

#[track_caller]
fn belongs(algorithm: Algorithm, public: &str, private: &str) {
    let verifier = Verifier::from_pem(algorithm, public.as_bytes()).unwrap();
    let signer = Signer::from_pem(algorithm, private.as_bytes()).unwrap();
    let signature = signer.sign("message").unwrap();
    assert!(verifier.verify("message", &signature));
    assert!(!verifier.verify("massage", &signature));
}

/// The inside of an element of DER, by its place: enough to take apart what tests made.
fn elements(mut der: &[u8]) -> Vec<&[u8]> {
    let mut found = Vec::new();
    while !der.is_empty() {
        let (start, length) = match der[1] {
            short if short < 0x80 => (2, usize::from(short)),
            0x81 => (3, usize::from(der[2])),
            _ => (4, usize::from(der[2]) << 8 | usize::from(der[3])),
        };
        found.push(&der[start..start + length]);
        der = &der[start + length..];
    }
    found
}

#[test]
fn rsa_in_both_forms() {
    let pair = Pair::rsa();
    let inside = elements(elements(pair.private_der())[0]);
    let private = pem("RSA PRIVATE KEY", inside[2]);
    let inside = elements(elements(pair.public_der())[0]);
    let public = pem("RSA PUBLIC KEY", &inside[1][1..]);
    for public in [&public, &pair.public_pem()] {
        for private in [&private, &pair.private_pem()] {
            belongs(Algorithm::Rs256, public, private);
        }
    }
}

#[test]
fn ec_in_both_forms() {
    let pair = Pair::ec();
    belongs(Algorithm::Es256, &pair.public_pem(), &pair.private_pem());
    let inside = elements(elements(pair.private_der())[0]);
    let old = pem("EC PRIVATE KEY", inside[2]);
    belongs(Algorithm::Es256, &pair.public_pem(), &old);
    let parameters = pem(
        "EC PARAMETERS",
        &[6, 8, 0x2a, 0x86, 0x48, 0xce, 0x3d, 3, 1, 7],
    );
    belongs(
        Algorithm::Es256,
        &pair.public_pem(),
        &format!("{parameters}{old}"),
    );
}

#[test]
fn windows_line_ends_and_text_around() {
    let pair = Pair::ed();
    let public = format!(
        "a comment\r\n{}trailing",
        pair.public_pem().replace('\n', "\r\n")
    );
    belongs(Algorithm::EdDsa, &public, &pair.private_pem());
}

#[test]
fn keys_made_by_another_library() {
    for (algorithm, kind) in [
        (Algorithm::Es256, &rcgen::PKCS_ECDSA_P256_SHA256),
        (Algorithm::EdDsa, &rcgen::PKCS_ED25519),
    ] {
        let pair = rcgen::KeyPair::generate_for(kind).unwrap();
        belongs(algorithm, &pair.public_key_pem(), &pair.serialize_pem());
    }
}

#[test]
fn no_prefix_of_a_key_makes_it_panic() {
    for pair in [&Pair::ec(), &Pair::ed(), Pair::rsa()] {
        for (label, der) in [
            ("PUBLIC KEY", pair.public_der()),
            ("PRIVATE KEY", pair.private_der()),
        ] {
            for end in 0..der.len() {
                let text = pem(label, &der[..end]);
                assert!(Verifier::from_pem(pair.algorithm, text.as_bytes()).is_err());
                assert!(Signer::from_pem(pair.algorithm, text.as_bytes()).is_err());
            }
        }
    }
}
