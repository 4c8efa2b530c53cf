//! Tokens as they come: three parts, the first two strict JSON objects.

use serde_json::{Map, Value};

use crate::encoding::decode;
use crate::error::{Code, Problem};

/// The longest token that is looked at.
pub(crate) const LONGEST: usize = 16 << 10;

/// How deep claims may be nested.
const DEEPEST: usize = 32;

/// A token that could be parsed; nothing in it is verified yet.
#[derive(Debug)]
pub(crate) struct Token<'a> {
    /// `alg`; empty where it is not text.
    pub(crate) algorithm: String,
    /// `kid`.
    pub(crate) key: Option<String>,
    /// Whether there is something in the header that must be understood.
    pub(crate) critical: bool,
    pub(crate) claims: Map<String, Value>,
    /// What is signed.
    pub(crate) message: &'a str,
    /// The signature, base64url.
    pub(crate) signature: &'a str,
}

impl<'a> Token<'a> {
    /// Takes a token apart.
    pub(crate) fn read(token: &'a str) -> Result<Self, Problem> {
        let wrong = |what: &str| Problem::new(Code::Undecodable, what);
        if token.len() > LONGEST {
            return Err(wrong("this token is longer than 16 KiB"));
        }
        let parts = token.rsplit_once('.').and_then(|(message, signature)| {
            let (header, claims) = message.split_once('.')?;
            (!claims.contains('.')).then_some((message, header, claims, signature))
        });
        let Some((message, header, claims, signature)) = parts else {
            return Err(wrong("not a token: expected three parts"));
        };
        if decode(signature).is_none() {
            return Err(wrong("the signature of this token is not base64url"));
        }
        let mut header = object(header)
            .ok_or_else(|| wrong("the header of this token is not a JSON object in base64url"))?;
        let claims = object(claims).ok_or_else(|| {
            wrong("the claims of this token are not a JSON object in base64url, each claim once")
        })?;
        if claims.values().any(|v| deeper(v, DEEPEST - 1)) {
            return Err(wrong("the claims of this token are nested too deep"));
        }
        let key = match header.remove("kid") {
            None => None,
            Some(Value::String(key)) => Some(key),
            Some(_) => return Err(wrong("`kid` in the header of this token is not a string")),
        };
        let algorithm = match header.remove("alg") {
            Some(Value::String(algorithm)) => algorithm,
            _ => String::new(),
        };
        Ok(Self {
            algorithm,
            key,
            critical: header.contains_key("crit"),
            claims,
            message,
            signature,
        })
    }
}

fn object(part: &str) -> Option<Map<String, Value>> {
    strict(&decode(part)?)
}

/// An object that says everything once.
pub(crate) fn strict(bytes: &[u8]) -> Option<Map<String, Value>> {
    let scanned = portcullis_core::json::scan(bytes).ok()?;
    if !scanned.is_object() {
        return None;
    }
    serde_json::from_str(scanned.text()).ok()
}

/// Whether this has more levels than are allowed.
fn deeper(value: &Value, allowed: usize) -> bool {
    let Some(left) = allowed.checked_sub(1) else {
        return value.is_array() || value.is_object();
    };
    match value {
        Value::Array(items) => items.iter().any(|v| deeper(v, left)),
        Value::Object(members) => members.values().any(|v| deeper(v, left)),
        _ => false,
    }
}
