//! What all clones of a service share.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use portcullis_core::sync::{Mutex, RwLock};
use portcullis_jobs::ControllerId;
use portcullis_store::{ControllerRecord, WillChange};
use tokio::sync::{Notify, watch};
use tokio::task::JoinSet;

use crate::artifacts::Uploads;
use crate::backlog::Backlog;
use crate::database::Database;
use crate::engine::{Aftermath, Turn, World};
use crate::error::CiError;
use crate::gate::Gate;
use crate::ids::IdPool;
use crate::judge::PolicyJudge;
use crate::lanes::Lanes;
use crate::queue::Queue;
use crate::recorder::{Observation, Recorder};
use crate::secrets::ServerKey;
use crate::settings::Settings;
use crate::view::JobViewer;

/// What all clones of a service share.
#[derive(Debug)]
pub(crate) struct Inner {
    pub(crate) database: Database,
    settings: RwLock<Arc<Settings>>,
    judge: RwLock<Arc<dyn PolicyJudge>>,
    gate: RwLock<Arc<dyn Gate>>,
    pub(crate) recorder: Arc<dyn Recorder>,
    pub(crate) key: Arc<ServerKey>,
    /// A name that no other server has.
    pub(crate) name: String,
    /// There may be something to deliver.
    pub(crate) due: Notify,
    /// Half of what may be under way to a controller is free.
    pub(crate) half_free: Notify,
    /// There may be something to claim: the number is raised.
    pub(crate) claimable: watch::Sender<u64>,
    /// Whether the service is shutting down.
    pub(crate) stopping: watch::Sender<bool>,
    /// Whether requests are answered at once, because the server is about to end.
    pub(crate) is_hurrying: AtomicBool,
    /// What is under way in the background.
    pub(crate) tasks: Mutex<JoinSet<()>>,
    pub(crate) backlog: Backlog,
    pub(crate) lanes: Lanes,
    pub(crate) ids: IdPool,
    pub(crate) queue: Queue,
    pub(crate) uploads: Uploads,
}

impl Inner {
    pub(crate) fn new(
        database: Database,
        settings: Settings,
        judge: Arc<dyn PolicyJudge>,
        recorder: Arc<dyn Recorder>,
        gate: Arc<dyn Gate>,
        key: ServerKey,
        name: String,
    ) -> Self {
        Self {
            database,
            settings: RwLock::new(Arc::new(settings)),
            judge: RwLock::new(judge),
            gate: RwLock::new(gate),
            recorder,
            key: Arc::new(key),
            name,
            due: Notify::new(),
            half_free: Notify::new(),
            claimable: watch::Sender::new(0),
            stopping: watch::Sender::new(false),
            is_hurrying: AtomicBool::new(false),
            tasks: Mutex::new(JoinSet::new()),
            backlog: Backlog::default(),
            lanes: Lanes::default(),
            ids: IdPool::default(),
            queue: Queue::default(),
            uploads: Uploads::default(),
        }
    }

    pub(crate) fn settings(&self) -> Arc<Settings> {
        Arc::clone(&self.settings.read())
    }

    pub(crate) fn change(&self, settings: Settings) {
        *self.settings.write() = Arc::new(settings);
        self.lanes.forget_clients();
    }

    pub(crate) fn judge(&self) -> Arc<dyn PolicyJudge> {
        Arc::clone(&self.judge.read())
    }

    pub(crate) fn set_judge(&self, judge: Arc<dyn PolicyJudge>) {
        *self.judge.write() = judge;
    }

    pub(crate) fn gate(&self) -> Arc<dyn Gate> {
        Arc::clone(&self.gate.read())
    }

    /// Shows jobs.
    pub(crate) fn job_viewer(&self) -> JobViewer {
        JobViewer::new(self.gate(), Arc::clone(self.database.known()))
    }

    pub(crate) fn set_gate(&self, gate: Arc<dyn Gate>) {
        *self.gate.write() = gate;
    }

    pub(crate) fn is_stopping(&self) -> bool {
        *self.stopping.borrow()
    }

    /// Whether no request is held any more.
    pub(crate) fn holds_nothing(&self) -> bool {
        self.is_hurrying.load(Ordering::Relaxed) || self.is_stopping()
    }

    /// Runs something in the background, until the service is shut down.
    pub(crate) fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        let mut tasks = self.tasks.lock();
        // Those that ended would stay in memory.
        while tasks.try_join_next().is_some() {}
        tasks.spawn(task);
    }

    pub(crate) fn trouble(&self, error: &CiError) {
        let error = error.to_string();
        self.recorder.observe(&Observation::Trouble { error });
    }

    pub(crate) fn world(&self) -> World {
        World {
            settings: self.settings(),
            has_ci_policies: self.judge().has_ci_policies(),
            key: Arc::clone(&self.key),
            gate: self.gate(),
            recorder: Arc::clone(&self.recorder),
            known: Arc::clone(self.database.known()),
        }
    }

    /// Runs a turn in a transaction. What is to be done afterwards is still to be done.
    pub(crate) async fn turn<T: Send + 'static>(
        &self,
        work: impl FnMut(&mut Turn<'_, '_>) -> Result<T, CiError> + Send + 'static,
    ) -> Result<(T, Aftermath), CiError> {
        self.turn_on(WillChange::default(), work).await
    }

    /// The same for one that knows what it will change.
    pub(crate) async fn turn_on<T: Send + 'static>(
        &self,
        changes: WillChange,
        mut work: impl FnMut(&mut Turn<'_, '_>) -> Result<T, CiError> + Send + 'static,
    ) -> Result<(T, Aftermath), CiError> {
        let world = self.world();
        let turn = move |store: &mut portcullis_store::JobsTransaction<'_>| {
            let mut turn = Turn::new(store, &world);
            let done = work(&mut turn)?;
            Ok((done, turn.finish()?))
        };
        self.database.write_to(changes, turn).await
    }

    /// A controller with its secrets.
    pub(crate) async fn controller_record(
        &self,
        id: ControllerId,
    ) -> Result<ControllerRecord, CiError> {
        let read = self
            .database
            .read(move |reader| reader.controller(id)?.ok_or(CiError::NotFound));
        read.await
    }

    /// Tells the recorder, and wakes whoever has something to do. Gives what this server is to evaluate.
    pub(crate) fn settle(&self, after: Aftermath) -> Vec<crate::engine::Question> {
        for project in &after.began {
            self.backlog.began(project);
        }
        for project in &after.ended {
            self.backlog.ended(project);
        }
        for observation in &after.observations {
            self.recorder.observe(observation);
        }
        for record in after.records {
            (record.stored)();
        }
        self.queue.change(after.queue);
        if after.has_deliveries {
            self.wake();
        }
        after.questions
    }

    /// There may be something to deliver or to claim.
    pub(crate) fn wake(&self) {
        self.due.notify_one();
        self.claimable
            .send_modify(|number| *number = number.wrapping_add(1));
    }

    /// Whether a controller is known to have been changed since: its clients are made anew.
    pub(crate) fn controller_changed(&self, id: ControllerId) {
        self.lanes.forget(id);
        self.wake();
    }
}
