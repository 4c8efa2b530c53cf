//! The task of one kind: all objects are listed, then their changes are watched, forever.

use std::sync::Arc;
use std::time::Instant;

use bytes::Bytes;
use http_body_util::BodyExt;
use kube::client::Body;
use portcullis_core::clock::{self, Stopwatch};
use portcullis_graph::{SourceId, VertexKind};
use portcullis_net::{Backoff, spread};
use serde::Deserialize;
use serde_json::value::RawValue;
use tokio::sync::Semaphore;

use super::applier::{Applier, Gone};
use super::failure::{Failure, Nature};
use super::lines::{Line, Lines};
use super::status::Board;
use super::{Cluster, Timing};

/// Pages have at most so many objects.
const LARGEST_PAGE: usize = 10_000;
/// A resource that isn't served must be missed so often in a row: an API server that just starts may not know
/// yet what it serves.
const MISSED: u32 = 3;

/// What a kind needs to be followed.
pub(super) struct Follow {
    pub(super) cluster: Cluster,
    pub(super) source: SourceId,
    pub(super) kind: VertexKind,
    pub(super) applier: Applier,
    pub(super) lists: Arc<Semaphore>,
    pub(super) board: Arc<Board>,
    pub(super) index: usize,
    /// Whether the API server is asked which resource the kind has.
    pub(super) asks_for_resource: bool,
    pub(super) timing: Timing,
}

/// Why something ended.
enum End {
    /// The API server did not, or not as it should.
    Failed(Failure),
    /// The applier has ended.
    Gone,
}

impl From<Failure> for End {
    fn from(failure: Failure) -> Self {
        Self::Failed(failure)
    }
}

impl From<Gone> for End {
    fn from(_: Gone) -> Self {
        Self::Gone
    }
}

/// An event of a watch.
#[derive(Deserialize)]
struct Event<'a> {
    #[serde(rename = "type")]
    kind: &'a str,
    #[serde(borrow)]
    object: &'a RawValue,
}

#[derive(Deserialize)]
struct Versioned {
    metadata: Version,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Version {
    resource_version: String,
}

impl Follow {
    pub(super) async fn run(mut self) {
        let mut backoff = Backoff::new(self.timing.rest.0, self.timing.rest.1);
        let mut page = self.timing.page;
        let mut missed = 0;
        loop {
            let end = match self.list(&mut page).await {
                Ok(version) => {
                    missed = 0;
                    self.watch(version, &mut backoff).await
                }
                Err(End::Failed(failure)) if failure.nature != Nature::Missing => {
                    missed = 0;
                    self.board.failed(self.index, &failure.words);
                    End::Failed(failure)
                }
                Err(end) => end,
            };
            let End::Failed(failure) = end else { break };
            if failure.nature == Nature::Missing {
                missed += 1;
                if missed == MISSED && self.applier.nothing(self.source).await.is_err() {
                    break;
                }
                if missed >= MISSED {
                    self.board.not_served(self.index);
                }
            }
            backoff.rest(failure.rest).await;
        }
        let words = "changes are no longer applied";
        self.board.failed(self.index, words);
    }

    /// Lists all objects; the version that the list is of.
    async fn list(&mut self, limit: &mut usize) -> Result<String, End> {
        let lists = Arc::clone(&self.lists);
        let _turn = lists.acquire().await.map_err(|_| End::Gone)?;
        self.board.listing(self.index);
        if self.asks_for_resource {
            let resource = self
                .cluster
                .resource(&self.kind, self.timing.answer)
                .await?;
            self.kind = resource;
        }
        let (mut next, mut first) = (String::new(), true);
        loop {
            let time = self.timing.answer;
            let text = match self.cluster.page(&self.kind, *limit, &next, time).await {
                Err(failure) if failure.nature == Nature::TooLarge && *limit > 1 => {
                    *limit /= 2;
                    continue;
                }
                Err(failure) => {
                    // The list took longer than the API server keeps its version: larger steps.
                    if failure.nature == Nature::Outdated {
                        *limit = (*limit * 2).min(LARGEST_PAGE);
                    }
                    return Err(failure.into());
                }
                Ok(text) => text,
            };
            let applied = self.applier.page(self.source, first, text).await?;
            let metadata = applied.map_err(Failure::passing)?;
            if metadata.next.is_empty() {
                self.applier.complete(self.source).await?;
                return Ok(metadata.resource_version);
            }
            (next, first) = (metadata.next, false);
        }
    }

    /// Watches from a version on, over any number of connections, until everything must be listed again.
    async fn watch(&self, mut version: String, backoff: &mut Backoff) -> End {
        loop {
            let (before, lasted) = (version.clone(), Stopwatch::start());
            let failure = match self.connection(&mut version).await {
                Ok(()) => None,
                Err(End::Failed(failure)) => Some(failure),
                Err(End::Gone) => return End::Gone,
            };
            let was_good = version != before || lasted.elapsed() >= self.timing.rest.1;
            if was_good {
                backoff.reset();
            }
            match failure {
                None if was_good => {}
                // It ended in order; but who ends every watch at once must not be asked at once.
                None => backoff.rest(None).await,
                Some(failure) if failure.nature == Nature::Passing => {
                    self.board.failed(self.index, &failure.words);
                    backoff.rest(failure.rest).await;
                }
                Some(failure) => return End::Failed(failure),
            }
        }
    }

    /// One connection, until the API server ends it.
    async fn connection(&self, version: &mut String) -> Result<(), End> {
        let lasting = spread(self.timing.watch);
        let time = self.timing.answer;
        let events = self.cluster.events(&self.kind, version, lasting, time);
        let mut body = events.await?;
        let end = clock::monotonic() + lasting + self.timing.grace;
        self.board.watching(self.index);
        let mut lines = Lines::default();
        while let Some(piece) = next_piece(&mut body, end).await? {
            self.board.is_good(self.index);
            lines.push(&piece);
            while let Some(line) = lines.next() {
                match line {
                    Line::Whole(line) => self.event(&line, version).await?,
                    Line::TooLong => self.board.malformed(self.index, "it is too large"),
                }
            }
        }
        Ok(())
    }

    async fn event(&self, line: &Bytes, version: &mut String) -> Result<(), End> {
        if line.iter().all(u8::is_ascii_whitespace) {
            return Ok(());
        }
        let Ok(event) = serde_json::from_slice::<Event<'_>>(line) else {
            self.board.malformed(self.index, "malformed watch event");
            return Ok(());
        };
        let object = event.object.get();
        let deleted = match event.kind {
            "ADDED" | "MODIFIED" => Some(false),
            "DELETED" => Some(true),
            "BOOKMARK" => None,
            "ERROR" => return Err(Failure::told(None, object.as_bytes()).into()),
            _ => {
                self.board.malformed(self.index, "unknown watch event type");
                return Ok(());
            }
        };
        if let Some(deleted) = deleted {
            self.board.changed(self.index);
            let object = line.slice_ref(object.as_bytes());
            self.applier.change(self.source, deleted, object).await?;
        }
        if let Ok(told) = serde_json::from_str::<Versioned>(object)
            && !told.metadata.resource_version.is_empty()
        {
            *version = told.metadata.resource_version;
        }
        Ok(())
    }
}

/// More of a watch; nothing if it has ended. Who doesn't end it in time has gone away.
async fn next_piece(body: &mut Body, end: Instant) -> Result<Option<Bytes>, Failure> {
    loop {
        let frame = match tokio::time::timeout_at(end.into(), body.frame()).await {
            Ok(Some(Ok(frame))) => frame,
            Ok(None) => return Ok(None),
            Ok(Some(Err(error))) => return Err(error.into()),
            Err(_) => {
                return Err(Failure::passing(
                    "the API server did not end the watch in time",
                ));
            }
        };
        if let Ok(piece) = frame.into_data() {
            return Ok(Some(piece));
        }
    }
}
