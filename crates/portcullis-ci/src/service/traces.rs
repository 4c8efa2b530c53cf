//! What jobs write while they run.

use bytes::Bytes;
use portcullis_jobs::{Event, Job, JobId, JobStatus};
use portcullis_store::{JobRun, JobsTransaction, TraceState};

use super::Service;
use super::reports::RunningJob;
use crate::details::TraceOutcome;
use crate::error::CiError;

/// Bytes that are stored together, at most: this much is read at once.
const CHUNK: usize = 256 << 10;
/// Chunks that are read together.
const CHUNKS: usize = 8;

/// What a runner sent, or that it is too much.
enum Appended {
    Outcome(TraceOutcome),
    TooLarge,
}

impl Service {
    /// The runner of a job sends a piece of its trace, which begins at this byte.
    ///
    /// # Errors
    ///
    /// [`CiError::JobToken`] when the job doesn't run any more, or its trace becomes too large, which ends it; when the
    /// store doesn't answer.
    pub async fn append_trace(
        &self,
        running: RunningJob,
        start: u64,
        content: Bytes,
    ) -> Result<TraceOutcome, CiError> {
        let RunningJob { run, is_fresh } = running;
        let most = self.inner.settings().runners.max_trace.bytes();
        let of = run.clone();
        let turn = self.inner.turn(move |turn| {
            // The job is locked before its trace, as everywhere.
            if !is_fresh {
                turn.reported(&of, &[Event::Acknowledge])?;
            }
            append(turn.store, &of, start, &content, most)
        });
        let (appended, after) = turn.await?;
        self.settle(after);
        match appended {
            Appended::Outcome(outcome) => Ok(outcome),
            Appended::TooLarge => {
                let fail = self.inner.turn(move |turn| turn.trace_too_large(&run));
                let (_, after) = fail.await?;
                self.settle(after);
                Err(CiError::JobToken(Some(JobStatus::Failed)))
            }
        }
    }

    /// The run whose trace is shown: of the present attempt, and nothing if that has not begun.
    ///
    /// # Errors
    ///
    /// When there is no such job, or the store doesn't answer.
    pub async fn trace_of(&self, id: JobId) -> Result<Option<JobRun>, CiError> {
        let read = self.inner.database.read(move |reader| {
            let job: Job = reader.job(id)?.ok_or(CiError::NotFound)?.job;
            Ok(JobRun::of(&job))
        });
        read.await
    }

    /// The next part of a trace from this byte on; empty at its end.
    ///
    /// # Errors
    ///
    /// When the store doesn't answer.
    pub async fn read_trace(&self, run: &JobRun, from: u64) -> Result<Vec<u8>, CiError> {
        let run = run.clone();
        let read = self.inner.database.read(move |reader| {
            let chunks = reader.trace_chunks(&run, from, CHUNKS)?;
            let mut part = Vec::new();
            for (first, content) in chunks {
                // A runner that begins anew meanwhile leaves a gap.
                if first != from.saturating_add(part.len() as u64) {
                    break;
                }
                part.extend(content);
            }
            Ok(part)
        });
        read.await
    }

    /// The last bytes of a trace, so many at most.
    ///
    /// # Errors
    ///
    /// When the store doesn't answer.
    pub async fn read_trace_end(&self, run: &JobRun, most: usize) -> Result<Vec<u8>, CiError> {
        let run = run.clone();
        let read = self.inner.database.read(move |reader| {
            let size = reader.trace(&run)?.size;
            let wanted = size.saturating_sub(most as u64);
            // The piece with the first byte that is wanted begins less than a chunk before it.
            let from = wanted.saturating_sub(CHUNK as u64 - 1);
            let mut end = Vec::new();
            // A piece has at least a byte.
            for (first, content) in reader.trace_chunks(&run, from, most.saturating_add(CHUNK))? {
                let before = wanted.saturating_sub(first);
                end.extend(content.into_iter().skip(before as usize));
            }
            Ok(end)
        });
        read.await
    }
}

fn append(
    store: &mut JobsTransaction<'_>,
    run: &JobRun,
    start: u64,
    content: &[u8],
    most: u64,
) -> Result<Appended, CiError> {
    let mut state = store.trace_for_change(run)?;
    if start != state.size {
        return Ok(Appended::Outcome(TraceOutcome::Misplaced(state.size)));
    }
    if state.size.saturating_add(content.len() as u64) > most {
        return Ok(Appended::TooLarge);
    }
    for chunk in content.chunks(CHUNK) {
        let mut hasher = crc32fast::Hasher::new_with_initial(state.checksum);
        hasher.update(chunk);
        let checksum = hasher.finalize();
        store.append_trace(run, state, chunk, checksum)?;
        state = TraceState {
            size: state.size.saturating_add(chunk.len() as u64),
            checksum,
            ..state
        };
    }
    Ok(Appended::Outcome(TraceOutcome::Appended(state.size)))
}
