//! One call.

use serde_json::{Map, Value, json};

use super::schemas::Schemas;
use super::{access, parameters, refusals, tags};
use crate::api::endpoint::{Content, Endpoint, Success};

/// All there is to say about a call.
pub(super) fn describe(endpoint: &Endpoint, schemas: &mut Schemas) -> Value {
    let mut operation = Map::new();
    let mut add = |key: &str, value: Value| operation.insert(key.to_owned(), value);
    add("operationId", endpoint.id.into());
    add("summary", endpoint.summary.into());
    add("description", description(endpoint).into());
    add("tags", json!([tags::name(endpoint.tag)]));
    add("security", access::security(endpoint.access));
    if let Some(permission) = access::permission(endpoint.access) {
        add("x-portcullis-permission", permission);
    }
    let parameters = parameters::describe(endpoint, schemas);
    if !parameters.is_empty() {
        add("parameters", parameters.into());
    }
    if let Some(body) = &endpoint.body {
        add("requestBody", request_body(body, schemas));
    }
    if let Some(media_type) = endpoint.upload {
        let content = json!({media_type: {"schema": upload(media_type)}});
        add("requestBody", json!({"required": true, "content": content}));
    }
    add("responses", responses(endpoint, schemas));
    operation.into()
}

fn description(endpoint: &Endpoint) -> String {
    let needs = access::in_words(endpoint.access);
    match endpoint.description {
        "" => needs,
        own => format!("{own}\n\n{needs}"),
    }
}

fn request_body(body: &Content, schemas: &mut Schemas) -> Value {
    let mut content = json!({"schema": schemas.taken(body.schema)});
    let example = serde_json::from_str(body.example).ok();
    if let (Some(example), Some(members)) = (example, content.as_object_mut()) {
        members.insert("example".to_owned(), example);
    }
    json!({"required": true, "content": {"application/json": content}})
}

/// The schema of a body that is not JSON.
fn upload(media_type: &str) -> Value {
    let bytes = json!({"type": "string", "format": "binary"});
    match media_type {
        "multipart/form-data" => json!({
            "type": "object",
            "properties": {
                "file": bytes,
                "artifact_type": {"type": "string"},
                "artifact_format": {"type": "string"},
                "expire_in": {"type": "string"},
            },
            "required": ["file"],
        }),
        _ => bytes,
    }
}

fn responses(endpoint: &Endpoint, schemas: &mut Schemas) -> Value {
    let (status, success) = match &endpoint.success {
        Success::Json {
            description,
            schema,
        } => {
            let content = json!({"application/json": {"schema": schemas.given(*schema)}});
            (200, json!({"description": description, "content": content}))
        }
        Success::Created {
            description,
            schema,
        } => {
            let content = json!({"application/json": {"schema": schemas.given(*schema)}});
            (201, json!({"description": description, "content": content}))
        }
        Success::CreatedOrNothing {
            description,
            schema,
            ..
        } => {
            let content = json!({"application/json": {"schema": schemas.given(*schema)}});
            (201, json!({"description": description, "content": content}))
        }
        Success::Accepted { description } => (202, json!({"description": description})),
        Success::Other {
            description,
            content_type,
        } => {
            let content = json!({(*content_type): {"schema": {"type": "string"}}});
            (200, json!({"description": description, "content": content}))
        }
        Success::Nothing { description } => (204, json!({"description": description})),
        Success::Redirect { description } => {
            let location = json!({
                "description": "The redirect target.",
                "required": true,
                "schema": {"type": "string", "format": "uri-reference"},
            });
            (
                303,
                json!({"description": description, "headers": {"Location": location}}),
            )
        }
    };
    let mut responses = refusals::describe(endpoint, schemas);
    responses.insert(status.to_string(), success);
    if let Success::CreatedOrNothing { nothing, .. } = &endpoint.success {
        responses.insert("204".to_owned(), json!({"description": nothing}));
    }
    responses.into()
}
