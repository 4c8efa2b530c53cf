//! Decisions over REST: lists, single ones, and a stream of what comes.

use bytes::Bytes;
use hyper::StatusCode;
use hyper::header::{CACHE_CONTROL, HeaderValue};
use hyper::http::request::Parts;
use portcullis_core::clock;
use portcullis_record::Summary;
use portcullis_store::{Filter, Page};
use serde::Serialize;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc;

use super::Visitor;
use super::query::Query;
use crate::decisions::{DecisionLog, Missed, ReadFailure};
use crate::http::Response;
use crate::http::answer::Answer;
use crate::http::error::{HttpError, json, with_type};

/// Decisions in a page unless said.
const PAGE: usize = 100;
/// Decisions in a page at most.
const MOST: usize = 1000;
/// A stream says that it is alive.
const KEEP_ALIVE: Duration = Duration::from_secs(15);
/// Events that a slow client may leave unread.
const UNREAD: usize = 64;

/// What is asked of the decision log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Asked<'a> {
    List,
    Stream,
    One(&'a str),
}

impl Asked<'_> {
    /// What a path behind `/api/v1/decisions` asks for.
    pub(super) fn of(rest: Option<&str>) -> Option<Asked<'_>> {
        match rest {
            None | Some("") => Some(Asked::List),
            Some("stream") => Some(Asked::Stream),
            Some(id) if !id.contains('/') => Some(Asked::One(id)),
            Some(_) => None,
        }
    }

    pub(super) async fn answer(
        &self,
        visitor: &Visitor,
        head: &Parts,
    ) -> Result<Response, HttpError> {
        let log = &visitor.server.decisions;
        match self {
            Asked::List => list(log, head).await,
            Asked::One(id) => one(log, id).await,
            Asked::Stream => stream(visitor, head).await,
        }
    }
}

async fn list(log: &DecisionLog, head: &Parts) -> Result<Response, HttpError> {
    #[derive(Serialize)]
    struct List {
        items: Vec<Summary>,
        next: Option<String>,
    }
    let mut query = Query::of(head);
    let filter = filter(&mut query)?;
    let limit = match query.take("limit")? {
        None => PAGE,
        Some(text) => match text.parse() {
            Ok(limit @ 1..=MOST) => limit,
            _ => return Err(HttpError::bad_request(format!("limit is 1 to {MOST}"))),
        },
    };
    let after = query.take("after")?;
    query.done()?;
    let page = Page { after, limit };
    let found = log.reader().read(move |store| store.list(&filter, &page));
    let found = found.await.map_err(|e| unread(&e))?;
    answer(&List {
        items: found.items,
        next: found.next,
    })
}

async fn one(log: &DecisionLog, id: &str) -> Result<Response, HttpError> {
    let wanted = id.to_ascii_uppercase();
    let line = log.reader().read(move |store| store.get(&wanted)).await;
    match line.map_err(|e| unread(&e))? {
        Some(line) => Ok(json(StatusCode::OK, line.into_bytes())),
        None => Err(HttpError::not_found("there is no decision of this id")),
    }
}

async fn stream(visitor: &Visitor, head: &Parts) -> Result<Response, HttpError> {
    let mut query = Query::of(head);
    let filter = filter(&mut query)?;
    query.done()?;
    let log = &visitor.server.decisions;
    let news = log.feed().subscribe(log.reader()).await;
    let Some(mut news) = news.map_err(|e| unread(&e))? else {
        return Err(HttpError::busy("too many streams are open"));
    };
    let (send, receive) = mpsc::channel::<Bytes>(UNREAD);
    let mut ending = visitor.server.ending.subscribe();
    tokio::spawn(async move {
        let mut keep_alive = tokio::time::interval(KEEP_ALIVE);
        loop {
            let event = tokio::select! {
                _ = ending.wait_for(|is_ending| *is_ending) => return,
                () = send.closed() => return,
                _ = keep_alive.tick() => Bytes::from_static(b": keep-alive\n\n"),
                next = news.next() => match next {
                    None => return,
                    Some(Ok(summary)) if !filter.matches(&summary) => continue,
                    Some(Ok(summary)) => decision_event(&summary),
                    Some(Err(missed)) => missed_event(missed),
                },
            };
            if send.send(event).await.is_err() {
                return;
            }
        }
    });
    let mut response = with_type(StatusCode::OK, Vec::new(), "text/event-stream");
    *response.body_mut() = Answer::stream(receive);
    let headers = response.headers_mut();
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    Ok(response)
}

fn decision_event(summary: &Arc<Summary>) -> Bytes {
    let data = serde_json::to_string(summary.as_ref()).unwrap_or_default();
    format!("event: decision\nid: {}\ndata: {data}\n\n", summary.id).into()
}

fn missed_event(Missed(count): Missed) -> Bytes {
    format!("event: missed\ndata: {{\"count\":{count}}}\n\n").into()
}

/// The filters of a list, under the names of the command line's flags.
fn filter(query: &mut Query) -> Result<Filter, HttpError> {
    let now = clock::wall();
    let mut time = |name: &'static str| {
        let text = query.take(name)?;
        let time = text.map(|text| crate::since::parse(&text, now)).transpose();
        time.map_err(|why| HttpError::bad_request(format!("{name}: {why}")))
    };
    let (since, until) = (time("since")?, time("until")?);
    Ok(Filter {
        door: query.take_word("door")?,
        verdict: query.take_word("verdict")?,
        user: query.take("user")?,
        kind: query.take("kind")?,
        namespace: query.take("namespace")?,
        policy: query.take("policy")?,
        since,
        until,
    })
}

fn answer(value: &impl Serialize) -> Result<Response, HttpError> {
    let body = serde_json::to_vec(value).map_err(|_| HttpError::internal())?;
    Ok(json(StatusCode::OK, body))
}

fn unread(failure: &ReadFailure) -> HttpError {
    match failure {
        ReadFailure::NotKept => HttpError::not_found(failure.to_string()),
        _ => {
            tracing::warn!("decisions could not be read: {failure}");
            HttpError::busy("the store does not answer")
        }
    }
}
