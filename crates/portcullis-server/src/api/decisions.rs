//! Decisions over REST: lists, single ones, counts, and a stream of new ones.

mod summary;

use bytes::Bytes;
use hyper::StatusCode;
use hyper::header::{CACHE_CONTROL, HeaderValue};
use hyper::http::request::Parts;
use portcullis_core::clock;
use portcullis_record::Summary;
use portcullis_roles::{Condition, Parameters, Permission};
use portcullis_store::{Filter, Page};
use schemars::JsonSchema;
use serde::Serialize;
use std::sync::Arc;
use std::time::{Duration, SystemTime};
use tokio::sync::mpsc;

use super::access::at_root;
use super::action::Action;
use super::answer;
use super::call::{Answering, Call};
use super::endpoint::{Endpoint, QueryParameter, Success, Tag, get, schema_of, text};
use super::query::Query;
use super::reader::Reader;
use crate::decisions::{DecisionLog, Missed, Subscription};
use crate::http::Response;
use crate::http::answer::Answer;
use crate::http::error::{HttpError, json, with_type};
use crate::store_pool::PoolFailure;

/// Decisions in a page unless said.
const PAGE: usize = 100;
/// Decisions in a page at most.
const MOST: usize = 1000;
/// A stream says that it is alive.
const KEEP_ALIVE: Duration = Duration::from_secs(15);
/// Events that a slow client may leave unread.
const UNREAD: usize = 64;

/// Reads the decision log.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ReadDecisions;

impl Action for ReadDecisions {
    const PERMISSION: Permission = Permission::ReadDecisions;
    const CONDITIONS: &'static [Condition] = &[];

    fn parameters(&self) -> Parameters<'_> {
        Parameters::new()
    }
}

/// What may be asked for: parts of it stand together.
const ALL: &[QueryParameter] = &[
    QueryParameter {
        name: "buckets",
        description: "The number of buckets, 1 to 200; by default 48.",
        schema: buckets_schema,
        example: "48",
    },
    text(
        "door",
        "Only this door: `kubernetes`, `authorization`, `ci` or `api`.",
        "kubernetes",
    ),
    text("verdict", "Only `allow` or `deny`.", "deny"),
    text("user", "Only requests of this user.", "alice"),
    text("kind", "Only this kind.", "Pod"),
    text("namespace", "Only this namespace.", "default"),
    text(
        "policy",
        "Only decisions by this policy or plug-in.",
        "PodSecurity",
    ),
    text(
        "since",
        "Not before: a time as in RFC 3339, or how long ago.",
        "24h",
    ),
    text(
        "until",
        "Not after: a time as in RFC 3339, or how long ago.",
        "1h",
    ),
    text(
        "after",
        "The `next` of the previous page.",
        "01JD8Q3V5W0000000000000000",
    ),
    QueryParameter {
        name: "limit",
        description: "The number of decisions, 1 to 1000; by default 100.",
        schema: limit_schema,
        example: "100",
    },
];

/// What counts of decisions may be asked for.
const COUNTED: &[QueryParameter] = ALL.split_at(9).0;

/// What a list of decisions may be asked for.
const PAGED: &[QueryParameter] = ALL.split_at(1).1;

/// The filters alone.
const FILTERS: &[QueryParameter] = PAGED.split_at(8).0;

fn buckets_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
    schemars::json_schema!({"type": "integer", "minimum": 1, "maximum": summary::MOST})
}

fn limit_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
    schemars::json_schema!({"type": "integer", "minimum": 1, "maximum": 1000})
}

/// What may be asked of the decision log.
pub(super) const ENDPOINTS: &[Endpoint] = &[
    Endpoint {
        query: PAGED,
        ..get(
            ("/api/v1/decisions", "decisions"),
            Tag::Decisions,
            at_root::<ReadDecisions>(),
            ("List decisions", "The newest first, a page at a time."),
            Success::Json {
                description: "A page of decisions.",
                schema: schema_of::<DecisionList>,
            },
            list,
        )
    },
    Endpoint {
        query: FILTERS,
        ..get(
            ("/api/v1/decisions/stream", "followDecisions"),
            Tag::Decisions,
            at_root::<ReadDecisions>(),
            (
                "Follow decisions",
                "Server-sent events: `decision` with one decision, `missed` with a `count` where the reader was too slow, and `end` \
                 with `code` and `message` when a new request would be denied: the token expired, its key or the caller's \
                 roles changed. That is looked at every two seconds and after each reload.",
            ),
            Success::Other {
                description: "Events, until either side closes the connection.",
                content_type: "text/event-stream",
            },
            follow,
        )
        .with_web()
    },
    Endpoint {
        query: COUNTED,
        ..get(
            ("/api/v1/decisions/summary", "decisionSummary"),
            Tag::Decisions,
            at_root::<ReadDecisions>(),
            (
                "Count decisions",
                "Over a time, in buckets of equal length: by default the last 24 hours. The filters are those of the list. The work is \
                 bounded: where counting stopped, `at_least` says so.",
            ),
            Success::Json {
                description: "The counts.",
                schema: schema_of::<summary::DecisionSummary>,
            },
            summary::summary,
        )
    },
    get(
        ("/api/v1/decisions/{id}", "decision"),
        Tag::Decisions,
        at_root::<ReadDecisions>(),
        (
            "Show a decision",
            "The full record, with trace, patch and input, masked.",
        ),
        Success::Json {
            description: "The decision.",
            schema: schema_of::<serde_json::Map<String, serde_json::Value>>,
        },
        show,
    ),
];

/// `GET /api/v1/decisions`
pub(super) fn list(call: Call<'_>) -> Answering<'_> {
    Box::pin(async move {
        call.authorize(call.gate.access.roles.root(), ReadDecisions)
            .await?;
        page(&call.visitor.server.decisions, call.head).await
    })
}

/// `GET /api/v1/decisions/{id}`
pub(super) fn show(call: Call<'_>) -> Answering<'_> {
    Box::pin(async move {
        call.authorize(call.gate.access.roles.root(), ReadDecisions)
            .await?;
        one(&call.visitor.server.decisions, call.values.get("id")).await
    })
}

/// `GET /api/v1/decisions/stream`
pub(super) fn follow(call: Call<'_>) -> Answering<'_> {
    Box::pin(async move {
        call.authorize(call.gate.access.roles.root(), ReadDecisions)
            .await?;
        stream(&call).await
    })
}

/// Decisions, the newest first.
#[derive(Serialize, JsonSchema)]
pub(crate) struct DecisionList {
    #[schemars(with = "Vec<serde_json::Map<String, serde_json::Value>>")]
    items: Vec<Summary>,
    /// The value of `after` for the next page; absent on the last page.
    next: Option<String>,
}

async fn page(log: &DecisionLog, head: &Parts) -> Result<Response, HttpError> {
    let mut query = Query::of(head);
    let filter = filter(&mut query, clock::wall())?;
    let limit = match query.take("limit")? {
        None => PAGE,
        Some(text) => match text.parse() {
            Ok(limit @ 1..=MOST) => limit,
            _ => {
                return Err(HttpError::bad_request(format!(
                    "invalid limit: expected 1 to {MOST}"
                )));
            }
        },
    };
    let after = query.take("after")?;
    query.done()?;
    let page = Page { after, limit };
    let found = log.reader().read(move |store| store.list(&filter, &page));
    let found = found.await.map_err(|e| unread(&e))?;
    answer::ok(&DecisionList {
        items: found.items,
        next: found.next,
    })
}

async fn one(log: &DecisionLog, id: &str) -> Result<Response, HttpError> {
    let line = line(log, id).await?;
    Ok(json(StatusCode::OK, line.into_bytes()))
}

/// The whole record of a decision, a line of JSON.
pub(super) async fn line(log: &DecisionLog, id: &str) -> Result<String, HttpError> {
    let wanted = id.to_ascii_uppercase();
    let line = log.reader().read(move |store| store.get(&wanted)).await;
    let line = line.map_err(|e| unread(&e))?;
    line.ok_or_else(|| HttpError::not_found("no such decision"))
}

async fn stream(call: &Call<'_>) -> Result<Response, HttpError> {
    let mut query = Query::of(call.head);
    let filter = filter(&mut query, clock::wall())?;
    query.done()?;
    let log = &call.visitor.server.decisions;
    let news = log.feed().subscribe(log.reader()).await;
    let Some(news) = news.map_err(|e| unread(&e))? else {
        return Err(HttpError::busy("too many streams are open"));
    };
    let (send, receive) = mpsc::channel::<Bytes>(UNREAD);
    let reader = Reader::new::<ReadDecisions>(call.visitor, call.head);
    tokio::spawn(tell(reader, news, filter, send));
    let mut response = with_type(StatusCode::OK, Vec::new(), "text/event-stream");
    *response.body_mut() = Answer::stream(receive);
    let headers = response.headers_mut();
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    Ok(response)
}

/// Tells what comes, as long as the reader may know and wants to.
async fn tell(
    mut reader: Reader,
    mut news: Subscription,
    filter: Filter,
    send: mpsc::Sender<Bytes>,
) {
    let mut keep_alive = tokio::time::interval(KEEP_ALIVE);
    let mut ending = reader.server().ending.subscribe();
    loop {
        let event = tokio::select! {
            _ = ending.wait_for(|is_ending| *is_ending) => return,
            () = send.closed() => return,
            why = reader.is_refused() => Err(why),
            _ = keep_alive.tick() => Ok(Bytes::from_static(b": keep-alive\n\n")),
            next = news.next() => match next {
                None => return,
                Some(Ok(summary)) if !filter.matches(&summary) => continue,
                Some(Ok(summary)) => Ok(decision_event(&summary)),
                Some(Err(missed)) => Ok(missed_event(missed)),
            },
        };
        // A client that did not read for a while may have lost its permission meanwhile.
        let event = match event {
            Ok(event) => reader.look_if_due().await.map(|()| event),
            refused => refused,
        };
        let event = match event {
            Ok(event) => event,
            Err(why) => {
                let _ = send.send(end_event(&why)).await;
                return;
            }
        };
        if send.send(event).await.is_err() {
            return;
        }
    }
}

/// Why the stream ends.
fn end_event(why: &HttpError) -> Bytes {
    let data = serde_json::json!({"code": why.code(), "message": why.message()});
    format!("event: end\ndata: {data}\n\n").into()
}

fn decision_event(summary: &Arc<Summary>) -> Bytes {
    let data = serde_json::to_string(summary.as_ref()).unwrap_or_default();
    format!("event: decision\nid: {}\ndata: {data}\n\n", summary.id).into()
}

fn missed_event(Missed(count): Missed) -> Bytes {
    format!("event: missed\ndata: {{\"count\":{count}}}\n\n").into()
}

/// The filters of a list, under the names of the command line's flags.
fn filter(query: &mut Query, now: SystemTime) -> Result<Filter, HttpError> {
    let mut time = |name: &'static str| {
        let text = query.take(name)?;
        let time = text
            .map(|text| portcullis_document::since::parse(&text, now))
            .transpose();
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

/// Why decisions can't be read.
pub(super) fn unread(failure: &PoolFailure) -> HttpError {
    match failure {
        PoolFailure::NoStore => {
            HttpError::not_found("decisions are not stored: no store is configured")
        }
        _ => {
            tracing::warn!("cannot read decisions: {failure}");
            HttpError::busy("the store does not answer")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_lists_and_counts_take_the_same_filters() {
        let names: Vec<&str> = FILTERS.iter().map(|one| one.name).collect();
        assert_eq!(names.first(), Some(&"door"));
        let counted: Vec<&str> = COUNTED.iter().map(|one| one.name).collect();
        assert_eq!(counted.split_first(), Some((&"buckets", &*names)));
        assert_eq!(names.last(), Some(&"until"));
        let more: Vec<&str> = PAGED.iter().map(|one| one.name).skip(names.len()).collect();
        assert_eq!(more, ["after", "limit"]);
    }
}
