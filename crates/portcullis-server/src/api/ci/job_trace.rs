//! What a job wrote, as text.

use bytes::Bytes;
use hyper::StatusCode;
use portcullis_ci::{JobRun, Service};
use tokio::sync::mpsc;

use super::known;
use crate::http::Response;
use crate::http::answer::Answer;
use crate::http::error::{HttpError, with_type};

const PLAIN: &str = "text/plain; charset=utf-8";

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
