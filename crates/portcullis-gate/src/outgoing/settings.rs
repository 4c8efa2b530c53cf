//! Reading what the configurations of these plug-ins name.

use std::path::Path;

use portcullis_document::{Fault, path};
use schemars::JsonSchema;
use serde_json::Value;

/// The largest file with certificates or a key.
const LARGEST: u64 = 1 << 20;

/// The schema of a configuration.
pub(super) fn schema<T: JsonSchema>() -> Value {
    schemars::schema_for!(T).to_value()
}

/// The configuration, if there is one.
pub(super) fn given(configuration: Option<&Value>) -> Option<&Value> {
    configuration.filter(|value| !value.is_null())
}

/// The content of a file that is named at this place, if one is.
pub(super) fn content(
    at: &str,
    key: &str,
    file: Option<&Path>,
    faults: &mut Vec<Fault>,
) -> Option<Vec<u8>> {
    let file = file?;
    match portcullis_files::read(file, LARGEST) {
        Ok(content) => Some(content),
        Err(reason) => {
            let message = format!("cannot read `{}`: {reason}", file.display());
            faults.push(Fault::at(path::key(at, key), message));
            None
        }
    }
}
