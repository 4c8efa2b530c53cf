//! The `web` key.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The web pages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct Web {
    /// Whether people with the permission `playground` may try policies, in pages and over the API.
    pub playground: bool,
}
