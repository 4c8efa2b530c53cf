//! Bodies in JSON.

use std::borrow::Cow;
use std::time::{Duration, SystemTime};

use bytes::Bytes;
use hyper::header::EXPECT;
use portcullis_core::json::{self, JsonFault};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer};
use serde_json::Value;

use super::call::Call;
use crate::http::body::{self, BodyLimits};
use crate::http::error::HttpError;
use crate::http::media_type;

/// Larger bodies are nothing that any call takes.
const MOST_BYTES: u64 = 256 << 10;

/// The message for an invalid number.
const NUMBER: &str = "expected a whole number";
/// Ten years: nothing lasts longer.
pub(super) const LONGEST_SECONDS: u64 = 315_360_000;

/// When something ends that lasts so many seconds.
pub(super) fn ends_after(
    seconds: Option<u64>,
    now: SystemTime,
) -> Result<Option<SystemTime>, HttpError> {
    match seconds {
        None => Ok(None),
        Some(seconds @ 1..=LONGEST_SECONDS) => Ok(Some(now + Duration::from_secs(seconds))),
        Some(_) => Err(HttpError::bad_request(format!(
            "invalid `expires_in`: expected 1 to {LONGEST_SECONDS} seconds"
        ))),
    }
}

impl Call<'_> {
    /// Reads the body. Call this only once it is known that the caller may send one.
    pub(crate) async fn take_body<T: DeserializeOwned>(&mut self) -> Result<T, HttpError> {
        parse(&self.take_bytes(MOST_BYTES).await?)
    }

    /// Reads the body, an object of strict JSON that is checked elsewhere.
    pub(crate) async fn take_object(&mut self, most: u64) -> Result<Value, HttpError> {
        parse(&self.take_bytes(most).await?)
    }

    /// Reads the body as it is, which is said to be JSON.
    pub(crate) async fn take_bytes(&mut self, most: u64) -> Result<Bytes, HttpError> {
        media_type::expect_json(&self.head.headers)?;
        self.take_raw(most).await
    }

    /// Reads the body as it is, whatever it is.
    pub(crate) async fn take_raw(&mut self, most: u64) -> Result<Bytes, HttpError> {
        if let Some(given) = self.given.take() {
            return Ok(given);
        }
        let Some(incoming) = self.body.take() else {
            return Err(HttpError::internal());
        };
        let limits = &self.gate.limits;
        let most = limits.body.bytes().min(most);
        let expects_continue = self.head.headers.contains_key(EXPECT);
        let limits = BodyLimits {
            bytes: most,
            time: limits.body_timeout.into(),
            budget: &self.visitor.server.budget,
        };
        body::read(incoming, limits, expects_continue).await
    }
}

/// A value of strict JSON: nothing twice, nothing unknown.
pub(super) fn parse<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, HttpError> {
    let scanned = json::scan(bytes).map_err(|fault| HttpError::malformed(&fault))?;
    if !scanned.is_object() {
        return Err(HttpError::malformed(&scanned.fault("expected an object")));
    }
    serde_json::from_slice(bytes).map_err(|error| {
        let text = error.to_string();
        let message = text.split(" at line ").next().unwrap_or_default();
        // Not everybody knows what numbers are called here.
        let message = message
            .replace("expected u64", NUMBER)
            .replace("expected u32", NUMBER);
        HttpError::malformed(&JsonFault {
            message,
            line: error.line(),
            column: error.column(),
        })
    })
}

/// A string that may be missing, null or empty, all of which mean absent.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Maybe(pub(crate) Option<String>);

impl<'de> Deserialize<'de> for Maybe {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = Option::<String>::deserialize(deserializer)?;
        Ok(Self(text.filter(|text| !text.is_empty())))
    }
}

impl JsonSchema for Maybe {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Maybe".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"type": ["string", "null"]})
    }
}
