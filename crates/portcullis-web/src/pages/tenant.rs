//! A tenant: whether it is paused, what is queued, which holds there are, and what operators do about it.

pub(super) mod actions;

use serde::Deserialize;

use super::queue::{Counted, Queue};
use crate::backend::{Backend, Pending, Place, Problem};
use crate::form::Action;
use crate::frame::Frame;
use crate::query::{Query, segment};
use crate::reply::{Reply, page_with};
use crate::request::Request;
use crate::route::Route;
use crate::shown::{rfc3339, sentence};

pub(super) const ROUTES: &[Route] = &[Route::page("/tenants/*", show)];

/// Whether a tenant is paused.
#[derive(Debug, Default, Deserialize)]
pub(super) struct State {
    trigger_queue_discarding: bool,
    trigger_queue_paused: bool,
    result_queue_paused: bool,
    pub(super) reason: Option<String>,
    set_by: Option<String>,
    set_at: Option<u64>,
    expires_at: Option<u64>,
}

impl State {
    /// How it is, in words.
    pub(super) fn words(&self) -> &'static str {
        match (
            self.trigger_queue_discarding,
            self.trigger_queue_paused,
            self.result_queue_paused,
        ) {
            (true, ..) => "new pipelines are discarded",
            (_, true, true) => "paused: new pipelines wait, and finished jobs start no next stage",
            (_, true, false) => "paused: new pipelines wait",
            (_, false, true) => "paused: finished jobs start no next stage",
            (false, false, false) => "normal",
        }
    }

    pub(super) fn is_normal(&self) -> bool {
        !self.trigger_queue_discarding && !self.trigger_queue_paused && !self.result_queue_paused
    }
}

#[derive(Debug, Deserialize)]
struct Status {
    pipelines: Vec<PipelineQueue>,
    state: State,
}

#[derive(Debug, Deserialize)]
struct PipelineQueue {
    name: String,
    change_queues: Vec<ChangeQueue>,
}

#[derive(Debug, Deserialize)]
struct ChangeQueue {
    heads: Vec<Vec<Item>>,
}

/// The states of jobs that are not finished.
const UNFINISHED: &[&str] = &["created", "preparing", "pending", "running"];

/// A run of a pipeline that is not finished.
#[derive(Debug, Deserialize)]
struct Item {
    id: Option<String>,
    pipeline: u64,
    project: String,
    #[serde(rename = "ref")]
    git_ref: String,
    status: String,
    enqueue_time: u64,
    jobs: Vec<Job>,
}

#[derive(Debug, Deserialize)]
struct Job {
    id: u64,
    name: String,
    status: String,
}

#[derive(Debug, Deserialize)]
struct Hold {
    id: u64,
    project: String,
    job: String,
    ref_filter: String,
    max_count: u32,
    current_count: u32,
    reason: String,
    expired: Option<u64>,
    nodes: Vec<String>,
    placed_by: String,
    placed_at: u64,
}

/// A run in the table, with what can be done about it.
#[derive(Debug)]
struct Queued {
    name: String,
    item: Item,
    dequeue: Action,
    promote: Action,
}

impl Queued {
    fn since(&self) -> String {
        rfc3339(self.item.enqueue_time / 1000)
    }
}

/// A hold in the table.
#[derive(Debug)]
struct Held {
    hold: Hold,
    release: Action,
}

impl Held {
    fn placed(&self) -> String {
        rfc3339(self.hold.placed_at)
    }
}

/// A form that was filled in wrongly, and what is wrong.
#[derive(Debug, Default)]
pub(super) struct Wrong {
    /// The last segment of the path that it was sent to.
    form: String,
    problem: Option<String>,
    fields: Vec<(String, String)>,
}

/// Forms of the page with fields. What buttons send has no form that could be mended.
const FORMS: &[&str] = &["state", "enqueue", "holds"];

#[derive(Debug, askama::Template)]
#[template(path = "tenant.html")]
struct TenantPage {
    frame: Frame,
    csrf: String,
    path: String,
    state: State,
    /// Jobs that are not finished, counted.
    counts: Option<Queue>,
    queue: Vec<Queued>,
    holds: Vec<Held>,
    /// Why the person may not use a form; nothing if they may.
    no_state: Option<String>,
    no_hold: Option<String>,
    no_enqueue: Option<String>,
    wrong: Wrong,
}

impl TenantPage {
    /// What is wrong with a form; nothing if it was not sent.
    fn wrong_in(&self, form: &str) -> Option<&str> {
        let problem = self.wrong.problem.as_deref();
        problem.filter(|_| self.wrong.form == form)
    }

    /// What is wrong where no form could be mended.
    fn wrong_elsewhere(&self) -> Option<&str> {
        let is_shown = FORMS.contains(&self.wrong.form.as_str());
        self.wrong.problem.as_deref().filter(|_| !is_shown)
    }

    /// What was typed in a form.
    fn typed(&self, form: &str, name: &str) -> &str {
        let fields = self.wrong.fields.iter();
        let mut fields = fields.filter(|_| self.wrong.form == form);
        let found = fields.find(|(own, _)| own == name);
        found.map_or("", |(_, value)| value.as_str())
    }

    /// Whether a box is checked: as it was sent, or as the state is.
    fn is_checked(&self, name: &str, is_so: &bool) -> bool {
        match self.wrong_in("state") {
            Some(_) => !self.typed("state", name).is_empty(),
            None => *is_so,
        }
    }

    fn set_at(&self) -> String {
        self.state.set_at.map(rfc3339).unwrap_or_default()
    }

    fn expires_at(&self) -> String {
        self.state.expires_at.map(rfc3339).unwrap_or_default()
    }
}

fn show(request: Request<'_>) -> Pending<'_, Result<Reply, Problem>> {
    Box::pin(async move {
        request.query(&[])?;
        shown(&request, 200, Wrong::default()).await
    })
}

/// The page, perhaps with a form that was filled in wrongly.
async fn shown(request: &Request<'_>, status: u16, wrong: Wrong) -> Result<Reply, Problem> {
    let name = request.value(0);
    let backend = request.backend;
    let api = format!("/api/tenant/{}", segment(name));
    let found: Status = backend.get(&format!("{api}/status")).await?;
    let mut holds: Vec<Hold> = backend.get(&format!("{api}/autohold")).await?;
    holds.retain(|hold| hold.expired.is_none() || !hold.nodes.is_empty());
    let of_tenant = Query::default().with("tenant", name);
    let counts = match backend
        .get::<Counted>(&of_tenant.of("/api/v1/jobs/summary"))
        .await
    {
        // Jobs are not served.
        Err(problem) if problem.status == 404 => None,
        counted => Some(Queue::new(&counted?, UNFINISHED, &of_tenant)),
    };
    let place = Place::Tenant(name);
    let path = format!("/tenants/{}", segment(name));
    let page = TenantPage {
        // A form that is shown again has the path of what it was sent to.
        frame: request
            .frame(format!("Tenant {name}"))
            .live_if(wrong.problem.is_none()),
        csrf: request.person().csrf.clone(),
        state: found.state,
        counts,
        queue: queue(backend, &path, place, found.pipelines),
        holds: held(backend, &path, place, holds),
        no_state: backend.refusal("tenant-state", place),
        no_hold: backend.refusal("autohold", place),
        no_enqueue: backend.refusal("enqueue", place),
        path,
        wrong,
    };
    page_with(status, &page)
}

/// The page once more, with what was typed and what is wrong with it.
async fn again(request: &Request<'_>, problem: Problem) -> Result<Reply, Problem> {
    let form = request.path.rsplit('/').next();
    let wrong = Wrong {
        form: form.unwrap_or_default().to_owned(),
        problem: Some(sentence(&problem.message)),
        fields: request.form.clone(),
    };
    shown(request, problem.status, wrong).await
}

fn queue(
    backend: &dyn Backend,
    path: &str,
    place: Place<'_>,
    pipelines: Vec<PipelineQueue>,
) -> Vec<Queued> {
    let mut all = Vec::new();
    for pipeline in pipelines {
        let queues = pipeline.change_queues.into_iter();
        for item in queues.flat_map(|queue| queue.heads).flatten() {
            let which = vec![
                ("project", item.project.clone()),
                ("pipeline", pipeline.name.clone()),
                match &item.id {
                    Some(change) => ("change", change.clone()),
                    None => ("ref", item.git_ref.clone()),
                },
            ];
            let dequeue = format!("{path}/dequeue");
            let promote = format!("{path}/promote");
            let no_change = item.id.is_none();
            let no_change = no_change.then_some("only changes can be promoted, not refs");
            all.push(Queued {
                name: pipeline.name.clone(),
                dequeue: Action::new(backend, "Dequeue", dequeue, ("dequeue", place))
                    .about(which.clone())
                    .asking(),
                promote: Action::new(backend, "Promote", promote, ("promote", place))
                    .about(which)
                    .unless(no_change),
                item,
            });
        }
    }
    all
}

fn held(backend: &dyn Backend, path: &str, place: Place<'_>, holds: Vec<Hold>) -> Vec<Held> {
    let with_action = |hold: Hold| {
        let to = format!("{path}/holds/{}/release", hold.id);
        Held {
            release: Action::new(backend, "Release", to, ("autohold", place)).asking(),
            hold,
        }
    };
    holds.into_iter().map(with_action).collect()
}

#[cfg(test)]
mod tests;
