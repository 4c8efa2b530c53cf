//! Where the sources of a job are, as far as that is known.
//!
//! Portcullis has no repositories: whoever submits a job says with GitLab's variables where its sources are.

use serde::Serialize;

use crate::job::JobDefinition;

/// What GitLab writes where there is no commit.
const NO_COMMIT: &str = "0000000000000000000000000000000000000000";

#[derive(Debug, Serialize)]
pub(super) struct GitInfo {
    repo_url: String,
    #[serde(rename = "ref")]
    git_ref: String,
    sha: String,
    before_sha: String,
    ref_type: &'static str,
    refspecs: Vec<String>,
    depth: u32,
    protected: bool,
}

impl GitInfo {
    pub(super) fn of(definition: &JobDefinition, server_url: &str) -> Self {
        let given = |name: &str| {
            let variable = definition.variables.get(name);
            let value = variable.map(|variable| variable.value.clone());
            value.filter(|value| !value.is_empty())
        };
        let git_ref = definition.git_ref.clone();
        let is_tag = given("CI_COMMIT_TAG").is_some();
        let (ref_type, refspec) = match is_tag {
            true => ("tag", format!("+refs/tags/{git_ref}:refs/tags/{git_ref}")),
            false => (
                "branch",
                format!("+refs/heads/{git_ref}:refs/remotes/origin/{git_ref}"),
            ),
        };
        let depth = given("GIT_DEPTH").and_then(|depth| depth.parse().ok());
        // Runners name the directories of builds after it, so that projects don't share one.
        let repo_url = given("CI_REPOSITORY_URL")
            .unwrap_or_else(|| format!("{server_url}/{}.git", definition.project));
        Self {
            repo_url,
            git_ref,
            sha: given("CI_COMMIT_SHA").unwrap_or_else(|| NO_COMMIT.to_owned()),
            before_sha: given("CI_COMMIT_BEFORE_SHA").unwrap_or_else(|| NO_COMMIT.to_owned()),
            ref_type,
            refspecs: vec![refspec],
            depth: depth.unwrap_or(20),
            protected: definition.ref_protected,
        }
    }
}
