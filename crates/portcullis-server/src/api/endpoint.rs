//! The definition of one call: its path, what it needs, what it takes and what it answers.

use std::sync::Arc;

use bytes::Bytes;
use hyper::Method;
use hyper::body::Incoming;
use hyper::http::request::Parts;
use portcullis_config::Service;
use portcullis_gate::Gate;
use schemars::{Schema, SchemaGenerator};

use super::access::Access;
use super::audit::Audit;
use super::call::{Call, Handler};
use super::caller::Caller;
use super::path::PathValues;
use super::people;
use crate::http::error::HttpError;
use crate::http::{Response, browser};
use crate::visitor::Visitor;

/// One call of the API.
#[derive(Debug)]
pub(crate) struct Endpoint {
    /// The method.
    pub(crate) method: Verb,
    /// The path, with `{name}` for what varies; `{project}` may span several segments.
    pub(crate) path: &'static str,
    /// Its name, once only.
    pub(crate) id: &'static str,
    /// What it is for, a line.
    pub(crate) summary: &'static str,
    /// What else there is to say, in Markdown.
    pub(crate) description: &'static str,
    /// What it belongs to.
    pub(crate) tag: Tag,
    /// It is answered at listeners that serve one of these.
    pub(crate) services: &'static [Service],
    /// What the caller needs.
    pub(crate) access: Access,
    /// What the query may say.
    pub(crate) query: &'static [QueryParameter],
    /// The body it takes, JSON.
    pub(crate) body: Option<Content>,
    /// The media type of the body it takes, if that is not JSON.
    pub(crate) upload: Option<&'static str>,
    /// What it answers when all is well.
    pub(crate) success: Success,
    /// Errors of its own, besides those that follow from the rest.
    pub(crate) refusals: &'static [(u16, &'static str)],
    /// What answers.
    pub(crate) run: Handler,
}

/// The methods in use. `HEAD` is taken where `GET` is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verb {
    Get,
    Post,
    Put,
    Patch,
    Delete,
}

/// What calls belong to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tag {
    Description,
    SignIn,
    Tenants,
    Autoholds,
    Pipelines,
    Jobs,
    Controllers,
    Exemptions,
    Runners,
    Decisions,
    Graph,
}

/// Something the query may say.
#[derive(Debug)]
pub(crate) struct QueryParameter {
    pub(crate) name: &'static str,
    pub(crate) description: &'static str,
    pub(crate) schema: SchemaOf,
    pub(crate) example: &'static str,
}

/// The schema of a type: `schema_of::<T>`.
pub(crate) type SchemaOf = fn(&mut SchemaGenerator) -> Schema;

/// The schema of a type.
pub(crate) fn schema_of<T: schemars::JsonSchema>(generator: &mut SchemaGenerator) -> Schema {
    generator.subschema_for::<T>()
}

/// A JSON body.
#[derive(Debug)]
pub(crate) struct Content {
    pub(crate) schema: SchemaOf,
    /// JSON text.
    pub(crate) example: &'static str,
}

/// What is answered when all is well.
#[derive(Debug)]
pub(crate) enum Success {
    /// 200 and JSON.
    Json {
        description: &'static str,
        schema: SchemaOf,
    },
    /// 200 and something else than JSON.
    Other {
        description: &'static str,
        content_type: &'static str,
    },
    /// 201 and JSON: what was created.
    Created {
        description: &'static str,
        schema: SchemaOf,
    },
    /// 201 and JSON, or 204 if there is nothing.
    CreatedOrNothing {
        description: &'static str,
        schema: SchemaOf,
        nothing: &'static str,
    },
    /// 202 and nothing.
    Accepted { description: &'static str },
    /// 204 and nothing.
    Nothing { description: &'static str },
    /// 303 to somewhere else.
    Redirect { description: &'static str },
}

/// What has calls of the API.
const API: &[Service] = &[Service::Api];

/// What has calls of the API for CI jobs.
const API_AND_CI: &[Service] = &[Service::Api, Service::Ci];

/// What has web pages.
const WEB: &[Service] = &[Service::Web];

/// What has calls of the API, and what has web pages.
const API_AND_WEB: &[Service] = &[Service::Api, Service::Web];

impl Endpoint {
    /// The same, served beside web pages too: descriptions, signing in, pages.
    pub(crate) const fn with_web(self) -> Self {
        Self {
            services: API_AND_WEB,
            ..self
        }
    }

    /// The same, served beside web pages only.
    pub(crate) const fn only_web(self) -> Self {
        Self {
            services: WEB,
            ..self
        }
    }

    /// The same, served at listeners for CI too.
    pub(crate) const fn with_ci(self) -> Self {
        Self {
            services: API_AND_CI,
            ..self
        }
    }

    /// Finds out who asks, and lets the handler answer.
    pub(crate) async fn answer(
        &self,
        visitor: &Visitor,
        gate: &Arc<Gate>,
        head: &Parts,
        body: &mut Option<Incoming>,
        values: PathValues,
    ) -> Result<Response, HttpError> {
        let is_strict = visitor.setup.load().is_strict;
        let caller = Caller::of(visitor, &gate.access, head).await;
        let request = (head, body, None);
        let answer = self.run_for(visitor, gate, caller, request, values).await;
        let mut answer = answer.map_err(HttpError::in_status_line)?;
        browser::protect(&mut answer, is_strict);
        Ok(answer)
    }

    /// Lets the handler answer this caller: a request that came in, or one that was made within this process and has
    /// its body with it.
    pub(super) async fn run_for(
        &self,
        visitor: &Visitor,
        gate: &Arc<Gate>,
        caller: Caller,
        (head, body, given): (&Parts, &mut Option<Incoming>, Option<Bytes>),
        values: PathValues,
    ) -> Result<Response, HttpError> {
        let audit = Audit::begin(visitor, gate, head, self.id);
        let call = Call {
            visitor,
            gate,
            head,
            body,
            given,
            access: self.access,
            values,
            caller,
            audit: &audit,
        };
        let answer = (self.run)(call).await;
        let answer = match self.is_for_people() {
            true => people::shown(&gate.access, head, answer),
            false => answer,
        };
        let status = match &answer {
            Ok(response) => response.status(),
            Err(error) => error.status(),
        };
        visitor.server.metrics.call(self.id, status.as_u16());
        audit.keep_after(status.as_u16());
        answer
    }

    /// Whether people open it in a browser: errors are shown in a page.
    pub(crate) fn is_for_people(&self) -> bool {
        match &self.success {
            Success::Other { content_type, .. } => content_type.starts_with("text/html"),
            Success::Redirect { .. } => true,
            Success::Json { .. }
            | Success::Created { .. }
            | Success::CreatedOrNothing { .. }
            | Success::Accepted { .. }
            | Success::Nothing { .. } => false,
        }
    }
}

impl Verb {
    /// Whether a request with this method is meant.
    pub(crate) fn takes(self, method: &Method) -> bool {
        match self {
            Self::Get => method == Method::GET || method == Method::HEAD,
            Self::Post => method == Method::POST,
            Self::Put => method == Method::PUT,
            Self::Patch => method == Method::PATCH,
            Self::Delete => method == Method::DELETE,
        }
    }
}

/// A call that takes no body and has no errors of its own.
pub(crate) const fn get(
    (path, id): (&'static str, &'static str),
    tag: Tag,
    access: Access,
    (summary, description): (&'static str, &'static str),
    success: Success,
    run: Handler,
) -> Endpoint {
    Endpoint {
        method: Verb::Get,
        path,
        id,
        summary,
        description,
        tag,
        services: API,
        access,
        query: &[],
        body: None,
        upload: None,
        success,
        refusals: &[],
        run,
    }
}

/// A call that takes a body and says `true`.
pub(crate) const fn post(
    (path, id): (&'static str, &'static str),
    tag: Tag,
    access: Access,
    (summary, description): (&'static str, &'static str),
    body: Content,
    refusals: &'static [(u16, &'static str)],
    run: Handler,
) -> Endpoint {
    Endpoint {
        method: Verb::Post,
        path,
        id,
        summary,
        description,
        tag,
        services: API,
        access,
        query: &[],
        body: Some(body),
        upload: None,
        success: Success::Json {
            description: "Done.",
            schema: schema_of::<bool>,
        },
        refusals,
        run,
    }
}

/// A parameter of a query that is text.
pub(crate) const fn text(
    name: &'static str,
    description: &'static str,
    example: &'static str,
) -> QueryParameter {
    QueryParameter {
        name,
        description,
        schema: schema_of::<String>,
        example,
    }
}
