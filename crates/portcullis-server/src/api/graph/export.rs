//! A whole graph, sent piece by piece while it is made.

use std::time::Duration;

use bytes::Bytes;
use hyper::StatusCode;
use hyper::header::{CACHE_CONTROL, HeaderValue};
use schemars::JsonSchema;
use serde::Deserialize;
use tokio::sync::{mpsc, watch};
use tokio::time::timeout;

use super::super::call::{Answering, Call};
use super::super::endpoint::{QueryParameter, schema_of};
use super::super::query::Query;
use super::searches::place;
use super::{PROFILE, TARGET, profile, reading, unanswered};
use crate::http::answer::Answer;
use crate::http::error::with_type;
use portcullis_gate::graph_answers::{Export, ExportFormat, GraphView};

/// Pieces that a slow client may leave unread.
const UNREAD: usize = 4;
/// A client that takes nothing for so long is gone.
const PATIENCE: Duration = Duration::from_secs(60);

pub(super) const DESCRIPTION: &str = "Sent while it is made, so it is not a snapshot: what changes meanwhile may \
    be seen in part. With `format=dot` it is text for Graphviz instead.";

pub(super) const QUERY: &[QueryParameter] = &[
    PROFILE,
    TARGET,
    QueryParameter {
        name: "format",
        description: "The format; by default `json`.",
        schema: schema_of::<Format>,
        example: "json",
    },
];

/// How a graph is written.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Format {
    Json,
    Dot,
}

/// A whole graph. Ends of edges and owners are `Kind:namespace/name` or `Kind:name`.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "only its schema is of use")]
pub(super) struct Exported {
    /// All vertices.
    vertices: Vec<ExportedVertex>,
    /// All edges.
    edges: Vec<ExportedEdge>,
    /// What is wrong with the objects: without it there may be more vertices and edges. Left out if there is
    /// nothing.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    problems: Vec<String>,
}

/// A vertex.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "only its schema is of use")]
struct ExportedVertex {
    /// Kind.
    kind: String,
    /// Namespace, empty for objects without one.
    namespace: String,
    /// Name.
    name: String,
}

/// An edge.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "only its schema is of use")]
struct ExportedEdge {
    /// Where it begins.
    from: String,
    /// Where it ends.
    to: String,
    /// The object it comes from.
    owner: String,
}

/// `GET /api/v1/graph/export`
pub(super) fn export(call: Call<'_>) -> Answering<'_> {
    Box::pin(async move {
        reading(&call).await?;
        let mut query = Query::of(call.head);
        let profile = profile(&call.gate.graphs, &mut query)?;
        let target = query.take("target")?.filter(|target| !target.is_empty());
        let format = query.take_word::<Format>("format")?;
        query.done()?;
        let view = GraphView::caught_up(profile.authorizer.state(), target.as_deref());
        let view = view.map_err(unanswered)?;
        let (format, content_type) = match format {
            None | Some(Format::Json) => (ExportFormat::Json, "application/json"),
            Some(Format::Dot) => (ExportFormat::Dot, "text/vnd.graphviz; charset=utf-8"),
        };
        let place = place()?;
        let export = Export::new(view, &profile.name, format).with_problems(profile.troubles());
        let (send, receive) = mpsc::channel(UNREAD);
        let ending = call.visitor.server.ending.subscribe();
        tokio::spawn(async move {
            deliver(export, &send, ending).await;
            drop(place);
        });
        let mut response = with_type(StatusCode::OK, Vec::new(), content_type);
        *response.body_mut() = Answer::stream(receive);
        let headers = response.headers_mut();
        headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
        Ok(response)
    })
}

/// Makes one piece after the other, as fast as they are taken.
async fn deliver(
    mut export: Export,
    send: &mpsc::Sender<Bytes>,
    mut ending: watch::Receiver<bool>,
) {
    loop {
        let made = tokio::task::spawn_blocking(move || {
            let piece = export.next();
            (piece, export)
        });
        let Ok((Some(piece), rest)) = made.await else {
            return;
        };
        export = rest;
        let sent = timeout(PATIENCE, send.send(piece.into()));
        let is_sent = tokio::select! {
            sent = sent => matches!(sent, Ok(Ok(()))),
            _ = ending.wait_for(|is_ending| *is_ending) => false,
        };
        if !is_sent {
            return;
        }
    }
}
