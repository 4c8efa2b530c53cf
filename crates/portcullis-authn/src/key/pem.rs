//! Keys in PEM files, and the messages for files that hold something else.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::der::{self, Private, Public};

/// The public key of this text.
pub(super) fn public(text: &[u8]) -> Result<Public, String> {
    let (label, der) = first(text, |_| true)?;
    let key = match label {
        "PUBLIC KEY" => der::public(&der),
        "RSA PUBLIC KEY" => der::rsa_public(&der),
        "CERTIFICATE" => {
            return Err(
                "expected a public key, found a certificate (`openssl x509 -pubkey -noout` extracts the key)"
                    .to_owned(),
            );
        }
        label if label.ends_with("PRIVATE KEY") => {
            return Err(
                "expected a public key, found a private key (`openssl pkey -pubout` prints the public key)"
                    .to_owned(),
            );
        }
        _ => {
            return Err(format!(
                "expected `PUBLIC KEY`, found `{}`",
                crate::error::shown(label)
            ));
        }
    };
    key.map_err(|wrong| format!("invalid public key: {wrong}"))
}

/// The private key of this text.
pub(super) fn private(text: &[u8]) -> Result<Private, String> {
    // `openssl ecparam -genkey` writes the curve in front of the key.
    let (label, der) = first(text, |label| label != "EC PARAMETERS")?;
    let key = match label {
        "PRIVATE KEY" => der::private(&der),
        "RSA PRIVATE KEY" => Ok(Private::Rsa { pkcs1: der }),
        "EC PRIVATE KEY" => der::ec_private(&der),
        "ENCRYPTED PRIVATE KEY" => {
            return Err("encrypted private keys are not supported".to_owned());
        }
        "PUBLIC KEY" | "RSA PUBLIC KEY" => {
            return Err("expected a private key, found a public key".to_owned());
        }
        _ => {
            return Err(format!(
                "expected `PRIVATE KEY`, found `{}`",
                crate::error::shown(label)
            ));
        }
    };
    key.map_err(|wrong| format!("invalid private key: {wrong}"))
}

/// Label and content of the first matching section.
fn first(text: &[u8], wanted: impl Fn(&str) -> bool) -> Result<(&str, Vec<u8>), String> {
    const MARK: &str = "-----BEGIN ";
    let no_pem = || "not PEM: `-----BEGIN …` is missing".to_owned();
    let text = std::str::from_utf8(text).map_err(|_| no_pem())?;
    let mut rest = text;
    loop {
        let (_, after) = rest.split_once(MARK).ok_or_else(no_pem)?;
        let (label, after) = after.split_once("-----").ok_or_else(no_pem)?;
        let end = format!("-----END {label}-----");
        let (body, after) = after
            .split_once(&end)
            .ok_or_else(|| "not PEM: `-----END …` is missing".to_owned())?;
        if !wanted(label) {
            rest = after;
            continue;
        }
        let body: String = body.chars().filter(|c| !c.is_ascii_whitespace()).collect();
        let der = STANDARD
            .decode(body)
            .map_err(|_| "not PEM: invalid base64".to_owned())?;
        return Ok((label, der));
    }
}
