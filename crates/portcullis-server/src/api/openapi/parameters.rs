//! The parameters in the path and the query of a call.

use serde_json::{Value, json};

use super::schemas::Schemas;
use crate::api::endpoint::{Endpoint, QueryParameter};

/// All parameters of a call, those of the path first.
pub(super) fn describe(endpoint: &Endpoint, schemas: &mut Schemas) -> Vec<Value> {
    let path = names(endpoint.path).map(in_path);
    let query = endpoint
        .query
        .iter()
        .map(|parameter| in_query(parameter, schemas));
    path.chain(query).collect()
}

/// The names in a path, in their order.
pub(super) fn names(path: &str) -> impl Iterator<Item = &str> {
    path.split('{')
        .skip(1)
        .filter_map(|rest| rest.split_once('}'))
        .map(|(name, _)| name)
}

fn in_path(name: &str) -> Value {
    let (description, example) = match name {
        "tenant" => ("The name of the tenant.", "example"),
        "project" => (
            "The project: its name, or its canonical name with the host in front. It may contain slashes, written \
             plainly or as `%2F`.",
            "org/project",
        ),
        "name" => ("The name, as shown in lists.", "pin-versions"),
        "id" => ("The id, as shown in lists.", "1"),
        "token" => (
            "The token of the delivery, at the end of its `callback_url`.",
            "0123456789abcdef",
        ),
        _ => ("", ""),
    };
    let mut parameter = json!({
        "name": name,
        "in": "path",
        "required": true,
        "schema": {"type": "string", "minLength": 1},
    });
    add_text(&mut parameter, "description", description);
    add_text(&mut parameter, "example", example);
    parameter
}

fn in_query(parameter: &QueryParameter, schemas: &mut Schemas) -> Value {
    let mut schema = schemas.taken(parameter.schema);
    without_null(&mut schema);
    let example = example(parameter.example, schemas.resolve(&schema));
    // Not an example of the parameter: viewers would fill that in, and so filter without being asked.
    if let (Some(example), Some(members)) = (example, schema.as_object_mut()) {
        members.insert("examples".to_owned(), json!([example]));
    }
    json!({
        "name": parameter.name,
        "in": "query",
        "required": false,
        "description": parameter.description,
        "schema": schema,
    })
}

fn add_text(parameter: &mut Value, key: &str, text: &str) {
    if let Some(members) = parameter.as_object_mut().filter(|_| !text.is_empty()) {
        members.insert(key.to_owned(), text.into());
    }
}

/// A query leaves out what is not there: it can't say `null`.
fn without_null(schema: &mut Value) {
    let Some(Value::Array(types)) = schema.get_mut("type") else {
        return;
    };
    types.retain(|kind| kind != "null");
    if let ([only], Some(slot)) = (types.clone().as_slice(), schema.get_mut("type")) {
        *slot = only.clone();
    }
}

/// The example as the schema wants it: a text, unless it has another type.
fn example(text: &str, schema: &Value) -> Option<Value> {
    if text.is_empty() {
        return None;
    }
    let other = match schema.get("type").and_then(Value::as_str) {
        Some("integer" | "number" | "boolean" | "array") => serde_json::from_str(text).ok(),
        _ => None,
    };
    Some(other.unwrap_or_else(|| text.into()))
}
