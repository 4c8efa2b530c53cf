//! What is submitted, and what must become of it.
//!
//! A job's ref says who denies it: `deny-NAME` is denied by the controller NAME, every other ref is accepted. Who accepts
//! adds a tag with its name, so that the tags of a job say who accepted it, in which order, and how often.

use serde_json::{Value, json};

/// How a controller is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum How {
    /// In the server, by a policy.
    Policy,
    /// By a webhook that answers itself.
    Inline,
    /// By a webhook that calls back.
    Callback,
    /// It claims jobs.
    Pull,
    /// By a webhook that never says anything.
    Silent,
}

/// A controller of a project.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Controller {
    pub(crate) name: &'static str,
    pub(crate) project: &'static str,
    pub(crate) how: How,
}

const fn controller(name: &'static str, project: &'static str, how: How) -> Controller {
    Controller { name, project, how }
}

/// All controllers; those of one project in the order in which they are asked.
pub(crate) const CONTROLLERS: &[Controller] = &[
    controller("rules", "policy/app", How::Policy),
    controller("inline", "inline/app", How::Inline),
    controller("callback", "callback/app", How::Callback),
    controller("pull", "pull/app", How::Pull),
    controller("silent", "silent/app", How::Silent),
    controller("first", "chain/app", How::Inline),
    controller("second", "chain/app", How::Policy),
    controller("third", "chain/app", How::Pull),
    controller("fourth", "chain/app", How::Callback),
];

/// The project without a controller.
pub(crate) const PLAIN: &str = "plain/app";
/// The project whose policy is evaluated in the server.
pub(crate) const POLICY: &str = "policy/app";
/// The project whose controller never answers.
pub(crate) const SILENT: &str = "silent/app";
/// The projects whose jobs are all decided before their deadline.
pub(crate) const PROJECTS: &[&str] = &[
    PLAIN,
    POLICY,
    "inline/app",
    "callback/app",
    "pull/app",
    "chain/app",
];

/// The controllers of a project, in the order in which they are asked.
pub(crate) fn chain(project: &str) -> impl Iterator<Item = &'static Controller> {
    let all = CONTROLLERS.iter();
    all.filter(move |controller| controller.project == project)
}

/// Whether a controller denies jobs with this ref.
pub(crate) fn denies(controller: &str, git_ref: &str) -> bool {
    git_ref.strip_prefix("deny-") == Some(controller)
}

/// What must become of a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Becomes {
    /// Its controllers decide: it is pending, or denied by one of them.
    Decided,
    /// No controller answers: it fails at its deadline.
    TimedOut,
    /// The stage before it is never over.
    Created,
    /// A job of the stage before it was denied.
    Skipped,
}

/// A job that is submitted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Planned {
    /// No other job has this name.
    pub(crate) name: String,
    pub(crate) project: String,
    pub(crate) git_ref: String,
    pub(crate) becomes: Becomes,
}

impl Planned {
    pub(crate) fn new(name: impl Into<String>, project: &str, git_ref: &str) -> Self {
        let becomes = match project {
            SILENT => Becomes::TimedOut,
            _ => Becomes::Decided,
        };
        Self {
            name: name.into(),
            project: project.to_owned(),
            git_ref: git_ref.to_owned(),
            becomes,
        }
    }

    /// Who denies it, if anyone does.
    pub(crate) fn denied_by(&self) -> Option<&'static str> {
        let mut chain = chain(&self.project);
        let denier = chain.find(|controller| denies(controller.name, &self.git_ref));
        denier.map(|controller| controller.name)
    }

    /// Its status in the end, and why it failed.
    pub(crate) fn end(&self) -> (&'static str, Option<&'static str>) {
        match (self.becomes, self.denied_by()) {
            (Becomes::Decided, None) => ("pending", None),
            (Becomes::Decided, Some(_)) => ("failed", Some("admission_denied")),
            (Becomes::TimedOut, _) => ("failed", Some("admission_timeout")),
            (Becomes::Created, _) => ("created", None),
            (Becomes::Skipped, _) => ("skipped", None),
        }
    }

    /// What its controllers say in each attempt, in order: their names and verdicts.
    pub(crate) fn verdicts(&self) -> Vec<(&'static str, &'static str)> {
        let mut all = Vec::new();
        match self.becomes {
            Becomes::Created | Becomes::Skipped => return all,
            Becomes::TimedOut => {
                all.extend(chain(&self.project).map(|controller| (controller.name, "timeout")));
                return all;
            }
            Becomes::Decided => {}
        }
        for controller in chain(&self.project) {
            if denies(controller.name, &self.git_ref) {
                all.push((controller.name, "denied"));
                break;
            }
            all.push((controller.name, "accepted"));
        }
        all
    }

    /// Its tags in the end.
    pub(crate) fn tags(&self) -> Vec<&'static str> {
        let verdicts = self.verdicts().into_iter();
        let accepted = verdicts.filter(|(_, verdict)| *verdict == "accepted");
        std::iter::once("linux")
            .chain(accepted.map(|(name, _)| name))
            .collect()
    }

    fn body(&self) -> Value {
        json!({"name": self.name, "tags": ["linux"], "script": ["true"]})
    }
}

/// The body of a submission: one job, or a pipeline with two stages.
pub(crate) fn submission(jobs: &[Planned]) -> (&'static str, Value) {
    let first = &jobs[0];
    let mut body = match jobs {
        [job] => job.body(),
        [first, second] => {
            let mut all = json!([first.body(), second.body()]);
            all[0]["stage"] = json!("build");
            all[1]["stage"] = json!("test");
            json!({"stages": ["build", "test"], "jobs": all})
        }
        _ => unreachable!("a submission has one or two jobs"),
    };
    body["project"] = json!(first.project);
    body["ref"] = json!(first.git_ref);
    body["ref_protected"] = json!(false);
    body["user"] = json!({"id": 1, "username": "alice"});
    match jobs.len() {
        1 => ("/api/v1/jobs", body),
        _ => ("/api/v1/pipelines", body),
    }
}
