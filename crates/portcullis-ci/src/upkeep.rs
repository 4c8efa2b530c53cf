//! Archiving finished jobs, and deleting old ones, with a connection of its own: the writer isn't held up by it.

use std::sync::Arc;
use std::thread;
use std::time::Duration;

use portcullis_core::clock::Stopwatch;
use portcullis_store::Store;

use crate::artifacts;
use crate::engine::now;
use crate::error::CiError;
use crate::inner::Inner;

/// How often that is done.
const PAUSE: Duration = Duration::from_secs(300);
/// How long a finished job stays where it can be retried without moving it.
const ARCHIVED_AFTER: Duration = Duration::from_secs(3600);
/// Jobs that are archived together, and rows that are deleted together.
const BATCH: usize = 200;

impl Inner {
    /// Archives and deletes from time to time until the service is shut down.
    pub(crate) async fn keep_up(self: Arc<Self>) {
        let mut stopping = self.stopping.subscribe();
        while !self.is_stopping() {
            if let Err(error) = self.keep_up_once().await {
                self.trouble(&error);
            }
            tokio::select! {
                () = tokio::time::sleep(PAUSE) => {}
                _ = stopping.changed() => {}
            }
        }
    }

    async fn keep_up_once(self: &Arc<Self>) -> Result<(), CiError> {
        let retention = self.settings().retention.get();
        let sweep = self.database.write(move |store| {
            let before = now().before(retention);
            store.sweep_managers(before, now())?;
            Ok(store.sweep_exemptions(before)?)
        });
        sweep.await?;
        self.delete_artifacts(retention).await?;
        let inner = Arc::clone(self);
        self.database
            .maintain(move |store| archive(store, retention, || inner.is_stopping()))
            .await
    }

    /// Deletes the files of artifacts that expired, and of jobs that are too old.
    async fn delete_artifacts(&self, retention: Duration) -> Result<(), CiError> {
        let Some(root) = self.settings().artifacts.path.clone() else {
            return Ok(());
        };
        while !self.is_stopping() {
            let expire = self
                .database
                .write(|store| Ok(store.expire_artifacts(now(), BATCH)?));
            let expired = expire.await?;
            let is_all = expired.len() < BATCH;
            for artifact in expired {
                // What is left goes with its day.
                let path = artifacts::path_of(&root, artifact.day, &artifact.file);
                let _ = tokio::fs::remove_file(path).await;
            }
            if is_all {
                break;
            }
        }
        let delete = move || artifacts::delete_before(&root, now().before(retention));
        let deleted = tokio::task::spawn_blocking(delete).await;
        let stopped = |error: tokio::task::JoinError| CiError::Unavailable(error.to_string());
        deleted
            .map_err(stopped)?
            .map_err(|error| artifacts::failed(&error))
    }
}

/// Archives and deletes until nothing is left to do, or `is_stopping`.
fn archive(
    store: &mut Store,
    retention: Duration,
    is_stopping: impl Fn() -> bool,
) -> Result<(), CiError> {
    store.jobs(|tx| tx.prepare_archive(now()))?;
    repeat(&is_stopping, || {
        let before = now().before(ARCHIVED_AFTER.min(retention));
        let archived = store.jobs(|tx| tx.archive_finished(before, BATCH))?;
        Ok(!archived.is_empty())
    })?;
    repeat(&is_stopping, || {
        let before = now().before(retention);
        let expired = store.jobs(|tx| tx.expire_archived(before, BATCH))?;
        Ok(!expired.is_empty())
    })
}

/// Repeats a step until it has nothing to do. It rests as long as it works, so that others get ahead who wait for the
/// same database.
fn repeat(
    is_stopping: impl Fn() -> bool,
    mut step: impl FnMut() -> Result<bool, CiError>,
) -> Result<(), CiError> {
    while !is_stopping() {
        let watch = Stopwatch::start();
        if !step()? {
            break;
        }
        thread::sleep(watch.elapsed());
    }
    Ok(())
}
