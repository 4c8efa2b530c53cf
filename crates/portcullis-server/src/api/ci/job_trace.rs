//! What a job wrote, as text.

use bytes::Bytes;
use hyper::StatusCode;
use portcullis_ci::{JobRun, Service};
use tokio::sync::mpsc;

use super::known;
use crate::api::query::Query;
use crate::http::Response;
use crate::http::answer::Answer;
use crate::http::error::{HttpError, with_type};

const PLAIN: &str = "text/plain; charset=utf-8";

/// The most bytes of the end of a trace: they are read at once.
const MOST_TAIL: usize = 1 << 20;

/// How many of its last bytes a query asks for; all if it does not say.
pub(super) fn tail_of(mut query: Query) -> Result<Option<usize>, HttpError> {
    let tail = query.take("tail")?.filter(|text| !text.is_empty());
    query.done()?;
    let tail = tail.map(|text| match text.parse() {
        Ok(bytes @ 1..=MOST_TAIL) => Ok(bytes),
        _ => {
            let message = format!("invalid tail: expected 1 to {MOST_TAIL}");
            Err(HttpError::bad_request(message))
        }
    });
    tail.transpose()
}

pub(super) fn tail_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
    schemars::json_schema!({"type": "integer", "minimum": 1, "maximum": MOST_TAIL})
}

/// The trace of a job, read as the client takes it; empty before it runs.
pub(super) async fn answer(
    jobs: &Service,
    id: u64,
    unknown: fn() -> HttpError,
) -> Result<Response, HttpError> {
    let run = jobs.trace_of(id).await.map_err(|e| known(e, unknown))?;
    let mut response = with_type(StatusCode::OK, Vec::new(), PLAIN);
    if let Some(run) = run {
        let first = jobs.read_trace(&run, 0).await?;
        *response.body_mut() = Answer::stream(pieces(jobs.clone(), run, first));
    }
    Ok(response)
}

/// The last bytes of the trace of a job, so many at most; empty before it runs.
pub(super) async fn answer_end(
    jobs: &Service,
    id: u64,
    most: usize,
    unknown: fn() -> HttpError,
) -> Result<Response, HttpError> {
    let run = jobs.trace_of(id).await.map_err(|e| known(e, unknown))?;
    let end = match run {
        Some(run) => jobs.read_trace_end(&run, most).await?,
        None => Vec::new(),
    };
    Ok(with_type(StatusCode::OK, end, PLAIN))
}

fn pieces(jobs: Service, run: JobRun, first: Vec<u8>) -> mpsc::Receiver<Bytes> {
    let (sender, receiver) = mpsc::channel(1);
    tokio::spawn(async move {
        let (mut sent, mut piece) = (0, first);
        while !piece.is_empty() {
            sent += piece.len() as u64;
            if sender.send(piece.into()).await.is_err() {
                return;
            }
            match jobs.read_trace(&run, sent).await {
                Ok(next) => piece = next,
                Err(error) => {
                    tracing::warn!("a trace ended early: {error}");
                    return;
                }
            }
        }
    });
    receiver
}
