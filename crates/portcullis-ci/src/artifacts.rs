//! The files of artifacts: a directory for each day on which jobs began, and in it one file for each artifact.
//!
//! No name comes from outside: runners' names are only stored. A file is complete and on disk before it has its name.

use std::collections::HashMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use portcullis_core::sync::Mutex;
use portcullis_jobs::{JobId, Timestamp};
use portcullis_store::JobRun;
use tokio::io::AsyncWriteExt as _;

use crate::error::CiError;
use crate::secrets;

/// The kind of artifact that other jobs get.
pub(crate) const ARCHIVE: &str = "archive";
/// Uploads of one job at once, at most.
const MOST_AT_ONCE: usize = 4;
/// The end of the name of a file that is not complete.
const PART: &str = ".part";
/// Milliseconds of a day.
const DAY: u64 = 86_400_000;

/// How many uploads each job has under way at this server.
#[derive(Debug, Clone, Default)]
pub(crate) struct Uploads(Arc<Mutex<HashMap<JobId, usize>>>);

impl Uploads {
    /// Counts another one, unless there are too many.
    pub(crate) fn begin(&self, job: JobId) -> Option<Counted> {
        let mut all = self.0.lock();
        let count = all.entry(job).or_default();
        if *count >= MOST_AT_ONCE {
            return None;
        }
        *count += 1;
        Some(Counted(self.clone(), job))
    }
}

/// One upload that counts until it is dropped.
#[derive(Debug)]
pub(crate) struct Counted(Uploads, JobId);

impl Drop for Counted {
    fn drop(&mut self) {
        let mut all = self.0.0.lock();
        if let Some(count) = all.get_mut(&self.1) {
            *count = count.saturating_sub(1);
            if *count == 0 {
                all.remove(&self.1);
            }
        }
    }
}

/// An artifact on its way. It is gone if it is dropped before it is stored.
#[derive(Debug)]
pub struct ArtifactUpload {
    pub(crate) run: JobRun,
    pub(crate) file: String,
    pub(crate) size: u64,
    directory: PathBuf,
    content: tokio::fs::File,
    most: u64,
    is_stored: bool,
    _counted: Counted,
}

impl ArtifactUpload {
    /// Begins one below this directory.
    pub(crate) async fn begin(
        root: &Path,
        run: JobRun,
        most: u64,
        counted: Counted,
    ) -> Result<Self, CiError> {
        let directory = directory_of(root, run.day_number());
        let file = secrets::unique("a")?;
        let part = directory.join(format!("{file}{PART}"));
        let mut options = tokio::fs::OpenOptions::new();
        options.write(true).create_new(true).mode(0o600);
        let create = async {
            let mut builder = tokio::fs::DirBuilder::new();
            builder
                .recursive(true)
                .mode(0o700)
                .create(&directory)
                .await?;
            options.open(&part).await
        };
        let content = create.await.map_err(|error| failed(&error))?;
        Ok(Self {
            run,
            file,
            size: 0,
            directory,
            content,
            most,
            is_stored: false,
            _counted: counted,
        })
    }

    /// The bytes it may have.
    pub fn most(&self) -> u64 {
        self.most
    }

    /// Writes the next bytes.
    ///
    /// # Errors
    ///
    /// [`CiError::TooLarge`] when it is larger than the limit; when it can't be written.
    pub async fn write(&mut self, bytes: &[u8]) -> Result<(), CiError> {
        self.size = self.size.saturating_add(bytes.len() as u64);
        if self.size > self.most {
            return Err(CiError::TooLarge(self.most));
        }
        let written = self.content.write_all(bytes).await;
        written.map_err(|error| failed(&error))
    }

    /// Has it complete and on disk, under its name.
    pub(crate) async fn complete(&mut self) -> Result<(), CiError> {
        let complete = async {
            self.content.flush().await?;
            self.content.sync_all().await?;
            tokio::fs::rename(self.part(), self.directory.join(&self.file)).await?;
            tokio::fs::File::open(&self.directory)
                .await?
                .sync_all()
                .await
        };
        complete.await.map_err(|error| failed(&error))
    }

    /// It is in the store.
    pub(crate) fn stored(&mut self) {
        self.is_stored = true;
    }

    fn part(&self) -> PathBuf {
        self.directory.join(format!("{}{PART}", self.file))
    }
}

impl Drop for ArtifactUpload {
    fn drop(&mut self) {
        if !self.is_stored {
            // One of them is there; what is left by a server that was killed goes with its day.
            let _ = fs::remove_file(self.part());
            let _ = fs::remove_file(self.directory.join(&self.file));
        }
    }
}

/// The directory of a day.
fn directory_of(root: &Path, day: i64) -> PathBuf {
    let milliseconds = u64::try_from(day).unwrap_or(0).saturating_mul(DAY);
    root.join(date(Timestamp::from_millis(milliseconds)))
}

/// The file of an artifact.
pub(crate) fn path_of(root: &Path, day: i64, file: &str) -> PathBuf {
    directory_of(root, day).join(file)
}

/// Like `2026-11-18`.
fn date(time: Timestamp) -> String {
    let text = time.to_string();
    text.split('T').next().unwrap_or_default().to_owned()
}

/// Deletes the directories of days before that of a time.
pub(crate) fn delete_before(root: &Path, before: Timestamp) -> io::Result<()> {
    let bound = date(before);
    let entries = match fs::read_dir(root) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        other => other?,
    };
    for entry in entries {
        let entry = entry?;
        let name = entry.file_name();
        let is_old = |name: &str| is_date(name) && name < bound.as_str();
        // What else is there is not ours; a link is not followed.
        if name.to_str().is_some_and(is_old) && entry.file_type()?.is_dir() {
            match fs::remove_dir_all(entry.path()) {
                // Another server was quicker.
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                other => other?,
            }
        }
    }
    Ok(())
}

fn is_date(name: &str) -> bool {
    let is_place = |(place, byte): (usize, u8)| match place {
        4 | 7 => byte == b'-',
        _ => byte.is_ascii_digit(),
    };
    name.len() == 10 && name.bytes().enumerate().all(is_place)
}

pub(crate) fn failed(error: &io::Error) -> CiError {
    CiError::Unavailable(format!("cannot store artifacts: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_are_directories_and_only_old_ones_are_deleted() {
        let root = tempfile::tempdir().unwrap();
        let day = |number| directory_of(root.path(), number);
        assert!(day(20_775).ends_with("2026-11-18"));
        for path in [day(20_774), day(20_775), root.path().join("other")] {
            fs::create_dir(&path).unwrap();
            fs::write(path.join("file"), "x").unwrap();
        }
        let before = Timestamp::from_millis(20_775 * DAY + 5);
        delete_before(root.path(), before).unwrap();
        assert!(!day(20_774).exists() && day(20_775).exists());
        assert!(root.path().join("other").exists());
        delete_before(&root.path().join("missing"), before).unwrap();
    }

    #[test]
    fn a_job_has_few_uploads_at_once() {
        let uploads = Uploads::default();
        let all: Vec<_> = (0..MOST_AT_ONCE)
            .map(|_| uploads.begin(1).unwrap())
            .collect();
        assert!(uploads.begin(1).is_none() && uploads.begin(2).is_some());
        drop(all);
        assert!(uploads.begin(1).is_some());
        assert!(uploads.0.lock().is_empty());
    }
}
