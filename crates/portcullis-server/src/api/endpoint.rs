//! What one call is: its path, what it needs, what it takes and what it answers.

use hyper::Method;
use portcullis_roles::{Condition, Permission};
use schemars::{Schema, SchemaGenerator};

use super::call::Handler;
use super::guard::Action;
use portcullis_config::Service;

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
    /// What the caller needs.
    pub(crate) access: Access,
    /// What the query may say.
    pub(crate) query: &'static [QueryParameter],
    /// The body it takes, JSON.
    pub(crate) body: Option<Content>,
    /// What it answers when all is well.
    pub(crate) success: Success,
    /// Refusals of its own, besides those that follow from the rest.
    pub(crate) refusals: &'static [(u16, &'static str)],
    /// What answers.
    pub(crate) run: Handler,
}

/// The methods in use. `HEAD` is taken where `GET` is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verb {
    Get,
    Post,
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
    Decisions,
    Graph,
}

/// What a caller needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Access {
    /// Nothing: says why.
    Public(&'static str),
    /// To be somebody; what is answered depends on who it is.
    SignedIn(&'static str),
    /// A permission in the tenant that the path names.
    Tenant(Permission, &'static [Condition]),
    /// A permission at the root of the API.
    Root(Permission, &'static [Condition]),
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
    /// 204 and nothing.
    Nothing { description: &'static str },
    /// 303 to somewhere else.
    Redirect { description: &'static str },
}

impl Endpoint {
    /// Where it is served: descriptions, signing in and pages also beside web pages.
    pub(crate) fn services(&self) -> &'static [Service] {
        match self.tag {
            _ if self.path.starts_with("/api/") => &[Service::Api],
            Tag::Description | Tag::SignIn => &[Service::Api, Service::Web],
            Tag::Graph => &[Service::Api, Service::Web],
            Tag::Tenants | Tag::Autoholds | Tag::Pipelines | Tag::Decisions => &[Service::Api],
        }
    }
}

impl Endpoint {
    /// Whether people open it in a browser: what is wrong is told them in a page.
    pub(crate) fn is_for_people(&self) -> bool {
        match &self.success {
            Success::Other { content_type, .. } => content_type.starts_with("text/html"),
            Success::Redirect { .. } => true,
            Success::Json { .. } | Success::Nothing { .. } => false,
        }
    }
}

impl Verb {
    /// Whether a request with this method is meant.
    pub(crate) fn takes(self, method: &Method) -> bool {
        match self {
            Self::Get => method == Method::GET || method == Method::HEAD,
            Self::Post => method == Method::POST,
            Self::Delete => method == Method::DELETE,
        }
    }
}

/// Says what there is.
pub(crate) const DESCRIBES: Access = Access::Public("lists what exists, not its contents");

/// What an action in a tenant needs.
pub(crate) const fn in_tenant<A: Action>() -> Access {
    Access::Tenant(A::PERMISSION, A::CONDITIONS)
}

/// What an action on the whole instance needs.
pub(crate) const fn at_root<A: Action>() -> Access {
    Access::Root(A::PERMISSION, A::CONDITIONS)
}

/// A call that takes no body and has nothing of its own to refuse.
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
        access,
        query: &[],
        body: None,
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
        access,
        query: &[],
        body: Some(body),
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
