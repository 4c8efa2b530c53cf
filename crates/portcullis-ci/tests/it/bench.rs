//! A service on a store of its own, with a webhook to ask.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use portcullis_ci::{
    CreatedController, DeliveryDetails, DeliveryFilter, FinishedAdmission, JobDetails, NewRunner,
    PageRequest, Service, Settings,
};
use portcullis_jobs::{
    AccessLevel, ControllerDefinition, JobId, JobStatus, RunnerType, read_job, read_pipeline,
};
use portcullis_store::{Location, Mode, Store};
use portcullis_testing::{PATIENCE, Reply, Request, Server};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::judge::{FakeJudge, Memory, surroundings};

/// Where callbacks would go.
pub(crate) const PUBLIC_URL: &str = "https://portcullis.example";

pub(crate) struct Bench {
    pub(crate) service: Service,
    pub(crate) hook: Server,
    pub(crate) judge: Arc<FakeJudge>,
    pub(crate) memory: Arc<Memory>,
    pub(crate) location: Location,
    pub(crate) settings: Settings,
    _folder: TempDir,
}

impl Bench {
    pub(crate) async fn new() -> Self {
        Self::with(|_| {}).await
    }

    /// With other settings.
    pub(crate) async fn with(change: impl FnOnce(&mut Settings)) -> Self {
        let folder = TempDir::new().unwrap();
        let location = Location::in_directory(&folder.path().join("data"));
        Self::at(location, folder, change).await
    }

    /// On PostgreSQL.
    pub(crate) async fn on_postgres(change: impl FnOnce(&mut Settings)) -> Self {
        let url = tokio::task::spawn_blocking(|| {
            let server = portcullis_testing::Postgres::shared();
            server.url(&server.database())
        });
        let location = Location::parse(&url.await.unwrap(), Path::new("/")).unwrap();
        Self::at(location, TempDir::new().unwrap(), change).await
    }

    /// On the database with this address.
    pub(crate) async fn at_url(url: &str) -> Self {
        let location = Location::parse(url, Path::new("/")).unwrap();
        Self::at(location, TempDir::new().unwrap(), |_| {}).await
    }

    async fn at(location: Location, folder: TempDir, change: impl FnOnce(&mut Settings)) -> Self {
        let hook = Server::http(accepts);
        let mut settings = Settings {
            public_url: Some(PUBLIC_URL.to_owned()),
            ..Settings::default()
        };
        // Tests in which no runner reports must not lose their jobs on a slow machine.
        settings.runners.lease = portcullis_document::Duration::from_secs(3600);
        settings.webhooks.allow.push(hook.place());
        settings.artifacts.path = Some(folder.path().join("artifacts"));
        change(&mut settings);
        let (judge, memory) = surroundings();
        let service = Service::open(
            &location,
            settings.clone(),
            Arc::clone(&judge) as _,
            Arc::clone(&memory) as _,
        );
        Self {
            service: service.await.unwrap(),
            hook,
            judge,
            memory,
            location,
            settings,
            _folder: folder,
        }
    }

    /// Another server on the same store.
    pub(crate) async fn another(&self) -> (Service, Arc<Memory>) {
        let memory = Arc::new(Memory::default());
        let service = Service::open(
            &self.location,
            self.settings.clone(),
            Arc::clone(&self.judge) as _,
            Arc::clone(&memory) as _,
        );
        (service.await.unwrap(), memory)
    }

    /// Registers an instance controller at the webhook, with these keys as well.
    pub(crate) async fn controller(&self, keys: Value) -> CreatedController {
        let mut body = json!({"name": "C", "level": "instance", "kind": "both",
            "url": format!("{}/hook", self.hook.url())});
        for key in ["policy", "pull"] {
            if keys.get(key).is_some() {
                body.as_object_mut().unwrap().remove("url");
            }
        }
        for (key, value) in keys.as_object().unwrap() {
            body[key] = value.clone();
        }
        let definition = ControllerDefinition::read(&body).unwrap();
        self.service.add_controller(definition).await.unwrap()
    }

    /// Registers the runners of the cases: their ids are 1 to 6.
    pub(crate) async fn runners(&self) {
        use RunnerType::{Group, Instance, Project};
        for (kind, path, tags, run_untagged) in [
            (Instance, None, "docker linux", false),
            (Instance, None, "linux us-west", true),
            (Group, Some("g"), "linux", false),
            (Project, Some("g/p"), "secure", false),
            (Instance, None, "", true),
            (Instance, None, "linux us-west", true),
        ] {
            let new = NewRunner {
                kind,
                path: path.map(str::to_owned),
                description: String::new(),
                tags: words(tags),
                run_untagged,
                access_level: match kind {
                    Project => AccessLevel::RefProtected,
                    _ => AccessLevel::NotProtected,
                },
                paused: false,
                locked: false,
            };
            self.service.add_runner(new).await.unwrap();
        }
        let paused = json!({"paused": true});
        self.service.change_runner(6, paused).await.unwrap();
    }

    /// Does something with the store itself, as another server would.
    pub(crate) async fn in_store<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut Store) -> T + Send + 'static,
    ) -> T {
        let location = self.location.clone();
        let done = tokio::task::spawn_blocking(move || {
            let mut store = Store::open(&location, Mode::ReadWrite).unwrap();
            work(&mut store)
        });
        done.await.unwrap()
    }

    pub(crate) async fn submit(&self, keys: Value) -> JobDetails {
        let definition = read_job(&job(&keys)).unwrap();
        self.service.submit_job(definition).await.unwrap()
    }

    pub(crate) async fn submit_pipeline(&self, jobs: Value) -> u64 {
        let body = json!({"project": "g/p", "ref": "main", "source": "push",
            "user": {"id": 7, "username": "ann"}, "stages": ["build", "test"], "jobs": jobs});
        let definition = read_pipeline(&body).unwrap();
        self.service.submit_pipeline(definition).await.unwrap().id
    }

    /// The job once this is so.
    pub(crate) async fn job_when(
        &self,
        id: JobId,
        what: &str,
        is_so: impl Fn(&JobDetails) -> bool,
    ) -> JobDetails {
        let mut last = None;
        for _ in 0..PATIENCE.as_millis() / 10 {
            let job = self.service.job(id).await.unwrap();
            if is_so(&job) {
                return job;
            }
            last = Some(job);
            pause().await;
        }
        panic!("never happened: {what}: {last:?}");
    }

    /// The job once its admission is over.
    pub(crate) async fn settled(&self, id: JobId) -> JobDetails {
        let is_settled =
            |job: &JobDetails| !matches!(job.status, JobStatus::Created | JobStatus::Preparing);
        self.job_when(id, "the admission ends", is_settled).await
    }

    /// The deliveries of a job, the newest first.
    pub(crate) async fn deliveries(&self, job: JobId) -> Vec<DeliveryDetails> {
        let filter = DeliveryFilter {
            job: Some(job),
            controller: None,
        };
        let page = self.service.deliveries(filter, PageRequest::default());
        page.await.unwrap().items
    }

    /// The newest delivery of a job once this is so.
    pub(crate) async fn delivery_when(
        &self,
        job: JobId,
        what: &str,
        is_so: impl Fn(&DeliveryDetails) -> bool,
    ) -> DeliveryDetails {
        let mut last = None;
        for _ in 0..PATIENCE.as_millis() / 10 {
            last = self.deliveries(job).await.into_iter().next();
            if let Some(delivery) = last.clone().filter(&is_so) {
                return delivery;
            }
            pause().await;
        }
        panic!("never happened: {what}: {last:?}");
    }

    /// The admissions that were recorded, once there are so many.
    pub(crate) async fn finished(&self, count: usize) -> Vec<FinishedAdmission> {
        let is_told = || self.memory.finished().len() >= count;
        until("admissions are recorded", is_told).await;
        let finished = self.memory.finished();
        assert_eq!(finished.len(), count, "one record for each attempt");
        finished
    }

    /// The entries that the webhook got.
    pub(crate) fn entries(&self) -> Vec<Value> {
        let requests = self.hook.requests();
        requests
            .iter()
            .map(|request| request.json()[0].clone())
            .collect()
    }
}

pub(crate) async fn pause() {
    tokio::time::sleep(Duration::from_millis(10)).await;
}

/// Asks until it is so.
pub(crate) async fn until(what: &str, is_so: impl Fn() -> bool) {
    for _ in 0..PATIENCE.as_millis() / 10 {
        if is_so() {
            return;
        }
        pause().await;
    }
    panic!("never happened: {what}");
}

/// The job of the cases, with other keys.
pub(crate) fn job(keys: &Value) -> Value {
    let mut body = json!({"project": "g/p", "name": "J", "ref": "main", "ref_protected": false,
        "user": {"id": 7, "username": "ann"}, "tags": ["linux"], "script": ["true"]});
    for (key, value) in keys.as_object().unwrap() {
        body[key] = value.clone();
    }
    body
}

pub(crate) fn words(text: &str) -> Vec<String> {
    text.split_whitespace().map(str::to_owned).collect()
}

/// The number of the job that a webhook is about.
pub(crate) fn id_of(request: &Request) -> u64 {
    request.json()[0]["id"].as_u64().unwrap()
}

/// Accepts every job.
pub(crate) fn accepts(request: &Request) -> Reply {
    Reply::json(&json!([{"id": id_of(request), "admission": "accepted"}]))
}

/// Answers with a verdict that has these keys.
pub(crate) fn answers(keys: Value) -> impl Fn(&Request) -> Reply + Send + Sync {
    move |request| {
        let mut verdict = json!({"id": id_of(request), "admission": "accepted"});
        for (key, value) in keys.as_object().unwrap() {
            verdict[key] = value.clone();
        }
        Reply::json(&json!([verdict]))
    }
}

/// Answers with a status only.
pub(crate) fn status(status: u16) -> impl Fn(&Request) -> Reply + Send + Sync {
    move |_| Reply::Status(status, "", String::new())
}
