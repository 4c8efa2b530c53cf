//! Which door a request is for.
//!
//! A path that this listener doesn't serve is as unknown as one that doesn't exist.

mod kubernetes;
mod operations;

use std::sync::Arc;

use arc_swap::ArcSwap;
use hyper::body::Incoming;
use hyper::header::{AUTHORIZATION, EXPECT};
use hyper::http::request::Parts;
use hyper::{Method, Request};
use portcullis_core::Peer;

use crate::api::{self, Call, Found};
use crate::http::error::HttpError;
use crate::http::handler::{Answered, Client, Handler};
use crate::http::listener::ListenerSetup;
use crate::http::trust::{Standing, Trust};
use crate::http::{Response, body, browser};
use crate::metrics::Metrics;
use crate::server::Server;
use crate::visitor::Visitor;
use portcullis_config::{Service, Style};

/// What a path means.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Route<'a> {
    Live,
    Ready,
    Metrics,
    Admission(Webhook),
    Authorization { chain: &'a str },
}

/// The ways in for admission reviews.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Webhook {
    Mutate,
    Validate,
    Admit,
    /// Any path of a listener in the style of acjs.
    Acjs,
}

impl Webhook {
    fn as_str(self) -> &'static str {
        match self {
            Self::Mutate => "mutate",
            Self::Validate => "validate",
            Self::Admit => "admit",
            Self::Acjs => "acjs",
        }
    }

    fn may_patch(self) -> bool {
        self != Self::Validate
    }
}

impl Route<'_> {
    fn of(path: &str) -> Option<Route<'_>> {
        let (first, rest) = match path.strip_prefix('/')?.split_once('/') {
            Some((first, rest)) => (first, Some(rest)),
            None => (path.strip_prefix('/')?, None),
        };
        match (first, rest) {
            ("livez", None) => Some(Route::Live),
            ("readyz", None) => Some(Route::Ready),
            ("metrics", None) => Some(Route::Metrics),
            ("mutate", _) => Some(Route::Admission(Webhook::Mutate)),
            ("validate", _) => Some(Route::Admission(Webhook::Validate)),
            ("admit", _) => Some(Route::Admission(Webhook::Admit)),
            ("authorize", None | Some("")) => Some(Route::Authorization { chain: "default" }),
            ("authorize", Some(chain)) => Some(Route::Authorization { chain }),
            _ => None,
        }
    }

    /// What a path means where everything but health and metrics is a review.
    fn of_acjs<'a>(path: &'a str, method: &Method) -> Route<'a> {
        match Route::of(path) {
            Some(route @ (Route::Live | Route::Ready | Route::Metrics)) if route.takes(method) => {
                route
            }
            _ => Route::Admission(Webhook::Acjs),
        }
    }

    fn service(&self) -> Service {
        match self {
            Self::Live | Self::Ready => Service::Health,
            Self::Metrics => Service::Metrics,
            Self::Admission(_) | Self::Authorization { .. } => Service::Kubernetes,
        }
    }

    fn takes(&self, method: &Method) -> bool {
        if *self == Route::Admission(Webhook::Acjs) {
            return true;
        }
        match self.service() {
            Service::Kubernetes => method == Method::POST,
            _ => method == Method::GET || method == Method::HEAD,
        }
    }

    fn methods(&self) -> &'static str {
        match self.service() {
            Service::Kubernetes => "POST",
            _ => "GET, HEAD",
        }
    }
}

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
            (None, Err(busy)) => (Err(busy), budget.nothing()),
            (None, Ok(share)) => (self.route(&head, &mut body).await, share),
        };
        let result = result.and_then(|response| {
            share.grow_for_answer(response.body().memory())?;
            Ok(response)
        });
        let response = result.unwrap_or_else(|error| {
            // What was refused unread is passed over, so that the client gets to read why.
            if let Some(unread) = body.take_if(|_| !head.headers.contains_key(EXPECT)) {
                body::drain(unread);
            }
            self.server.metrics.error(error.code());
            let mut response = error.into_response();
            browser::protect(&mut response, is_strict);
            response
        });
        Answered {
            response,
            share,
            is_last: lapsed.is_some(),
        }
    }
}

impl Visitor {
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
        let route = match setup.style {
            Style::Doors => Route::of(head.uri.path()),
            Style::Acjs => Some(Route::of_acjs(head.uri.path(), &head.method)),
        };
        let route = route.filter(|route| setup.serves.contains(&route.service()));
        let Some(route) = route else {
            return match api::find(&head.method, head.uri.path(), &setup.serves) {
                Found::Endpoint(endpoint, values) => {
                    let is_strict = setup.is_strict;
                    drop(setup);
                    let mut answer =
                        Call::answer(self, &gate, head, body, endpoint, values).await?;
                    browser::protect(&mut answer, is_strict);
                    Ok(answer)
                }
                Found::WrongMethod(allow) => Err(HttpError::method_not_allowed(allow)),
                Found::Nothing => Err(HttpError::not_found("no such path")),
            };
        };
        drop(setup);
        if !route.takes(&head.method) {
            return Err(HttpError::method_not_allowed(route.methods()));
        }
        let is_review = route.service() == Service::Kubernetes;
        if is_review && self.peer.unix.is_none() && browser::is_foreign(head, None) {
            return Err(HttpError::forbidden(
                "cross_site",
                "cross-site requests are not allowed",
            ));
        }
        let asked = kubernetes::Asked {
            visitor: self,
            gate: &gate,
            head,
        };
        match route {
            Route::Live => Ok(plain(operations::live())),
            Route::Ready => Ok(plain(operations::ready(&self.server, head.uri.query()))),
            Route::Metrics => Ok(plain(operations::metrics(&self.server.metrics))),
            Route::Admission(webhook) => asked.admission(webhook, body).await,
            Route::Authorization { chain } => asked.authorization(chain, body).await,
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn with_acjs_everything_but_health_and_metrics_is_a_review() {
        for (method, path, route) in [
            (Method::GET, "/livez", Route::Live),
            (Method::HEAD, "/readyz", Route::Ready),
            (Method::GET, "/metrics", Route::Metrics),
            (Method::POST, "/readyz", Route::Admission(Webhook::Acjs)),
            (Method::GET, "/", Route::Admission(Webhook::Acjs)),
            (Method::PUT, "/validate", Route::Admission(Webhook::Acjs)),
            (Method::POST, "/authorize", Route::Admission(Webhook::Acjs)),
        ] {
            assert_eq!(Route::of_acjs(path, &method), route, "{method} {path}");
            assert!(route.takes(&method));
        }
    }

    #[test]
    fn paths_lead_to_their_doors() {
        for (path, route) in [
            ("/livez", Some(Route::Live)),
            ("/readyz", Some(Route::Ready)),
            ("/metrics", Some(Route::Metrics)),
            ("/mutate", Some(Route::Admission(Webhook::Mutate))),
            ("/mutate/a/b", Some(Route::Admission(Webhook::Mutate))),
            ("/validate/", Some(Route::Admission(Webhook::Validate))),
            ("/admit/x", Some(Route::Admission(Webhook::Admit))),
            (
                "/authorize",
                Some(Route::Authorization { chain: "default" }),
            ),
            (
                "/authorize/seed",
                Some(Route::Authorization { chain: "seed" }),
            ),
            ("/api", None),
            ("/mutated", None),
            ("/livez/x", None),
            ("//mutate", None),
            ("/", None),
            ("*", None),
        ] {
            assert_eq!(Route::of(path), route, "{path}");
        }
    }
}
