//! The real program, and runners that others wrote: the crate `gitlab-runner`, and GitLab's own program where
//! `GITLAB_RUNNER` names it. `scripts/test-runners` runs this.

mod crate_runner;
mod program;
mod server;
