//! Refusing submissions of projects with too many jobs that wait.

use std::time::Duration;

use portcullis_jobs::JobStatus;

use crate::error::CiError;
use crate::inner::Inner;
use crate::recorder::Observation;

/// When a refused submission may be tried again.
const PAUSE: Duration = Duration::from_secs(10);
/// A number from the store is good for so long.
const FRESH: Duration = Duration::from_secs(5);

impl Inner {
    /// Whether so many more jobs of a project may wait.
    pub(crate) async fn check_backlog(&self, project: &str, more: usize) -> Result<(), CiError> {
        let most = usize::try_from(self.settings().max_backlog).unwrap_or(usize::MAX);
        // A whole pipeline is accepted as soon as there is any room, since it could be larger than all of it.
        let is_full = |jobs: usize| jobs >= most && more > 0;
        let known = self.backlog.known(project);
        let jobs = match known {
            Some(known) if !is_full(known.jobs) || known.counted.elapsed() < FRESH => known.jobs,
            _ => {
                let of = project.to_owned();
                let count = self
                    .database
                    .read(move |reader| Ok(reader.count_jobs(&of, JobStatus::Preparing, most)?));
                let jobs = count.await?;
                self.backlog.set(project, jobs);
                jobs
            }
        };
        if is_full(jobs) {
            let project = project.to_owned();
            self.recorder.observe(&Observation::Overload { project });
            return Err(CiError::TooManyRequests { retry_after: PAUSE });
        }
        Ok(())
    }
}
