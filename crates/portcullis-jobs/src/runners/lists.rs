//! The runner lists of one verdict.

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

use super::record::RunnerId;

/// The runners that one verdict accepts and rejects. In JSON the ids are strings; numbers are read too.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct RunnerLists {
    /// The only runners that may take the job; empty for all.
    #[serde(default, with = "ids")]
    #[schemars(with = "Vec<String>")]
    pub accepted_ids: Vec<RunnerId>,
    /// Runners that may not take the job.
    #[serde(default, with = "ids")]
    #[schemars(with = "Vec<String>")]
    pub rejected_ids: Vec<RunnerId>,
}

impl RunnerLists {
    /// Whether they leave every runner.
    pub fn is_empty(&self) -> bool {
        self.accepted_ids.is_empty() && self.rejected_ids.is_empty()
    }
}

/// An id: a number, or a string of digits.
pub(crate) fn read_id(value: &Value) -> Option<RunnerId> {
    match value {
        Value::Number(number) => number.as_u64(),
        Value::String(text) if text.bytes().all(|byte| byte.is_ascii_digit()) => text.parse().ok(),
        _ => None,
    }
}

mod ids {
    use super::{Deserialize, Deserializer, RunnerId, Serializer, Value, read_id};
    use serde::de::Error as _;

    pub(super) fn serialize<S: Serializer>(
        ids: &[RunnerId],
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(ids.iter().map(RunnerId::to_string))
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Vec<RunnerId>, D::Error> {
        let values: Vec<Value> = Vec::deserialize(deserializer)?;
        let id = |value| {
            read_id(&value)
                .ok_or_else(|| D::Error::custom(format!("expected a runner id, found `{value}`")))
        };
        values.into_iter().map(id).collect()
    }
}
