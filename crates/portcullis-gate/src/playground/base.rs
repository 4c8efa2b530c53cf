//! A configuration with nothing in it but policies.

use portcullis_config::{self as config, ConfigSource, Listening, LoadOptions, Loaded};
use portcullis_document::Faults;

use crate::registry::registry;

/// Only policies judge; what they have no opinion of is allowed.
const TEXT: &str = "{admission: {order: [Policies]}, defaultAction: allow}";

/// Loads it. No file is read.
pub(super) fn load() -> Result<Loaded, Faults> {
    let registry = registry();
    config::load(&LoadOptions {
        source: ConfigSource::BuiltIn(TEXT),
        admission_control: None,
        admission_control_config_file: None,
        known_plugins: &registry.names(),
        listeners: Listening::Ignored,
        objects: None,
        coverage: false,
        env: &|_| None,
    })
}
