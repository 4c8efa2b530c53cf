//! Artifacts: runners upload and download them.

use std::path::PathBuf;
use std::time::Duration;

use portcullis_jobs::{Expiry, JobId, read_expiry};
use portcullis_store::ArtifactRecord;

use super::Service;
use crate::artifacts::{ARCHIVE, ArtifactUpload, failed, path_of};
use crate::details::{ArtifactDownload, NewArtifact};
use crate::engine::now;
use crate::error::CiError;
use crate::secrets;

/// Artifacts of one job, at most.
const MOST: u64 = 32;
/// Bytes of a name that are kept.
const MOST_NAME_BYTES: usize = 255;

impl Service {
    /// Begins to store an artifact of a job, with the token of the job.
    ///
    /// # Errors
    ///
    /// [`CiError::JobToken`] when the token is wrong, or the job doesn't run; when the job has too many artifacts;
    /// when it can't be stored.
    pub async fn begin_artifact(&self, id: JobId, token: &str) -> Result<ArtifactUpload, CiError> {
        let run = self.running_job(id, token).await?.run;
        let root = self.artifacts_root()?;
        let of = run.clone();
        let count = self
            .inner
            .database
            .read(move |reader| Ok(reader.artifact_count(&of)?));
        if count.await? >= MOST {
            let message = format!("a job has at most {MOST} artifacts");
            return Err(CiError::Conflict(message));
        }
        let counted = self.inner.uploads.begin(id);
        let counted = counted.ok_or(CiError::TooManyRequests {
            retry_after: Duration::from_secs(1),
        })?;
        let most = self.inner.settings().artifacts.max_size.bytes();
        ArtifactUpload::begin(&root, run, most, counted).await
    }

    /// Stores an artifact that was written completely. It takes the place of an earlier one of its kind.
    ///
    /// # Errors
    ///
    /// When its kind is invalid, the job doesn't run any more, or it can't be stored.
    pub async fn finish_artifact(
        &self,
        mut upload: ArtifactUpload,
        new: NewArtifact,
    ) -> Result<u64, CiError> {
        let is_word = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
        if new.kind.is_empty() || new.kind.len() > 64 || !new.kind.chars().all(is_word) {
            let message = "expected a word like `archive`, of lower-case letters, digits and `_`";
            return Err(CiError::invalid("artifact_type", message));
        }
        upload.complete().await?;
        let now = now();
        let expiry = new.expire_in.as_deref().and_then(read_expiry);
        let artifact = ArtifactRecord {
            day: upload.run.day_number(),
            kind: new.kind,
            file: upload.file.clone(),
            name: portcullis_core::text::start(&new.name, MOST_NAME_BYTES).to_owned(),
            size: upload.size,
            created_at: now,
            expires_at: match expiry {
                None | Some(Expiry::Never) => None,
                Some(Expiry::After(time)) => Some(now.after(time)),
            },
        };
        let run = upload.run.clone();
        let store = self.inner.turn(move |turn| {
            turn.lock_run(&run)?;
            Ok(turn.store.put_artifact(&run, &artifact)?)
        });
        let (earlier, after) = store.await?;
        upload.stored();
        self.settle(after);
        if let Some(earlier) = earlier {
            let path = path_of(&self.artifacts_root()?, earlier.day, &earlier.file);
            // What is left goes with its day.
            let _ = tokio::fs::remove_file(path).await;
        }
        Ok(upload.size)
    }

    /// The archive of a job, for its own runner and for jobs that depend on it.
    ///
    /// # Errors
    ///
    /// [`CiError::JobToken`] when the token is wrong; [`CiError::NotFound`] when there is no archive; when it can't be
    /// read.
    pub async fn open_artifact(&self, id: JobId, token: &str) -> Result<ArtifactDownload, CiError> {
        let key = &self.inner.key;
        let found = self.run_of(id).await?.map(|(_, run)| run);
        let tokens = |run: &_| [key.job_token(run), key.artifact_token(run)];
        let is_it = |run: &_| tokens(run).iter().any(|one| secrets::is_same(token, one));
        let run = found.filter(is_it).ok_or(CiError::JobToken(None))?;
        let read = self
            .inner
            .database
            .read(move |reader| Ok(reader.artifact(&run, ARCHIVE)?));
        let found = read.await?;
        let is_live = |one: &ArtifactRecord| one.expires_at.is_none_or(|at| now() < at);
        let artifact = found.filter(is_live).ok_or(CiError::NotFound)?;
        let path = path_of(&self.artifacts_root()?, artifact.day, &artifact.file);
        let file = match tokio::fs::File::open(path).await {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                return Err(CiError::NotFound);
            }
            other => other.map_err(|error| failed(&error))?,
        };
        Ok(ArtifactDownload {
            job: id,
            name: artifact.name,
            size: artifact.size,
            file,
        })
    }

    fn artifacts_root(&self) -> Result<PathBuf, CiError> {
        let path = self.inner.settings().artifacts.path.clone();
        path.ok_or_else(|| CiError::Unavailable("no directory for artifacts is set".to_owned()))
    }
}
