//! The JSON Schemas of the configuration file and of lists of policies, made from the types that read them.
//!
//! `schema/portcullis.schema.json` and `schema/policies.schema.json` at the top of the repository are these texts.

use schemars::generate::SchemaSettings;

use super::model::Configuration;
use super::resolve::PolicyFile;

/// The schema of a configuration, draft 2020-12.
pub fn json_schema() -> serde_json::Value {
    SchemaSettings::draft2020_12()
        .into_generator()
        .into_root_schema_for::<Configuration>()
        .to_value()
}

/// The schema of a list of policies in a folder of policies, draft 2020-12.
pub fn policies_schema() -> serde_json::Value {
    SchemaSettings::draft2020_12()
        .into_generator()
        .into_root_schema_for::<PolicyFile>()
        .to_value()
}

#[cfg(test)]
mod tests {
    use std::{fs, path::Path};

    #[test]
    fn the_shipped_schemas_are_those_of_the_types() {
        is_shipped("portcullis.schema.json", &super::json_schema());
        is_shipped("policies.schema.json", &super::policies_schema());
    }

    fn is_shipped(name: &str, current: &serde_json::Value) {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../schema");
        let path = folder.join(name);
        if std::env::var_os("UPDATE_SCHEMA").is_some() {
            fs::write(&path, format!("{current:#}\n")).unwrap();
        }
        // The order of keys depends on what else is built, so values are compared.
        let shipped = fs::read(&path).unwrap_or_default();
        let shipped: Option<serde_json::Value> = serde_json::from_slice(&shipped).ok();
        assert!(
            shipped.as_ref() == Some(current),
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
        walk(&super::policies_schema(), "policies");
    }
}
