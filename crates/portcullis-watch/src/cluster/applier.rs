//! The thread that decodes what the API server sends, and applies it in order.

use std::collections::{HashMap, HashSet};
use std::io;
use std::sync::Arc;
use std::thread;

use bytes::Bytes;
use portcullis_graph::{Applied, SourceId, VertexKind};
use serde::Deserialize;
use serde_json::Value;
use tokio::sync::{mpsc, oneshot};

use super::feed::Feed;
use super::request::{Page, PageMetadata};
use super::status::Board;

/// So many pieces of work wait at most; then who watches waits.
const QUEUE: usize = 64;

/// Something to apply.
#[derive(Debug)]
enum Work {
    /// A page of a list; the first one begins it.
    Page {
        source: SourceId,
        first: bool,
        text: Bytes,
        done: oneshot::Sender<Result<PageMetadata, String>>,
    },
    /// A list is complete.
    Complete {
        source: SourceId,
        done: oneshot::Sender<()>,
    },
    /// There are no objects of this kind.
    Nothing {
        source: SourceId,
        done: oneshot::Sender<()>,
    },
    /// An object was created, changed or deleted.
    Change {
        source: SourceId,
        deleted: bool,
        object: Bytes,
    },
    Tick,
}

/// The thread is gone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Gone;

/// The way to the thread, which ends with the last of these.
#[derive(Debug, Clone)]
pub(super) struct Applier {
    queue: mpsc::Sender<Work>,
}

impl Applier {
    pub(super) fn start<F: Feed>(
        feed: Arc<F>,
        kinds: &[(SourceId, VertexKind)],
        board: &Arc<Board>,
    ) -> io::Result<Self> {
        let (queue, mut work) = mpsc::channel(QUEUE);
        let places = kinds.iter().enumerate();
        let places: HashMap<_, _> = places.map(|(index, (id, _))| (*id, index)).collect();
        let board = Arc::clone(board);
        let apply = move || {
            let mut thread = Thread {
                feed: &*feed,
                board: &board,
                lists: HashMap::new(),
                unlisted: places.keys().copied().collect(),
                places,
            };
            thread.note_progress();
            while let Some(one) = work.blocking_recv() {
                thread.perform(one);
            }
        };
        thread::Builder::new()
            .name("watches".to_owned())
            .spawn(apply)?;
        Ok(Self { queue })
    }

    /// Applies a page; where it stands.
    pub(super) async fn page(
        &self,
        source: SourceId,
        first: bool,
        text: Bytes,
    ) -> Result<Result<PageMetadata, String>, Gone> {
        self.done(|done| Work::Page {
            source,
            first,
            text,
            done,
        })
        .await
    }

    /// The list is complete.
    pub(super) async fn complete(&self, source: SourceId) -> Result<(), Gone> {
        self.done(|done| Work::Complete { source, done }).await
    }

    /// There are no objects of this kind.
    pub(super) async fn nothing(&self, source: SourceId) -> Result<(), Gone> {
        self.done(|done| Work::Nothing { source, done }).await
    }

    /// An object was created, changed or deleted.
    pub(super) async fn change(
        &self,
        source: SourceId,
        deleted: bool,
        object: Bytes,
    ) -> Result<(), Gone> {
        let work = Work::Change {
            source,
            deleted,
            object,
        };
        self.queue.send(work).await.map_err(|_| Gone)
    }

    /// Time has passed.
    pub(super) fn tick(&self) {
        // A busy applier gets the next tick.
        self.queue.try_send(Work::Tick).ok();
    }

    async fn done<T>(&self, work: impl FnOnce(oneshot::Sender<T>) -> Work) -> Result<T, Gone> {
        let (done, answer) = oneshot::channel();
        self.queue.send(work(done)).await.map_err(|_| Gone)?;
        answer.await.map_err(|_| Gone)
    }
}

struct Thread<'a, F: Feed> {
    feed: &'a F,
    board: &'a Board,
    /// Lists that are not complete.
    lists: HashMap<SourceId, F::List<'a>>,
    /// Kinds that were never listed.
    unlisted: HashSet<SourceId>,
    /// The place of each kind on the board.
    places: HashMap<SourceId, usize>,
}

#[derive(Deserialize)]
struct Named {
    metadata: Metadata,
}

#[derive(Deserialize)]
struct Metadata {
    #[serde(default)]
    namespace: Option<String>,
    name: String,
}

impl<'a, F: Feed> Thread<'a, F> {
    fn perform(&mut self, work: Work) {
        match work {
            Work::Page {
                source,
                first,
                text,
                done,
            } => {
                if first {
                    self.lists.insert(source, self.feed.list(source));
                }
                done.send(self.page(source, &text)).ok();
            }
            Work::Complete { source, done } => {
                if let Some(list) = self.lists.remove(&source) {
                    self.complete(source, list);
                }
                done.send(()).ok();
            }
            Work::Nothing { source, done } => {
                self.lists.remove(&source);
                let list = self.feed.list(source);
                self.complete(source, list);
                done.send(()).ok();
            }
            Work::Change {
                source,
                deleted: false,
                object,
            } => match serde_json::from_slice(&object) {
                Ok(object) => self.note(source, self.feed.apply(source, &object)),
                Err(_) => self.skip(source, "it can't be read"),
            },
            Work::Change {
                source,
                deleted: true,
                object,
            } => match serde_json::from_slice::<Named>(&object) {
                Ok(Named { metadata }) => {
                    let namespace = metadata.namespace.unwrap_or_default();
                    self.feed.delete(source, &namespace, &metadata.name);
                }
                Err(_) => self.skip(source, "it is deleted, but has no name"),
            },
            Work::Tick => self.feed.tick(),
        }
    }

    fn page(&mut self, source: SourceId, text: &[u8]) -> Result<PageMetadata, String> {
        let wrong = |_| "the API server's answer is not a list".to_owned();
        let page: Page<'_> = serde_json::from_slice(text).map_err(wrong)?;
        if page.metadata.resource_version.is_empty() {
            return Err("the API server's list has no resourceVersion".to_owned());
        }
        for item in page.items.unwrap_or_default() {
            let object: Value = match serde_json::from_str(item.get()) {
                Ok(object) => object,
                Err(_) => {
                    self.skip(source, "it can't be read");
                    continue;
                }
            };
            let Some(list) = self.lists.get_mut(&source) else {
                break;
            };
            let applied = F::add(list, &object);
            self.note(source, applied);
        }
        Ok(page.metadata)
    }

    fn complete(&mut self, source: SourceId, list: F::List<'a>) {
        F::finish(list);
        self.board.listed(self.place(source));
        if self.unlisted.remove(&source) {
            self.note_progress();
        }
    }

    fn note_progress(&self) {
        if self.unlisted.is_empty() {
            self.feed.caught_up();
        }
    }

    fn note(&self, source: SourceId, applied: Applied) {
        match applied {
            Applied::Followed(wrong) if wrong.is_empty() => {}
            Applied::Followed(wrong) => self.skip(source, &wrong.join("; ")),
            Applied::Unusable(why) => self.skip(source, &why),
            Applied::Ignored => {}
        }
    }

    fn skip(&self, source: SourceId, words: &str) {
        self.board.malformed(self.place(source), words);
    }

    fn place(&self, source: SourceId) -> usize {
        self.places.get(&source).copied().unwrap_or(usize::MAX)
    }
}
