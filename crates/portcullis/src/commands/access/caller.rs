//! The caller: claims in a file, as an authenticator of the configuration reads them.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use portcullis_authn::Authenticators;
use portcullis_core::Identity;
use serde_json::{Map, Value};

use crate::commands::failure::Failure;
use crate::exit::Exit;

/// The most bytes of claims.
const MOST: u64 = 1 << 20;

/// The caller.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::commands) enum Caller {
    /// Somebody who is known.
    Known(Identity),
    /// A caller without a token.
    Nobody,
    /// Somebody whose token is refused, and why: the same as nobody.
    Refused(String),
}

impl Caller {
    /// The caller with the claims in this file, or on standard input; anonymous without claims.
    pub(in crate::commands) fn of(
        claims: Option<&Path>,
        authenticators: &Authenticators,
    ) -> Result<Self, Failure> {
        let Some(file) = claims else {
            return Ok(Self::Nobody);
        };
        Ok(match authenticators.identity_of(read(file)?) {
            Ok(identity) => Self::Known(identity),
            Err(error) => Self::Refused(error.to_string()),
        })
    }

    pub(in crate::commands) fn identity(&self) -> Option<&Identity> {
        match self {
            Self::Known(identity) => Some(identity),
            Self::Nobody | Self::Refused(_) => None,
        }
    }
}

fn read(file: &Path) -> Result<Map<String, Value>, Failure> {
    let name = match file.to_str() {
        Some("-") => "standard input".to_owned(),
        _ => file.display().to_string(),
    };
    let wrong = |what: &str| Failure::new(Exit::Invalid, format!("the claims in {name}: {what}"));
    let text = match file.to_str() {
        Some("-") => text(std::io::stdin().lock()),
        _ => File::open(file)
            .map_err(|error| error.to_string())
            .and_then(text),
    };
    let text = text.map_err(|error| wrong(&error))?;
    match serde_json::from_str(&text) {
        Ok(Value::Object(claims)) => Ok(claims),
        Ok(_) => Err(wrong("expected an object, like {\"sub\": \"alice\"}")),
        Err(error) => Err(wrong(&format!("not valid JSON: {error}"))),
    }
}

fn text(from: impl Read) -> Result<String, String> {
    let mut text = String::new();
    let read = from.take(MOST + 1).read_to_string(&mut text);
    read.map_err(|error| error.to_string())?;
    match text.len() as u64 > MOST {
        true => Err("there is more than 1 MiB of it".to_owned()),
        false => Ok(text),
    }
}
