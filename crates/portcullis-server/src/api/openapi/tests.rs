//! The description of invented calls, one for everything a call can be, and of the real ones.

use std::collections::BTreeSet;
use std::{fs, path::Path};

use portcullis_roles::{Condition, Permission};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{document, parameters};
use crate::api::access::Access;
use crate::api::call::{Answering, Call};
use crate::api::endpoint::{Content, Endpoint, QueryParameter, Success, Tag, Verb, schema_of};
use crate::api::endpoints;
use crate::http::error::HttpError;

/// Looks the same in requests and answers.
#[derive(Serialize, Deserialize, JsonSchema)]
struct Place {
    name: String,
}

/// May be left out in requests, is always there in answers.
#[derive(Serialize, Deserialize, JsonSchema)]
struct Amount {
    #[serde(default)]
    count: u32,
}

/// Differs because something in it does.
#[derive(Serialize, Deserialize, JsonSchema)]
struct Hold {
    place: Place,
    amount: Amount,
}

fn answers_nothing(_: Call<'_>) -> Answering<'_> {
    Box::pin(async { Err(HttpError::internal()) })
}

const NOTHING: Endpoint = Endpoint {
    method: Verb::Get,
    path: "/plain",
    id: "plain",
    summary: "Plain",
    description: "",
    tag: Tag::Description,
    services: &[],
    access: Access::Public("is the same for everyone"),
    query: &[],
    body: None,
    upload: None,
    success: Success::Other {
        description: "Some text.",
        content_type: "text/plain; charset=utf-8",
    },
    refusals: &[],
    run: answers_nothing,
};

const CALLS: &[Endpoint] = &[
    Endpoint {
        id: "decisions",
        path: "/decisions",
        tag: Tag::Decisions,
        description: "All of them.",
        access: Access::Root(Permission::ReadDecisions, &[Condition::Project]),
        query: &[
            QueryParameter {
                name: "limit",
                description: "How many.",
                schema: schema_of::<Option<u16>>,
                example: "20",
            },
            QueryParameter {
                name: "after",
                description: "After which.",
                schema: schema_of::<String>,
                example: "17",
            },
        ],
        refusals: &[(422, "There is nothing before it.")],
        ..NOTHING
    },
    Endpoint {
        id: "decision",
        path: "/decisions/{id}",
        tag: Tag::Decisions,
        access: Access::Root(Permission::ReadDecisions, &[]),
        ..NOTHING
    },
    Endpoint {
        id: "hold",
        method: Verb::Post,
        path: "/tenant/{tenant}/project/{project}/hold",
        tag: Tag::Autoholds,
        access: Access::Tenant(Permission::Autohold, &[Condition::Project, Condition::Job]),
        body: Some(Content {
            schema: schema_of::<Hold>,
            example: r#"{"place": {"name": "here"}, "amount": {}}"#,
        }),
        success: Success::Json {
            description: "What is held.",
            schema: schema_of::<Hold>,
        },
        refusals: &[(404, "There is no such project.")],
        ..NOTHING
    },
    Endpoint {
        id: "release",
        method: Verb::Delete,
        path: "/tenant/{tenant}/hold/{id}",
        tag: Tag::Autoholds,
        access: Access::Tenant(Permission::Autohold, &[]),
        success: Success::Nothing {
            description: "The hold is released.",
        },
        ..NOTHING
    },
    Endpoint {
        id: "held",
        path: "/tenant/{tenant}/hold/{id}",
        tag: Tag::Autoholds,
        access: Access::Tenant(Permission::Read, &[]),
        ..NOTHING
    },
    Endpoint {
        id: "who",
        path: "/who",
        tag: Tag::Tenants,
        access: Access::SignedIn("shows the caller"),
        ..NOTHING
    },
    Endpoint {
        id: "login",
        path: "/login",
        tag: Tag::SignIn,
        success: Success::Redirect {
            description: "Go and sign in.",
        },
        ..NOTHING
    },
    NOTHING,
];

fn at(pointer: &str) -> Value {
    document(CALLS)
        .pointer(pointer)
        .cloned()
        .unwrap_or_default()
}

fn statuses(pointer: &str) -> Vec<String> {
    let responses = at(&format!("{pointer}/responses"));
    responses.as_object().unwrap().keys().cloned().collect()
}

const HOLD: &str = "/paths/~1tenant~1{tenant}~1project~1{project}~1hold/post";
const RELEASE: &str = "/paths/~1tenant~1{tenant}~1hold~1{id}/delete";
const HELD: &str = "/paths/~1tenant~1{tenant}~1hold~1{id}/get";
const DECISIONS: &str = "/paths/~1decisions/get";
const DECISION: &str = "/paths/~1decisions~1{id}/get";
const WHO: &str = "/paths/~1who/get";
const LOGIN: &str = "/paths/~1login/get";
const PLAIN: &str = "/paths/~1plain/get";

#[test]
fn every_call_is_there_with_the_answers_that_follow_from_what_it_is() {
    let body = ["408", "413", "415"];
    let guarded = ["400", "401", "403", "503"];
    let expect = |pointer: &str, others: &[&str]| {
        let mut others: Vec<_> = others.iter().map(ToString::to_string).collect();
        others.sort_unstable();
        assert_eq!(statuses(pointer), others, "{pointer}");
    };
    expect(HOLD, &[&guarded[..], &body, &["200", "404"]].concat());
    expect(RELEASE, &[&guarded[..], &["204", "404"]].concat());
    expect(HELD, &[&guarded[..], &["200", "404"]].concat());
    expect(DECISIONS, &[&guarded[..], &["200", "422"]].concat());
    expect(WHO, &[&guarded[..], &["200"]].concat());
    expect(LOGIN, &["303"]);
    expect(PLAIN, &["200"]);
    assert_eq!(at(PLAIN)["operationId"], "plain");
    assert_eq!(
        at(LOGIN)["responses"]["303"]["headers"]["Location"]["required"],
        true
    );
    assert_eq!(
        at(PLAIN)["responses"]["200"]["content"]["text/plain; charset=utf-8"]["schema"],
        json!({"type": "string"})
    );
}

#[test]
fn a_refusal_of_its_own_comes_before_the_common_words_for_the_same_status() {
    let own = at(&format!("{HOLD}/responses/404/description"));
    let own = own.as_str().unwrap();
    assert!(
        own.starts_with("There is no such project.\n\nNot found."),
        "{own}"
    );
    assert_eq!(
        at(&format!("{RELEASE}/responses/404")),
        json!({"$ref": "#/components/responses/NotFoundInTenant"})
    );
    assert_eq!(
        at(&format!("{DECISION}/responses/404")),
        json!({"$ref": "#/components/responses/NotFound"})
    );
    let own = at(&format!(
        "{DECISIONS}/responses/422/content/application~1json/schema"
    ));
    assert_eq!(own, json!({"$ref": "#/components/schemas/Error"}));
}

#[test]
fn what_a_caller_needs_is_said_to_programs_and_to_people() {
    let either = json!([{"bearer": []}, {"session": []}]);
    assert_eq!(
        at(HOLD)["x-portcullis-permission"],
        json!({"permission": "autohold", "at": "tenant", "conditions": ["project", "job"]})
    );
    assert_eq!(
        at(HOLD)["description"],
        "**Needs the permission `autohold`** in the tenant. Roles may grant it only for some values of \
         `project`, `job`."
    );
    assert_eq!(at(HOLD)["security"], either);
    assert_eq!(
        at(DECISIONS)["x-portcullis-permission"],
        json!({"permission": "read-decisions", "at": "root", "conditions": ["project"]})
    );
    let description = at(DECISIONS)["description"].clone();
    assert!(
        description
            .as_str()
            .unwrap()
            .starts_with("All of them.\n\n**Needs")
    );

    assert_eq!(
        at(HELD)["security"],
        json!([{"bearer": []}, {"session": []}, {}])
    );
    assert_eq!(at(WHO)["security"], either);
    assert_eq!(at(WHO)["x-portcullis-permission"], Value::Null);
    assert_eq!(at(PLAIN)["security"], json!([]));
    assert_eq!(
        at(PLAIN)["description"],
        "**Needs no permission:** it is the same for everyone."
    );
}

#[test]
fn refusals_have_the_shape_of_errors() {
    let schemas = at("/components/schemas");
    assert_eq!(schemas["Error"]["required"], json!(["error", "request_id"]));
    assert_eq!(
        schemas["ErrorReason"]["required"],
        json!(["code", "message"])
    );
    assert_eq!(
        schemas["ForbiddenDetails"]["required"],
        json!(["permission", "conditions", "roles", "rules"])
    );
    assert_eq!(
        schemas["UnmetCondition"]["required"],
        json!(["name", "wanted", "got", "rule", "role"])
    );
    let responses = at("/components/responses");
    let forbidden = &responses["Forbidden"]["content"]["application/json"]["schema"]["allOf"];
    assert_eq!(forbidden[0]["$ref"], "#/components/schemas/Error");
    assert_eq!(
        forbidden[1]["properties"]["error"]["properties"]["details"]["$ref"],
        "#/components/schemas/ForbiddenDetails"
    );
    assert_eq!(
        responses["Unauthorized"]["headers"]["WWW-Authenticate"]["required"],
        true
    );
    assert!(responses["Unavailable"]["headers"]["Retry-After"].is_object());
}

#[test]
fn parameters_of_the_path_are_required_and_those_of_the_query_are_not() {
    let of = |pointer: &str| {
        let parameters = at(&format!("{pointer}/parameters"));
        let parameters = parameters.as_array().cloned().unwrap_or_default();
        let brief = |p: &Value| (p["name"].clone(), p["in"].clone(), p["required"].clone());
        parameters.iter().map(brief).collect::<Vec<_>>()
    };
    let path = |name: &str| (json!(name), json!("path"), json!(true));
    let query = |name: &str| (json!(name), json!("query"), json!(false));
    assert_eq!(of(HOLD), [path("tenant"), path("project")]);
    assert_eq!(of(RELEASE), [path("tenant"), path("id")]);
    assert_eq!(of(DECISIONS), [query("limit"), query("after")]);
    assert_eq!(of(PLAIN), []);

    let limit = at(&format!("{DECISIONS}/parameters/0"));
    assert_eq!(limit["schema"]["type"], "integer");
    assert_eq!(limit["schema"]["examples"], json!([20]));
    let after = at(&format!("{DECISIONS}/parameters/1"));
    assert_eq!(after["schema"]["examples"], json!(["17"]));
}

#[test]
fn what_differs_between_requests_and_answers_is_described_twice() {
    let schemas = at("/components/schemas");
    assert_eq!(schemas["Amount"]["required"], json!(["count"]));
    assert_eq!(schemas["AmountRequest"]["required"], Value::Null);
    assert_eq!(
        schemas["HoldRequest"]["properties"]["amount"]["$ref"],
        "#/components/schemas/AmountRequest"
    );
    assert_eq!(
        schemas["HoldRequest"]["properties"]["place"]["$ref"],
        "#/components/schemas/Place"
    );
    assert_eq!(schemas["PlaceRequest"], Value::Null);
    let body = at(&format!("{HOLD}/requestBody/content/application~1json"));
    assert_eq!(body["schema"]["$ref"], "#/components/schemas/HoldRequest");
    assert_eq!(body["example"]["place"]["name"], "here");
    let answer = at(&format!("{HOLD}/responses/200/content/application~1json"));
    assert_eq!(answer["schema"]["$ref"], "#/components/schemas/Hold");
}

#[test]
fn groups_are_those_in_use_in_their_order() {
    let tags = at("/tags");
    let names: Vec<_> = tags
        .as_array()
        .unwrap()
        .iter()
        .map(|tag| &tag["name"])
        .collect();
    assert_eq!(
        names,
        [
            "Description",
            "Sign-in",
            "Tenants",
            "Autoholds",
            "Decisions"
        ]
    );
    assert_eq!(at(HOLD)["tags"], json!(["Autoholds"]));
}

#[test]
fn every_reference_leads_somewhere_and_every_name_is_one_openapi_takes() {
    fn references<'a>(value: &'a Value, found: &mut BTreeSet<&'a str>) {
        match value {
            Value::Array(items) => items.iter().for_each(|item| references(item, found)),
            Value::Object(members) => {
                found.extend(members.get("$ref").and_then(Value::as_str));
                members
                    .values()
                    .for_each(|member| references(member, found));
            }
            _ => {}
        }
    }
    for document in [document(CALLS), document(endpoints::all())] {
        let mut found = BTreeSet::new();
        references(&document, &mut found);
        for reference in found {
            let pointer = reference.strip_prefix('#').unwrap();
            assert!(document.pointer(pointer).is_some(), "{reference}");
        }
        for name in document["components"]["schemas"]
            .as_object()
            .unwrap()
            .keys()
        {
            let fits = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
            assert!(name.chars().all(fits), "{name}");
        }
    }
}

#[test]
fn the_text_does_not_depend_on_how_maps_are_kept() {
    fn check(value: &Value) {
        match value {
            Value::Array(items) => items.iter().for_each(check),
            Value::Object(members) => {
                assert!(members.keys().is_sorted(), "{:?}", members.keys());
                members.values().for_each(check);
            }
            _ => {}
        }
    }
    check(&document(CALLS));
}

#[test]
fn the_list_can_be_described() {
    let mut ids = BTreeSet::new();
    let mut calls = BTreeSet::new();
    for call in endpoints::all() {
        assert!(ids.insert(call.id), "{} twice", call.id);
        let method = super::method(call.method);
        assert!(
            calls.insert((method, call.path)),
            "{method} {} twice",
            call.path
        );
        assert!(call.path.starts_with('/'), "{}", call.path);
        for name in parameters::names(call.path) {
            assert!(
                ["tenant", "project", "id", "name", "token"].contains(&name),
                "{}: what is {{{name}}}?",
                call.path
            );
        }
        if let Access::Tenant(..) = call.access {
            assert!(
                parameters::names(call.path).any(|name| name == "tenant"),
                "{} names no tenant",
                call.path
            );
        }
        if let Some(body) = &call.body {
            let example = serde_json::from_str::<Value>(body.example);
            assert!(example.is_ok(), "{}: {example:?}", call.id);
        }
    }
}

#[test]
fn the_shipped_schema_of_the_api_is_that_of_the_list() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../schema/openapi.json");
    let current = super::text(endpoints::all());
    if std::env::var_os("UPDATE_SCHEMA").is_some() {
        fs::write(&path, &current).unwrap();
    }
    let shipped = fs::read_to_string(&path).unwrap_or_default();
    assert!(
        shipped == current,
        "{} is stale: run the tests with UPDATE_SCHEMA=1",
        path.display()
    );
}
