//! The API as pages call it: within this process, in the name of the person who looks.
//!
//! A call goes to the same endpoint as one that comes over the network, with the same guard and the same record.

use std::sync::Arc;

use bytes::Bytes;
use hyper::Method;
use hyper::header::{CONTENT_TYPE, HeaderValue};
use hyper::http::request::Parts;
use portcullis_config::Service;
use portcullis_gate::Gate;
use portcullis_roles::{AccessDecision, Condition, Parameters, Permission, Project, Scope};
use portcullis_web::{Backend, Pending, Person, Place, Problem, Verb};
use serde_json::Value;

use crate::api::caller::Caller;
use crate::api::endpoints::{Found, find};
use crate::api::guard::{Territory, holders};
use crate::api::refusal::sentence;
use crate::http::Response;
use crate::http::answer::Answer;
use crate::http::error::HttpError;
use crate::visitor::Visitor;

/// What pages may call, wherever they are served themselves.
const SERVED: &[Service] = &[Service::Api, Service::Ci];

/// The API, for one person.
#[derive(Debug)]
pub(super) struct InProcess<'v> {
    visitor: &'v Visitor,
    gate: &'v Arc<Gate>,
    caller: Caller,
    person: Person,
}

impl<'v> InProcess<'v> {
    /// For someone whose forms were checked already.
    pub(super) fn new(visitor: &'v Visitor, gate: &'v Arc<Gate>, caller: Caller) -> Self {
        let name = caller.identity().map(|who| who.uid.clone());
        let csrf = match (&caller, &gate.access.sessions) {
            (Caller::SignedIn(session), Some(sessions)) => Some(sessions.csrf(session)),
            _ => None,
        };
        Self {
            visitor,
            gate,
            person: Person {
                name: name.unwrap_or_default(),
                can_sign_out: csrf.is_some(),
                csrf: csrf.unwrap_or_default(),
            },
            caller,
        }
    }

    /// The request as a program would send it.
    fn head(&self, method: Method, path: &str) -> Result<Parts, HttpError> {
        let mut request = hyper::Request::builder().method(method).uri(path);
        request = request.header(CONTENT_TYPE, "application/json");
        if self.person.can_sign_out {
            request = request.header("x-csrf-token", &self.person.csrf);
        }
        let request = request.body(()).map_err(|_| HttpError::internal())?;
        Ok(request.into_parts().0)
    }

    async fn ask(
        &self,
        verb: Verb,
        path: &str,
        body: Option<Value>,
    ) -> Result<Response, HttpError> {
        let method = match verb {
            Verb::Get => Method::GET,
            Verb::Post => Method::POST,
            Verb::Put => Method::PUT,
            Verb::Patch => Method::PATCH,
            Verb::Delete => Method::DELETE,
        };
        let bare = path.split('?').next().unwrap_or_default();
        let Found::Endpoint(endpoint, values) = find(&method, bare, SERVED) else {
            return Err(HttpError::not_found("no such path"));
        };
        let head = self.head(method, path)?;
        let given = body.map(|body| Bytes::from(body.to_string()));
        let caller = self.caller.clone();
        let request = (&head, &mut None, Some(given.unwrap_or_default()));
        endpoint
            .run_for(self.visitor, self.gate, caller, request, values)
            .await
    }

    /// Who decides there, each with the project as it knows it.
    fn scopes(&self, place: Place<'_>) -> Vec<(&'v Scope, Option<Project>)> {
        let roles = &self.gate.access.roles;
        let territory = match place {
            Place::Root => return vec![(roles.root(), None)],
            Place::Anywhere => {
                let tenants = roles.tenants().map(portcullis_roles::Tenant::scope);
                let all = std::iter::once(roles.root()).chain(tenants);
                return all.map(|scope| (scope, None)).collect();
            }
            Place::Tenant(name) => {
                let tenant = roles.tenant(name).map(portcullis_roles::Tenant::scope);
                return tenant.into_iter().map(|scope| (scope, None)).collect();
            }
            Place::Project(path) | Place::Job { project: path, .. } => Territory::Project(path),
            Place::Group(path) => Territory::Group(path),
        };
        holders(roles, territory)
    }

    /// What one of them says.
    fn check(
        &self,
        (scope, project): (&Scope, Option<&Project>),
        permission: Permission,
        place: Place<'_>,
    ) -> AccessDecision {
        let who = self.caller.identity();
        let (Place::Job { git_ref, name, .. }, Some(project)) = (place, project) else {
            return scope.check_ever(who, permission);
        };
        let parameters = Parameters::new()
            .with_project(project)
            .with(Condition::Ref, Some(git_ref))
            .with(Condition::Job, Some(name));
        scope.check(who, permission, &parameters)
    }
}

impl Backend for InProcess<'_> {
    fn person(&self) -> &Person {
        &self.person
    }

    fn call<'a>(
        &'a self,
        verb: Verb,
        path: &'a str,
        body: Option<Value>,
    ) -> Pending<'a, Result<Value, Problem>> {
        Box::pin(async move {
            let answer = self.ask(verb, path, body).await;
            let response = answer.map_err(|error| Problem {
                status: error.status().as_u16(),
                message: error.message().to_owned(),
            })?;
            read(response)
        })
    }

    fn has_playground(&self) -> bool {
        self.gate.web.playground
    }

    fn refusal(&self, permission: &str, place: Place<'_>) -> Option<String> {
        let Some(permission) = Permission::parse(permission) else {
            return Some(format!("unknown permission {permission}"));
        };
        let mut reason = None;
        for (scope, project) in self.scopes(place) {
            match self.check((scope, project.as_ref()), permission, place) {
                AccessDecision::Allowed(_) => return None,
                AccessDecision::Refused(refusal) => {
                    reason.get_or_insert_with(|| sentence(&refusal));
                }
            }
        }
        let unknown = || format!("no role permits {}", permission.name());
        Some(reason.unwrap_or_else(unknown))
    }
}

/// What an answer says.
fn read(mut response: Response) -> Result<Value, Problem> {
    let content_type = response.headers().get(CONTENT_TYPE);
    let content_type = content_type.map_or(&[][..], HeaderValue::as_bytes);
    let is_text = [&b"text/plain"[..], b"application/yaml"]
        .iter()
        .any(|text| content_type.starts_with(text));
    let Answer::Whole(content) = response.body_mut() else {
        return Err(Problem::internal());
    };
    let bytes = content.as_ref();
    if bytes.is_empty() {
        return Ok(Value::Null);
    }
    // Some answers are plain text, like traces, also if they look like JSON.
    let text = || Value::String(String::from_utf8_lossy(bytes).into_owned());
    let value = match is_text {
        true => text(),
        false => serde_json::from_slice(bytes).unwrap_or_else(|_| text()),
    };
    let status = response.status();
    match status.is_client_error() || status.is_server_error() {
        false => Ok(value),
        true => Err(Problem {
            status: status.as_u16(),
            message: message_of(&value),
        }),
    }
}

fn message_of(value: &Value) -> String {
    let message = value.pointer("/error/message").and_then(Value::as_str);
    message.unwrap_or("the request failed").to_owned()
}
