//! A registered runner.

use portcullis_core::vocabulary;
use serde::{Deserialize, Serialize};

use crate::paths::is_in_group;

/// The number of a runner.
pub type RunnerId = u64;

vocabulary! {
    /// Whose jobs a runner takes.
    pub enum RunnerType {
        /// Those of every project.
        Instance = "instance_type",
        /// Those of the projects in a group, at any depth.
        Group = "group_type",
        /// Those of one project.
        Project = "project_type",
    }
}

vocabulary! {
    /// Which refs a runner takes jobs of.
    pub enum AccessLevel {
        /// All refs.
        NotProtected = "not_protected",
        /// Protected refs only.
        RefProtected = "ref_protected",
    }
}

/// A registered runner. The words are those of GitLab's API.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Runner {
    /// Its number.
    pub id: RunnerId,
    /// Whose jobs it takes.
    #[serde(rename = "runner_type")]
    pub kind: RunnerType,
    /// The path of its group or project; none for instance runners.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// For people.
    #[serde(default)]
    pub description: String,
    /// What it offers.
    #[serde(default, rename = "tag_list")]
    pub tags: Vec<String>,
    /// Whether it takes jobs without tags.
    #[serde(default)]
    pub run_untagged: bool,
    /// Which refs it takes jobs of.
    pub access_level: AccessLevel,
    /// Whether it takes no jobs for now.
    #[serde(default)]
    pub paused: bool,
    /// Whether it can't be assigned to further projects; without effect on matching.
    #[serde(default)]
    pub locked: bool,
}

impl Runner {
    /// Whether it is there for jobs of this project.
    pub fn serves(&self, project: &str) -> bool {
        let path = self.path.as_deref();
        match self.kind {
            RunnerType::Instance => true,
            RunnerType::Group => path.is_some_and(|group| is_in_group(project, group)),
            RunnerType::Project => path == Some(project),
        }
    }
}
