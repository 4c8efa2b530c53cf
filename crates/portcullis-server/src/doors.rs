//! Which doors there are, and which of them a request is for.
//!
//! INVARIANT: every door is in [`DOORS`], and what its listeners don't serve it doesn't find. A path that a
//! listener doesn't serve is as unknown as one that doesn't exist.
//!
//! To add a door:
//!
//! - `crates/portcullis-core/src/attributes.rs`: its name, in `Door`;
//! - `crates/portcullis-record/src/shape.rs`: what is kept of its requests, and where secrets are in them;
//! - `crates/portcullis-server/src/doors/`: its module, a [`Door`] that is one file;
//! - `crates/portcullis-server/src/doors.rs`: a line in [`DOORS`], a [`Route`] and how that is answered.
//!
//! A door whose wire is calls of the REST API is a module of `api`, beside `audit`, and is found by [`call`].
//! One that counts something of its own has a file in `metrics`, too.

mod admission;
mod authorization;
mod reviews;

use std::sync::Arc;

use hyper::Method;
use hyper::body::Incoming;
use hyper::http::request::Parts;
use portcullis_config::Service;
use portcullis_gate::Gate;

use crate::api::{self, Api, Endpoint, PathValues};
use crate::door::Door;
use crate::http::Response;
use crate::http::error::HttpError;
use crate::job_door::Ci;
use crate::visitor::Visitor;
use admission::Admission;
use authorization::Authorization;
use reviews::Reviewing;

/// Every door, in the order in which they are asked whether a request is theirs.
const DOORS: &[Entrance] = &[
    Entrance::of::<Admission>(admission::find),
    Entrance::of::<Authorization<'_>>(authorization::find),
    Entrance::of::<Ci>(job_call),
    Entrance::of::<Api>(call),
];

/// What a request is for at a door.
#[derive(Debug)]
pub(crate) enum Route<'a> {
    /// An admission review.
    Admission(Admission),
    /// An access review, for the chain of this name.
    Authorization(&'a str),
    /// A call of the API.
    Call(&'static Endpoint, PathValues),
    /// A web page, or a form of one.
    Page(portcullis_web::Page),
    /// A file that belongs to web pages.
    Asset(&'static portcullis_web::Asset),
}

/// A door, as far as finding it goes.
struct Entrance {
    #[cfg_attr(
        not(test),
        expect(dead_code, reason = "tests compare it with the words")
    )]
    name: portcullis_core::Door,
    services: &'static [Service],
    find: for<'a> fn(&Lookup<'a>, &[Service]) -> Found<'a>,
}

impl Entrance {
    const fn of<D: Door>(find: for<'a> fn(&Lookup<'a>, &[Service]) -> Found<'a>) -> Self {
        Self {
            name: D::NAME,
            services: D::SERVICES,
            find,
        }
    }
}

/// What a request is for, before its caller is known.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Lookup<'a> {
    /// The method.
    pub(crate) method: &'a Method,
    /// The path.
    pub(crate) path: &'a str,
    /// Whether every path is that of an admission review here.
    pub(crate) is_acjs: bool,
    /// Whether the first page is meant, and not the call at its path.
    pub(crate) wants_page: bool,
}

/// Whose it is.
#[derive(Debug)]
pub(crate) enum Found<'a> {
    /// This.
    Route(Route<'a>),
    /// A path with other methods: these.
    WrongMethod(&'static str),
    /// Nothing here.
    Nothing,
}

impl<'a> Lookup<'a> {
    /// The first part of the path, and what is behind it.
    fn parts(&self) -> Option<(&'a str, Option<&'a str>)> {
        let path = self.path.strip_prefix('/')?;
        Some(match path.split_once('/') {
            Some((first, rest)) => (first, Some(rest)),
            None => (path, None),
        })
    }

    /// A review, which is posted.
    fn posted(&self, route: Route<'a>) -> Found<'a> {
        match *self.method == Method::POST {
            true => Found::Route(route),
            false => Found::WrongMethod("POST"),
        }
    }
}

/// What a request is for, at a listener that serves this.
pub(crate) fn find<'a>(lookup: &Lookup<'a>, serves: &[Service]) -> Found<'a> {
    for door in DOORS {
        if !door.services.iter().any(|service| serves.contains(service)) {
            continue;
        }
        match (door.find)(lookup, serves) {
            Found::Nothing => {}
            found => return found,
        }
    }
    Found::Nothing
}

/// What a request is for at the door of the API.
fn call<'a>(lookup: &Lookup<'a>, serves: &[Service]) -> Found<'a> {
    let is_web = serves.contains(&Service::Web);
    // The first page has the path of the call that says what there is.
    if lookup.path == "/" && lookup.wants_page {
        return page(lookup, is_web);
    }
    match api::find(lookup.method, lookup.path, serves) {
        api::Found::Endpoint(endpoint, values) => Found::Route(Route::Call(endpoint, values)),
        api::Found::WrongMethod(allow) => Found::WrongMethod(allow),
        api::Found::Nothing => page(lookup, is_web),
    }
}

/// Which web page a request is for. What pages show and do goes through calls of the API.
fn page<'a>(lookup: &Lookup<'a>, is_web: bool) -> Found<'a> {
    let is_read = matches!(*lookup.method, Method::GET | Method::HEAD);
    if let Some(asset) = portcullis_web::asset(lookup.path) {
        return match is_read {
            true => Found::Route(Route::Asset(asset)),
            false => Found::WrongMethod("GET, HEAD"),
        };
    }
    if !is_web {
        return Found::Nothing;
    }
    let is_form = *lookup.method == Method::POST;
    match portcullis_web::find(lookup.path, is_form) {
        portcullis_web::Found::Page(page) if is_read || is_form => Found::Route(Route::Page(page)),
        portcullis_web::Found::Page(_) => Found::WrongMethod("GET, HEAD"),
        portcullis_web::Found::WrongMethod(allow) => Found::WrongMethod(allow),
        portcullis_web::Found::Nothing => Found::Nothing,
    }
}

/// What a request is for at the door of CI: a call of the API that is about jobs.
fn job_call<'a>(lookup: &Lookup<'a>, serves: &[Service]) -> Found<'a> {
    match api::find(lookup.method, lookup.path, serves) {
        api::Found::Endpoint(endpoint, values) if endpoint.services.contains(&Service::Ci) => {
            Found::Route(Route::Call(endpoint, values))
        }
        _ => Found::Nothing,
    }
}

/// Answers a request at the door it is for.
pub(crate) async fn answer(
    route: Route<'_>,
    visitor: &Visitor,
    gate: &Arc<Gate>,
    head: &Parts,
    body: &mut Option<Incoming>,
) -> Result<Response, HttpError> {
    match route {
        Route::Admission(door) => {
            let reviewing = Reviewing::begin(visitor, gate, head)?;
            reviewing.answer(door, body).await
        }
        Route::Authorization(chain) => {
            let reviewing = Reviewing::begin(visitor, gate, head)?;
            let door = Authorization::of(gate, chain)?;
            reviewing.answer(door, body).await
        }
        Route::Call(endpoint, values) => endpoint.answer(visitor, gate, head, body, values).await,
        Route::Page(page) => api::answer_page(page, visitor, gate, head, body).await,
        Route::Asset(asset) => Ok(api::asset(asset)),
    }
}

#[cfg(test)]
mod tests;
