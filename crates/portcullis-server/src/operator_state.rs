//! State that operators set and that outlives the server: holds, states of tenants, and ended sessions.
//!
//! Everything is read from and written to the store, on threads that may block; nothing is kept here but
//! which sessions were ended, and how tenants were when that was read last.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use portcullis_authn::Session;
use portcullis_core::clock;
use portcullis_store::{
    EndingSession, Hold, Location, Mode, NewHold, Placed, StateChange, Store, StoreError,
    TenantState,
};

use tokio::sync::watch;
use tokio::time::MissedTickBehavior;

use crate::ended_sessions::EndedSessions;
use crate::store_pool::{PoolFailure, StorePool};

/// How often what has ended is looked for.
const SWEEP_EVERY: Duration = Duration::from_secs(60);
/// How often it is looked which sessions others ended.
const LEARN_EVERY: Duration = Duration::from_secs(5);
/// How often it is looked which tenants others paused or resumed.
const LEARN_STATES_EVERY: Duration = Duration::from_secs(1);

/// The states of tenants that are not as usual.
pub(crate) type States = BTreeMap<String, TenantState>;

/// The store does not answer; the log says why.
#[derive(Debug)]
pub(crate) struct NoAnswer;

/// Holds, the states of tenants, and sessions that were ended.
#[derive(Debug)]
pub(crate) struct OperatorState {
    pool: StorePool,
    ended: EndedSessions,
    /// Nothing until they were read.
    states: watch::Sender<Option<Arc<States>>>,
    /// Whose turn it is to read them, so that what is known is never older than it was.
    learning: tokio::sync::Mutex<()>,
}

impl OperatorState {
    /// Keeps everything in this store.
    pub(crate) fn new(location: Location) -> Self {
        Self {
            pool: StorePool::new(Some(location), Mode::ReadWrite),
            ended: EndedSessions::default(),
            states: watch::Sender::new(None),
            learning: tokio::sync::Mutex::new(()),
        }
    }

    /// Keeps everything in another store from now on.
    pub(crate) fn move_to(&self, location: Location) {
        self.pool.move_to(Some(location));
    }

    pub(crate) async fn place_hold(&self, hold: NewHold) -> Result<Placed, NoAnswer> {
        self.write(move |store| store.place_hold(&hold)).await
    }

    pub(crate) async fn release_hold(&self, tenant: &str, id: u64) -> Result<bool, NoAnswer> {
        let tenant = tenant.to_owned();
        self.write(move |store| store.release_hold(&tenant, id))
            .await
    }

    pub(crate) async fn holds(
        &self,
        tenant: &str,
        project: Option<String>,
    ) -> Result<Vec<Hold>, NoAnswer> {
        let (tenant, now) = (tenant.to_owned(), clock::wall());
        self.read(move |store| store.holds(&tenant, project.as_deref(), now))
            .await
    }

    pub(crate) async fn hold(&self, tenant: &str, id: u64) -> Result<Option<Hold>, NoAnswer> {
        let (tenant, now) = (tenant.to_owned(), clock::wall());
        self.read(move |store| store.hold(&tenant, id, now)).await
    }

    pub(crate) async fn state(&self, tenant: &str) -> Result<TenantState, NoAnswer> {
        let (tenant, now) = (tenant.to_owned(), clock::wall());
        self.read(move |store| store.tenant_state(&tenant, now))
            .await
    }

    /// The states of all tenants that are not as usual.
    pub(crate) async fn states(&self) -> Result<States, NoAnswer> {
        let now = clock::wall();
        let all = self.read(move |store| store.tenant_states(now)).await?;
        Ok(all.into_iter().collect())
    }

    /// The same as it was read last, without waiting; nothing if it was never read.
    pub(crate) fn known_states(&self) -> Option<Arc<States>> {
        self.states.borrow().clone()
    }

    /// Is told when tenants are paused or resumed.
    pub(crate) fn watch_states(&self) -> watch::Receiver<Option<Arc<States>>> {
        self.states.subscribe()
    }

    /// Reads how tenants are.
    pub(crate) async fn learn_states(&self) -> Result<(), PoolFailure> {
        let _turn = self.learning.lock().await;
        let now = clock::wall();
        let read = self
            .pool
            .read(move |store| store.tenant_states(now))
            .await?;
        let states: States = read.into_iter().collect();
        self.states.send_if_modified(|known| {
            let is_new = known.as_deref() != Some(&states);
            if is_new {
                *known = Some(Arc::new(states));
            }
            is_new
        });
        Ok(())
    }

    /// Learns which tenants others paused or resumed, as long as the server runs. While the store doesn't answer,
    /// what was known before counts.
    pub(crate) async fn follow_states(of: impl Fn() -> Option<Arc<Self>>) {
        let mut looks = tokio::time::interval(LEARN_STATES_EVERY);
        looks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut was_good = true;
        loop {
            looks.tick().await;
            let Some(state) = of() else { return };
            let learnt = state.learn_states().await;
            if let (Err(failure), true) = (&learnt, was_good) {
                tracing::warn!("cannot read the states of tenants: {failure}");
            }
            was_good = learnt.is_ok();
        }
    }

    pub(crate) async fn change_state(
        &self,
        tenant: &str,
        change: StateChange,
        by: String,
        now: SystemTime,
    ) -> Result<TenantState, NoAnswer> {
        let tenant = tenant.to_owned();
        let changed = self
            .write(move |store| store.change_tenant_state(&tenant, &change, &by, now))
            .await?;
        // It is changed either way; what is not learnt now is learnt soon.
        if let Err(failure) = self.learn_states().await {
            unanswered(&failure);
        }
        Ok(changed)
    }

    /// Whether a session was ended before its time.
    pub(crate) fn has_ended(&self, session: &Session) -> bool {
        self.ended.has(session)
    }

    /// Ends one session, here and wherever the store is read.
    pub(crate) async fn end_session(&self, session: &Session) -> Result<(), NoAnswer> {
        let session = session.clone();
        self.write(move |store| {
            let ending = EndingSession {
                id: &session.id,
                subject: &session.identity.uid,
                expires: session.expires,
            };
            store.end_session(ending, clock::wall())
        })
        .await?;
        self.learn().await.map_err(|failure| unanswered(&failure))
    }

    /// Ends all sessions that a subject has; the last of them would have ended by itself at `until`.
    pub(crate) async fn end_sessions_of(
        &self,
        subject: String,
        until: SystemTime,
    ) -> Result<(), NoAnswer> {
        self.write(move |store| store.end_sessions_of(&subject, clock::wall(), until))
            .await?;
        self.learn().await.map_err(|failure| unanswered(&failure))
    }

    /// Reads which sessions were ended.
    pub(crate) async fn learn(&self) -> Result<(), PoolFailure> {
        let now = clock::wall();
        let ended = self.pool.read(move |store| store.ended_sessions(now)).await;
        self.ended.learn(ended?);
        Ok(())
    }

    /// Learns which sessions others ended, as long as the server runs and there are sessions. While the store
    /// doesn't answer, what was known before counts.
    pub(crate) async fn follow_sessions(&self, are_there_any: impl Fn() -> bool) {
        let mut looks = tokio::time::interval(LEARN_EVERY);
        let mut was_good = true;
        loop {
            looks.tick().await;
            // Without sessions nothing is asked of the store, which may not be there.
            if !are_there_any() {
                continue;
            }
            let learnt = self.learn().await;
            if let (Err(failure), true) = (&learnt, was_good) {
                tracing::warn!("cannot read the list of ended sessions: {failure}");
            }
            was_good = learnt.is_ok();
        }
    }

    /// Ends what has had its time, every now and then, as long as the server runs.
    pub(crate) async fn sweep(self: Arc<Self>) {
        let mut looks = tokio::time::interval(SWEEP_EVERY);
        looks.tick().await;
        loop {
            looks.tick().await;
            let swept = self.pool.write(|store| store.sweep(clock::wall())).await;
            if let Err(failure) = swept {
                tracing::warn!("expired holds and states could not be deleted: {failure}");
            }
        }
    }

    async fn read<T: Send + 'static>(
        &self,
        work: impl Fn(&mut Store) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, NoAnswer> {
        self.pool
            .read(work)
            .await
            .map_err(|failure| unanswered(&failure))
    }

    async fn write<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut Store) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, NoAnswer> {
        self.pool
            .write(work)
            .await
            .map_err(|failure| unanswered(&failure))
    }
}

fn unanswered(failure: &PoolFailure) -> NoAnswer {
    tracing::warn!("the store does not answer: {failure}");
    NoAnswer
}
