//! Keys in PEM files, and what to say of files that hold something else.

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
                "the public key is needed, this is a certificate (`openssl x509 -pubkey -noout` takes the key out)"
                    .to_owned(),
            );
        }
        label if label.ends_with("PRIVATE KEY") => {
            return Err(
                "the public key is needed, this is a private key (`openssl pkey -pubout` makes the public one of it)"
                    .to_owned(),
            );
        }
        _ => {
            return Err(format!(
                "`PUBLIC KEY` is needed, this is `{}`",
                crate::error::shown(label)
            ));
        }
    };
    key.map_err(|wrong| format!("this public key can't be read: {wrong}"))
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
            return Err("this private key needs a password, which can't be given".to_owned());
        }
        "PUBLIC KEY" | "RSA PUBLIC KEY" => {
            return Err("the private key is needed, this is a public key".to_owned());
        }
        _ => {
            return Err(format!(
                "`PRIVATE KEY` is needed, this is `{}`",
                crate::error::shown(label)
            ));
        }
    };
    key.map_err(|wrong| format!("this private key can't be read: {wrong}"))
}

/// Label and content of the first section that is wanted.
fn first(text: &[u8], wanted: impl Fn(&str) -> bool) -> Result<(&str, Vec<u8>), String> {
    const MARK: &str = "-----BEGIN ";
    let no_pem = || "this is not PEM (`-----BEGIN …`)".to_owned();
    let text = std::str::from_utf8(text).map_err(|_| no_pem())?;
    let mut rest = text;
    loop {
        let (_, after) = rest.split_once(MARK).ok_or_else(no_pem)?;
        let (label, after) = after.split_once("-----").ok_or_else(no_pem)?;
        let end = format!("-----END {label}-----");
        let (body, after) = after
            .split_once(&end)
            .ok_or_else(|| "the end of the key is missing (`-----END …`)".to_owned())?;
        if !wanted(label) {
            rest = after;
            continue;
        }
        let body: String = body.chars().filter(|c| !c.is_ascii_whitespace()).collect();
        let der = STANDARD
            .decode(body)
            .map_err(|_| "what is between BEGIN and END is not base64".to_owned())?;
        return Ok((label, der));
    }
}
