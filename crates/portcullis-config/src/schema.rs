//! The JSON Schema of the configuration file, made from the types of `model`.
//!
//! `schema/portcullis.schema.json` at the top of the repository is this text.

use schemars::generate::SchemaSettings;

use super::model::Configuration;

/// The schema, draft 2020-12.
pub fn json_schema() -> serde_json::Value {
    SchemaSettings::draft2020_12()
        .into_generator()
        .into_root_schema_for::<Configuration>()
        .to_value()
}

#[cfg(test)]
mod tests {
    use std::{fs, path::Path};

    #[test]
    fn the_shipped_schema_is_the_schema_of_the_types() {
        let path =
            Path::new(env!("CARGO_MANIFEST_DIR")).join("../../schema/portcullis.schema.json");
        let current = super::json_schema();
        if std::env::var_os("UPDATE_SCHEMA").is_some() {
            fs::write(&path, format!("{current:#}\n")).unwrap();
        }
        // The order of keys depends on what else is built, so values are compared.
        let shipped = fs::read(&path).unwrap_or_default();
        let shipped: Option<serde_json::Value> = serde_json::from_slice(&shipped).ok();
        assert!(
            shipped == Some(current),
            "{} is stale: run the tests with UPDATE_SCHEMA=1",
            path.display()
        );
    }

    #[test]
    fn every_key_has_a_description() {
        fn walk(value: &serde_json::Value, path: &str) {
            if let Some(properties) = value.get("properties").and_then(|found| found.as_object()) {
                for (key, property) in properties {
                    assert!(
                        property.get("description").is_some(),
                        "{path}.{key} has no description"
                    );
                }
            }
            if let Some(definitions) = value.get("$defs").and_then(|found| found.as_object()) {
                for (name, definition) in definitions {
                    walk(definition, name);
                }
            }
        }
        walk(&super::json_schema(), "configuration");
    }
}
