//! From a connection to a door: what applies to every request, whatever it is for.

mod operations;

use std::sync::Arc;

use arc_swap::ArcSwap;
use hyper::Request;
use hyper::body::Incoming;
use hyper::header::{AUTHORIZATION, EXPECT, HeaderName};
use hyper::http::request::Parts;
use portcullis_core::Peer;

use crate::api;
use crate::doors::{self, Found, Lookup};
use crate::http::error::HttpError;
use crate::http::handler::{Answered, Client, Handler};
use crate::http::setup::ListenerSetup;
use crate::http::trust::{Standing, Trust};
use crate::http::{Response, body, browser};
use crate::metrics::Metrics;
use crate::server::Server;
use crate::visitor::Visitor;
use operations::Operation;
use portcullis_config::{Service, Style};

/// Bytes of a request id that is echoed, at most.
const MOST_REQUEST_ID: usize = 128;

impl Handler for Arc<Server> {
    type Client = Visitor;

    fn client(
        &self,
        setup: &Arc<ArcSwap<ListenerSetup>>,
        peer: Peer,
        standing: Standing,
    ) -> Visitor {
        Visitor {
            server: Arc::clone(self),
            setup: Arc::clone(setup),
            peer,
            standing,
        }
    }

    fn metrics(&self) -> &Metrics {
        &self.metrics
    }
}

impl Client for Visitor {
    fn trust(&self) -> Trust {
        self.standing.trust
    }

    async fn answer(&self, request: Request<Incoming>) -> Answered {
        let (head, body) = request.into_parts();
        let mut body = Some(body);
        let (trust, is_strict) = {
            let setup = self.setup.load();
            (setup.trust(), setup.is_strict)
        };
        let lapsed = self.standing.lapsed(trust);
        let budget = &self.server.budget;
        let (result, mut share) = match (lapsed, budget.begin()) {
            (Some(lapsed), _) => {
                let (code, message) = ("certificate_lapsed", lapsed.message());
                let error = HttpError::unauthorized(code, message, "portcullis");
                (Err(error), budget.nothing())
            }
            // Health and metrics are answered all the same: a server that is busy must not be restarted for it.
            (None, Err(full)) if !self.is_operation(&head) => (Err(full.into()), budget.nothing()),
            (None, begun) => {
                let share = begun.unwrap_or_else(|_| budget.nothing());
                (self.route(&head, &mut body).await, share)
            }
        };
        let result = result.and_then(|response| {
            share.grow_for_answer(response.body().memory())?;
            Ok(response)
        });
        let response = result.unwrap_or_else(|error| {
            // What was rejected unread is passed over, so that the client gets to read why.
            if let Some(unread) = body.take_if(|_| !head.headers.contains_key(EXPECT)) {
                body::drain(unread);
            }
            self.server.metrics.error(error.code());
            let mut response = error.into_response();
            browser::protect(&mut response, is_strict);
            response
        });
        let response = with_request_id(response, &head);
        Answered {
            response,
            share,
            is_last: lapsed.is_some(),
        }
    }
}

/// Echoes the id that the client gave its request, so that both find it in their logs.
fn with_request_id(mut response: Response, head: &Parts) -> Response {
    const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");
    if let Some(id) = head.headers.get(&REQUEST_ID)
        && id.len() <= MOST_REQUEST_ID
    {
        response.headers_mut().insert(REQUEST_ID, id.clone());
    }
    response
}

impl Visitor {
    /// Whether operators ask for health or metrics here.
    fn is_operation(&self, head: &Parts) -> bool {
        let setup = self.setup.load();
        let operation = Operation::at(head.uri.path(), &head.method, setup.style);
        operation.is_some_and(|one| setup.serves.contains(&one.service()))
    }

    async fn route(
        &self,
        head: &Parts,
        body: &mut Option<Incoming>,
    ) -> Result<Response, HttpError> {
        let gate = self.server.gate.load_full();
        let limit = gate.limits.headers.bytes();
        if head_size(head) > limit {
            return Err(HttpError::headers_too_large(limit));
        }
        if head.headers.get_all(AUTHORIZATION).iter().nth(1).is_some() {
            return Err(HttpError::bad_request("two Authorization headers"));
        }
        let setup = self.setup.load();
        let (path, query) = (head.uri.path(), head.uri.query());
        // In the style of acjs everything is a review but what operators ask.
        let operation = Operation::at(path, &head.method, setup.style);
        if let Some(operation) = operation.filter(|one| setup.serves.contains(&one.service())) {
            return match Operation::takes(&head.method) {
                true => Ok(plain(operation.answer(&self.server, query))),
                false => Err(HttpError::method_not_allowed("GET, HEAD")),
            };
        }
        let lookup = Lookup {
            method: &head.method,
            path,
            wants_page: path == "/" && api::wants_page(head),
            is_acjs: setup.style == Style::Acjs && operation.is_none(),
        };
        let found = doors::find(&lookup, &setup.serves);
        drop(setup);
        match found {
            Found::Route(route) => doors::answer(route, self, &gate, head, body).await,
            Found::WrongMethod(allow) => Err(HttpError::method_not_allowed(allow)),
            Found::Nothing => match self.setup.load().serves.contains(&Service::Web) {
                true => api::page_not_found(self, &gate, head).await,
                false => Err(HttpError::not_found("no such path")),
            },
        }
    }
}

/// An answer that may be opened in a browser.
fn plain(mut response: Response) -> Response {
    browser::protect(&mut response, false);
    response
}

/// The size of request line and headers, as they were sent or would have been in HTTP/1.1.
fn head_size(head: &Parts) -> u64 {
    let headers = head
        .headers
        .iter()
        .map(|(name, value)| name.as_str().len() + value.len() + 4);
    let uri = head.uri.path_and_query().map_or(1, |p| p.as_str().len());
    (uri + headers.sum::<usize>()) as u64
}
