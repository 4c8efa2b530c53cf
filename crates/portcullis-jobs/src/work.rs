//! What a runner needs of a job beside its script: what comes before and after it, services, artifacts and caches.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The parts of a job that only its runner reads.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct JobWork {
    /// Commands before those of the script, in the same shell.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub before_script: Vec<String>,
    /// Commands after it, whether it succeeded or not.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub after_script: Vec<String>,
    /// Images of services beside the job.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub services: Vec<String>,
    /// What the runner uploads afterwards.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub artifacts: Option<Artifacts>,
    /// What the runner keeps between jobs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cache: Option<Cache>,
    /// The names of the jobs whose artifacts it gets; those of all earlier stages if there is no list.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dependencies: Option<Vec<String>>,
}

impl JobWork {
    /// Whether it uploads artifacts.
    pub fn has_artifacts(&self) -> bool {
        let has_any = |artifacts: &Artifacts| !artifacts.paths.is_empty() || artifacts.untracked;
        self.artifacts.as_ref().is_some_and(has_any)
    }
}

impl JobWork {
    /// Whether nothing of it was submitted.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// When artifacts are uploaded or a cache is saved.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SaveWhen {
    /// The script succeeded.
    #[default]
    OnSuccess,
    /// It failed.
    OnFailure,
    /// In any case.
    Always,
}

/// What a runner uploads after a job.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Artifacts {
    /// Files and directories, with `*` and `**`.
    pub paths: Vec<String>,
    /// Those among them that are left out.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub exclude: Vec<String>,
    /// The name of the archive, without its extension.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Whether files that Git does not track are uploaded too.
    pub untracked: bool,
    /// When they are uploaded.
    pub when: SaveWhen,
    /// How long they are kept, like `1 week`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expire_in: Option<String>,
}

/// Which way a cache goes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum CachePolicy {
    /// It is restored before the job and saved after it.
    #[default]
    #[serde(rename = "pull-push")]
    PullPush,
    /// It is only restored.
    #[serde(rename = "pull")]
    Pull,
    /// It is only saved.
    #[serde(rename = "push")]
    Push,
}

/// What a runner keeps between jobs.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Cache {
    /// Jobs with the same key share it; `default` by default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// Files and directories.
    pub paths: Vec<String>,
    /// Whether files that Git does not track are kept too.
    pub untracked: bool,
    /// Which way it goes.
    pub policy: CachePolicy,
    /// When it is saved.
    pub when: SaveWhen,
}
