//! JSON Schemas of what can't be derived: words, times, and values that may be written in several ways.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};

use crate::admission::{AdmissionState, DecisionVerdict};
use crate::allow_failure::AllowFailure;
use crate::controller::{
    ControllerBody, ControllerDefinition, ControllerKind, ControllerLevel, ControllerState,
    FailurePolicy,
};
use crate::delivery::BreakerState;
use crate::failure::FailureReason;
use crate::prerequisites::PrerequisiteState;
use crate::runners::Requirement;
use crate::status::{JobStatus, PipelineStatus};
use crate::submission::Script;
use crate::timestamp::Timestamp;
use crate::variables::Variable;
use crate::verdict::AdmissionWord;

macro_rules! words {
    ($($name:ident),* $(,)?) => {$(
        impl JsonSchema for $name {
            fn schema_name() -> Cow<'static, str> {
                stringify!($name).into()
            }

            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                json_schema!({"type": "string", "enum": Self::ALL.map(Self::as_str)})
            }
        }
    )*};
}

words! {
    AdmissionState, AdmissionWord, BreakerState, ControllerKind, ControllerLevel, ControllerState,
    DecisionVerdict, FailurePolicy, FailureReason, JobStatus, PipelineStatus, PrerequisiteState,
    Requirement,
}

impl JsonSchema for Timestamp {
    fn schema_name() -> Cow<'static, str> {
        "Timestamp".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"type": "string", "format": "date-time"})
    }
}

impl JsonSchema for Variable {
    fn schema_name() -> Cow<'static, str> {
        "Variable".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let value = json_schema!({"type": ["string", "number", "boolean"]});
        json_schema!({
            "description": "The value, or a map with it.",
            "anyOf": [
                value,
                {
                    "type": "object",
                    "properties": {
                        "value": value,
                        "masked": {"type": "boolean"},
                        "file": {"type": "boolean"},
                        "protected": {"type": "boolean"},
                    },
                    "required": ["value"],
                    "additionalProperties": false,
                },
            ],
        })
    }
}

impl JsonSchema for AllowFailure {
    fn schema_name() -> Cow<'static, str> {
        "AllowFailure".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let code = json_schema!({"type": "integer", "format": "int32"});
        json_schema!({
            "description": "Whether failures are allowed, or which ones.",
            "anyOf": [
                {"type": "boolean"},
                {
                    "type": "object",
                    "properties": {
                        "exit_codes": {"anyOf": [code, {"type": "array", "items": code}]},
                        "on_denied_admission": {"type": "boolean"},
                    },
                    "additionalProperties": false,
                },
            ],
        })
    }
}

impl JsonSchema for Script {
    fn schema_name() -> Cow<'static, str> {
        "Script".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "One command, or a list of them.",
            "anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}],
        })
    }
}

/// The JSON of a definition is that of the body it is read from.
impl JsonSchema for ControllerDefinition {
    fn schema_name() -> Cow<'static, str> {
        ControllerBody::schema_name()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        ControllerBody::json_schema(generator)
    }
}
