//! The schemas that editors get accept every file that is shipped, and find mistakes in them.

use std::path::{Path, PathBuf};

use portcullis_document::{Source, yaml};
use portcullis_gate::offline;
use regex::Regex;
use serde_json::{Value, json};

/// Keywords that check nothing.
const REMARKS: &[&str] = &[
    "$schema",
    "$defs",
    "title",
    "description",
    "default",
    "examples",
    "format",
];

/// Where a value does not fit a schema. Keywords that are not known here fail the test.
fn misfits(root: &Value, schema: &Value, value: &Value, at: &str) -> Vec<String> {
    let Some(keywords) = schema.as_object() else {
        return match schema {
            Value::Bool(false) => vec![format!("{at}: not allowed")],
            _ => Vec::new(),
        };
    };
    let each = keywords
        .iter()
        .flat_map(|(keyword, wanted)| match keyword.as_str() {
            "$ref" => {
                let pointer = text(wanted).trim_start_matches('#').to_owned();
                misfits(
                    root,
                    root.pointer(&pointer).unwrap_or(&Value::Bool(false)),
                    value,
                    at,
                )
            }
            "items" => {
                let items = list(value).iter().enumerate();
                let each = items.flat_map(|(index, item)| {
                    misfits(root, wanted, item, &format!("{at}[{index}]"))
                });
                each.collect()
            }
            "properties" => {
                let known = wanted.as_object().into_iter().flatten();
                let there = known.filter_map(|(key, schema)| Some((key, schema, value.get(key)?)));
                let each = there.flat_map(|(key, schema, member)| {
                    misfits(root, schema, member, &format!("{at}.{key}"))
                });
                each.collect()
            }
            "additionalProperties" => {
                let known = keywords.get("properties");
                let members = value.as_object().into_iter().flatten();
                let others =
                    members.filter(|(key, _)| known.and_then(|known| known.get(key)).is_none());
                let each = others.flat_map(|(key, member)| {
                    misfits(root, wanted, member, &format!("{at}.{key}"))
                });
                each.collect()
            }
            other => match holds(root, other, wanted, value) {
                true => Vec::new(),
                false => vec![format!("{at}: {other} {wanted}")],
            },
        });
    each.collect()
}

/// Whether a value fits a keyword that looks at it as a whole.
fn holds(root: &Value, keyword: &str, wanted: &Value, value: &Value) -> bool {
    let fits = |schema: &&Value| misfits(root, schema, value, "").is_empty();
    let number = |value: &Value| value.as_f64().unwrap_or_default();
    match keyword {
        "type" => match wanted {
            Value::Array(all) => all.iter().any(|name| is_of(value, text(name))),
            one => is_of(value, text(one)),
        },
        "enum" => list(wanted).contains(value),
        "const" => wanted == value,
        "anyOf" => list(wanted).iter().any(|schema| fits(&schema)),
        "oneOf" => list(wanted).iter().filter(fits).count() == 1,
        "minimum" => !value.is_number() || number(value) >= number(wanted),
        "maximum" => !value.is_number() || number(value) <= number(wanted),
        "minItems" => !value.is_array() || list(value).len() as f64 >= number(wanted),
        "minLength" => !value.is_string() || text(value).chars().count() as f64 >= number(wanted),
        "pattern" => {
            !value.is_string()
                || Regex::new(text(wanted)).is_ok_and(|pattern| pattern.is_match(text(value)))
        }
        "required" => {
            !value.is_object()
                || list(wanted)
                    .iter()
                    .all(|key| value.get(text(key)).is_some())
        }
        other => {
            assert!(REMARKS.contains(&other), "{other} is not checked");
            true
        }
    }
}

fn is_of(value: &Value, name: &str) -> bool {
    match name {
        "null" => value.is_null(),
        "boolean" => value.is_boolean(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        "string" => value.is_string(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        _ => false,
    }
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

/// The files of examples and templates whose path ends so.
fn shipped(ends: &str) -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut folders = ["examples", "crates/portcullis/templates"]
        .map(|folder| root.join(folder))
        .to_vec();
    let mut found = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in folder.read_dir().into_iter().flatten().flatten() {
            match entry.path() {
                path if path.is_dir() => folders.push(path),
                path => found.push(path),
            }
        }
    }
    found.retain(|path| path.to_string_lossy().ends_with(ends));
    found
}

/// Asserts that a file fits a schema.
fn fits(schema: &Value, path: &Path) {
    let text = std::fs::read_to_string(path).unwrap_or_default();
    let document = yaml::parse_map(&Source::text_named("file", text));
    let value = document.map(|document| document.root.value.to_json());
    let wrong = value.map(|value| misfits(schema, schema, &value, ""));
    assert_eq!(wrong, Ok(Vec::new()), "{}", path.display());
}

#[test]
fn every_configuration_that_is_shipped_fits() {
    let schema = portcullis_config::json_schema();
    let all = shipped("/portcullis.yaml");
    assert!(all.len() > 12, "{all:?}");
    all.iter().for_each(|path| fits(&schema, path));
}

#[test]
fn every_test_that_is_shipped_fits() {
    let schema = offline::tests_schema();
    let all = shipped(".test.yaml");
    assert!(all.len() > 2, "{all:?}");
    all.iter().for_each(|path| fits(&schema, path));
}

#[test]
fn mistakes_are_found() {
    let tests = offline::tests_schema();
    let policies = portcullis_config::policies_schema();
    for (schema, value, is_good) in [
        (
            &tests,
            json!({"tests": [{"name": "a", "expect": {"allowed": true}}]}),
            true,
        ),
        (
            &tests,
            json!({"tests": [{"name": "a", "expect": {"allowed": "yes"}}]}),
            false,
        ),
        (
            &tests,
            json!({"tests": [{"name": "a", "expects": {}, "expect": {"allowed": true}}]}),
            false,
        ),
        (&tests, json!({"tests": [{"name": "a"}]}), false),
        (&tests, json!({}), false),
        (
            &policies,
            json!({"policies": [{"name": "a", "code": "return", "match": {"kinds": ["Pod"]}}]}),
            true,
        ),
        (
            &policies,
            json!({"policies": [{"name": "a", "code": "return", "mode": "off"}]}),
            false,
        ),
        (&policies, json!({"policies": [{"name": "a"}]}), false),
        (&policies, json!({"policy": []}), false),
    ] {
        let wrong = misfits(schema, schema, &value, "");
        assert_eq!(wrong.is_empty(), is_good, "{value}: {wrong:?}");
    }
}

#[test]
fn files_of_init_name_their_schemas() {
    for (ends, schema) in [
        ("/portcullis.yaml", "schemas/configuration.json"),
        (".test.yaml", "../schemas/tests.json"),
    ] {
        let templates = shipped(ends)
            .into_iter()
            .filter(|path| path.to_string_lossy().contains("templates"));
        let templates: Vec<PathBuf> = templates.collect();
        assert!(templates.len() >= 2, "{templates:?}");
        for path in templates {
            let text = std::fs::read_to_string(&path).unwrap();
            let wanted = format!("# yaml-language-server: $schema={schema}\n");
            assert!(text.starts_with(&wanted), "{}", path.display());
        }
    }
}
