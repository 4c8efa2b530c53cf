//! Bodies in JSON.

use std::borrow::Cow;

use hyper::header::EXPECT;
use portcullis_core::json::{self, JsonFault};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer};

use super::call::Call;
use crate::http::body;
use crate::http::error::HttpError;
use crate::http::media_type;

/// Larger bodies are nothing that any call takes.
const MOST_BYTES: u64 = 256 << 10;

impl Call<'_> {
    /// Reads the body. Call this only once it is known that the caller may send one.
    pub(crate) async fn take_body<T: DeserializeOwned>(&mut self) -> Result<T, HttpError> {
        media_type::expect_json(&self.head.headers)?;
        let Some(incoming) = self.body.take() else {
            return Err(HttpError::internal());
        };
        let limits = &self.gate.limits;
        let most = limits.body.bytes().min(MOST_BYTES);
        let expects_continue = self.head.headers.contains_key(EXPECT);
        let bytes =
            body::read(incoming, most, limits.body_timeout.into(), expects_continue).await?;
        parse(&bytes)
    }
}

/// A value of strict JSON: nothing twice, nothing unknown.
fn parse<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, HttpError> {
    let scanned = json::scan(bytes).map_err(|fault| HttpError::malformed(&fault))?;
    if !scanned.is_object() {
        return Err(HttpError::malformed(&scanned.fault("expected an object")));
    }
    serde_json::from_slice(bytes).map_err(|error| {
        let text = error.to_string();
        let message = text.split(" at line ").next().unwrap_or_default();
        HttpError::malformed(&JsonFault {
            message: message.to_owned(),
            line: error.line(),
            column: error.column(),
        })
    })
}

/// A text that may be missing, null or empty, all of which mean that there is none.
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
