//! Objects from a live API server: every kind a profile watches is listed, then watched. So is every kind of the
//! cache for plug-ins and policies (`cache`).
//!
//! Each kind has a task that talks to the API server (`follow`), and all of them hand what they receive to
//! one thread that decodes and applies it, in order (`applier`): expressions take computing time, which
//! the tasks of the runtime must not wait for. Queues are bounded, and a kind fetches the next page of a
//! list only after the last one was applied.
//!
//! Lists and watches are implemented here rather than with `kube`'s own watcher, since one object that
//! can't be decoded must not stop its kind, a kind that isn't served must not stop the others, and
//! nothing that is received may be logged.

mod access;
mod applier;
mod ask;
mod cache;
mod credentials;
mod exchange;
mod failure;
mod feed;
mod follow;
mod lines;
mod live;
mod request;
mod secret;
mod single_objects;
mod status;
#[cfg(test)]
mod tests;
mod webhooks;

use std::sync::Arc;
use std::time::Duration;

use portcullis_graph::State;
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

use applier::Applier;
use feed::Feed;
use follow::Follow;
use status::Board;

pub(crate) use access::read_kubeconfig;
pub use access::{Access, Cluster, ConnectError};
pub use ask::ServerAnswer;
pub use cache::{CachedKind, ObjectCache};
pub use credentials::Credentials;
pub use secret::{NamespacedName, Secret};
pub use single_objects::ObjectError;
pub use status::{KindStatus, Phase};
pub use webhooks::{WebhookConfiguration, WebhookEntry, WebhookKind};

/// So many kinds are listed at the same time: what is being listed is in memory, a page of each.
const LISTS_AT_ONCE: usize = 2;
/// How often what depends on the clock is looked at.
const TICK: Duration = Duration::from_secs(1);

/// How patient the watches are; tests are less so.
#[derive(Debug, Clone)]
struct Timing {
    /// For a whole page of a list, and for the beginning of a watch.
    answer: Duration,
    /// The API server is asked to end a watch after this long at the latest. It may have nothing to send for
    /// longer, not even bookmarks, and this way it is known to be alive.
    watch: Duration,
    /// A watch that isn't ended so long after it should have been is dead.
    grace: Duration,
    /// The first and the longest rest after a failure.
    rest: (Duration, Duration),
    /// How many objects a page has at first.
    page: usize,
}

impl Default for Timing {
    fn default() -> Self {
        Self {
            answer: Duration::from_secs(60),
            watch: Duration::from_secs(120),
            grace: Duration::from_secs(15),
            rest: (Duration::from_millis(250), Duration::from_secs(10)),
            page: 500,
        }
    }
}

/// The watches of a profile. They end when this is dropped.
#[derive(Debug)]
pub struct Watches {
    board: Arc<Board>,
    _tasks: JoinSet<()>,
}

impl Cluster {
    /// Begins to watch everything the profile of `state` wants. `name` is what the profile is called in the
    /// log. Needs a tokio runtime.
    ///
    /// The state has caught up when every kind was listed once.
    ///
    /// # Errors
    ///
    /// When there can be no more threads.
    pub fn watch(&self, name: &str, state: Arc<State>) -> std::io::Result<Watches> {
        self.feed(name, state, &Timing::default())
    }

    fn feed<F: Feed>(&self, name: &str, feed: Arc<F>, timing: &Timing) -> std::io::Result<Watches> {
        let kinds = feed.kinds();
        let asks_for_resources = feed.asks_for_resources();
        let board = Arc::new(Board::new(name, &kinds));
        let applier = Applier::start(feed, &kinds, &board)?;
        let lists = Arc::new(Semaphore::new(LISTS_AT_ONCE));
        let mut tasks = JoinSet::new();
        for (index, (source, kind)) in kinds.into_iter().enumerate() {
            let follow = Follow {
                cluster: self.clone(),
                source,
                kind,
                applier: applier.clone(),
                lists: Arc::clone(&lists),
                board: Arc::clone(&board),
                index,
                asks_for_resource: asks_for_resources,
                timing: timing.clone(),
            };
            tasks.spawn(follow.run());
        }
        tasks.spawn(async move {
            let mut times = tokio::time::interval(TICK);
            loop {
                times.tick().await;
                applier.tick();
            }
        });
        Ok(Watches {
            board,
            _tasks: tasks,
        })
    }
}

impl Watches {
    /// How every kind is doing, in the order of the profile.
    pub fn status(&self) -> Vec<KindStatus> {
        self.board.all()
    }

    /// For how long the kind that is worst off has not been known to be up to date. Zero when all are watched,
    /// or not served at all.
    pub fn lag(&self) -> Duration {
        let all = self.status().into_iter();
        all.map(|kind| kind.lag).max().unwrap_or_default()
    }
}
