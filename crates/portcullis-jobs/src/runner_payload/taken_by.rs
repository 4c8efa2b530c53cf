//! What the body needs beside the job.

use crate::runners::Runner;
use crate::timestamp::Timestamp;

/// Who took a job, and what the server adds to it.
#[derive(Debug, Clone, Copy)]
pub struct TakenBy<'a> {
    /// The runner.
    pub runner: &'a Runner,
    /// The token with which the runner reports on the job.
    pub token: &'a str,
    /// The base of the server's URLs, without a slash at the end.
    pub server_url: &'a str,
    /// How many jobs of the project instance runners have now.
    pub running_on_instance_runners: u64,
    /// Now.
    pub now: Timestamp,
}
