//! The configuration of `EventRateLimit`, read and checked.
//!
//! The format and its rules are Kubernetes'; there is no default, so a
//! configuration without limits is invalid.

use std::fmt;

use portcullis_document::Fault;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::object::Object;
use crate::plugins::config::{self, TypeMeta};
use crate::plugins::tolerations::unsupported;

use super::buckets::Rate;

/// How many buckets a limit has by default.
const DEFAULT_CACHE_SIZE: usize = 4096;

pub(super) const TYPE: TypeMeta = TypeMeta {
    api_versions: &["eventratelimit.admission.k8s.io/v1alpha1"],
    kind: "Configuration",
};

/// Configuration of `EventRateLimit`.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Configuration {
    /// The limits; at least one.
    #[schemars(required, length(min = 1))]
    limits: Option<Vec<Object<ConfiguredLimit>>>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct ConfiguredLimit {
    /// The scope of the limit.
    #[serde(rename = "type")]
    #[schemars(required, schema_with = "type_schema")]
    kind: Option<String>,
    /// Events per second, once the burst is used up.
    #[schemars(required, range(min = 1))]
    qps: Option<i32>,
    /// How many events may come at once.
    #[schemars(required, range(min = 1))]
    burst: Option<i32>,
    /// How many buckets are kept; 4096 when left out. The one not used for longest goes first.
    cache_size: Option<i32>,
}

fn type_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
    schemars::json_schema!({
        "description": "The scope of the limit.",
        "type": "string",
        "enum": json!(LimitType::ALL.map(LimitType::name)),
    })
}

/// What the buckets of a limit are for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LimitType {
    /// All events together.
    Server,
    /// Each namespace.
    Namespace,
    /// Each user.
    User,
    /// Each pair of the reporting component and the object of the event.
    SourceAndObject,
}

impl LimitType {
    const ALL: [Self; 4] = [
        Self::Server,
        Self::Namespace,
        Self::User,
        Self::SourceAndObject,
    ];

    fn name(self) -> &'static str {
        match self {
            Self::Server => "Server",
            Self::Namespace => "Namespace",
            Self::User => "User",
            Self::SourceAndObject => "SourceAndObject",
        }
    }
}

impl fmt::Display for LimitType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A limit that was checked.
#[derive(Debug)]
pub(super) struct CheckedLimit {
    /// The scope of the limit.
    pub(super) kind: LimitType,
    /// How fast and how far each bucket fills.
    pub(super) rate: Rate,
    /// How many buckets there are.
    pub(super) buckets: usize,
}

/// Reads the configuration, or reports everything that is wrong with it.
pub(super) fn read(configuration: Option<&Value>) -> Result<Vec<CheckedLimit>, Vec<Fault>> {
    let configuration: Configuration = match config::given(configuration) {
        Some(value) => config::decode_typed(value, TYPE)?,
        None => Configuration::default(),
    };
    let configured = configuration.limits.unwrap_or_default();
    if configured.is_empty() {
        return Err(vec![Fault::at("limits", "must not be empty")]);
    }
    let mut faults = Vec::new();
    let limits = configured
        .iter()
        .enumerate()
        .filter_map(|(index, Object(limit))| {
            let mut fault = |key: &str, message: String| {
                faults.push(Fault::at(format!("limits[{index}].{key}"), message));
            };
            check(limit, &mut fault)
        });
    let limits: Vec<CheckedLimit> = limits.collect();
    if faults.is_empty() {
        Ok(limits)
    } else {
        Err(faults)
    }
}

fn check(limit: &ConfiguredLimit, fault: &mut dyn FnMut(&str, String)) -> Option<CheckedLimit> {
    let name = limit.kind.as_deref().unwrap_or_default();
    let kind = LimitType::ALL.into_iter().find(|kind| kind.name() == name);
    if kind.is_none() {
        let names = LimitType::ALL.map(LimitType::name);
        fault("type", unsupported(name, &names));
    }
    let mut positive = |key, value: Option<i32>| {
        let value = value.unwrap_or_default();
        let positive = u32::try_from(value).ok().filter(|value| *value > 0);
        if positive.is_none() {
            fault(key, format!("Invalid value: {value}: must be positive"));
        }
        positive
    };
    let burst = positive("burst", limit.burst);
    let qps = positive("qps", limit.qps);
    let buckets = match (kind, limit.cache_size.unwrap_or_default()) {
        (Some(LimitType::Server), _) => Some(1),
        (_, 0) => Some(DEFAULT_CACHE_SIZE),
        (_, size) => {
            let buckets = usize::try_from(size).ok();
            if buckets.is_none() {
                let message = format!("Invalid value: {size}: must not be negative");
                fault("cacheSize", message);
            }
            buckets
        }
    };
    Some(CheckedLimit {
        kind: kind?,
        rate: Rate {
            per_second: qps?,
            burst: burst?,
        },
        buckets: buckets?,
    })
}
