//! Runners that ask for a job.

use portcullis_jobs::{Runner, RunnerId};
use portcullis_store::ManagerContact;

use super::Service;
use crate::details::{JobRequest, ManagerDetails, RunnerContact};
use crate::engine::now;
use crate::error::CiError;
use crate::queue::{Answer, summary};

impl Service {
    /// Gives a runner a job that it may take: no one else is given it, unless it isn't acknowledged within the lease. A
    /// request with the cursor of the last one is held until there is a job, or for the long poll. When the future is
    /// dropped, nothing is taken for it, or what was taken goes back.
    ///
    /// # Errors
    ///
    /// When the store doesn't answer.
    pub async fn request_job(
        &self,
        runner: Runner,
        contact: RunnerContact,
        last_update: Option<&str>,
    ) -> Result<JobRequest, CiError> {
        let inner = &self.inner;
        let manager = contact.system_id.unwrap_or_default();
        inner.queue.contacts.note(ManagerContact {
            runner: runner.id,
            system_id: manager.clone(),
            at: now(),
            address: contact.address,
            info: summary(&contact.info),
        });
        let name = &inner.name;
        let (_, is_held) = inner.queue.cursor(name, &runner, last_update);
        let nothing = || {
            let (cursor, _) = inner.queue.cursor(name, &runner, None);
            Ok(JobRequest::Nothing { cursor })
        };
        if inner.is_stopping() {
            return nothing();
        }
        // A manager that is held waits like a runner that is paused.
        let mut is_held_back = inner.queue.is_held(runner.id, &manager, now());
        if is_held_back {
            // Another server may have released it.
            let held = inner.held_managers().await?;
            is_held_back = held.contains(&(runner.id, manager.clone()));
        }
        let asking = Runner {
            paused: runner.paused || is_held_back,
            ..runner.clone()
        };
        let Some(mut ticket) = inner.queue.arrive(asking, manager) else {
            return nothing();
        };
        if inner.is_stopping() {
            // It came after the others were let go.
            ticket.leave();
        }
        let answer = match is_held && !inner.holds_nothing() {
            true => {
                let within = inner.settings().runners.long_poll.get();
                let answer = tokio::time::timeout(within, ticket.answer()).await;
                match answer {
                    Ok(answer) => answer,
                    Err(_) => {
                        ticket.leave();
                        ticket.answer().await
                    }
                }
            }
            false => {
                if ticket.is_waiting() {
                    inner.refresh_queue_now().await?;
                }
                ticket.hurry();
                ticket.answer().await
            }
        };
        match answer {
            Answer::Job(job) => Ok(JobRequest::Given(job)),
            Answer::Nothing => nothing(),
            Answer::Failed(error) => Err(error),
        }
    }

    /// How many requests for a job are held or being served by this server.
    pub fn waiting_requests(&self) -> usize {
        self.inner.queue.waiting()
    }

    /// The machines that ask for jobs with the token of a runner, by their names.
    ///
    /// # Errors
    ///
    /// When the store doesn't answer.
    pub async fn managers(&self, runner: RunnerId) -> Result<Vec<ManagerDetails>, CiError> {
        let read = self
            .inner
            .database
            .read(move |reader| Ok(reader.managers(runner)?));
        let now = now();
        let found = read.await?.into_iter();
        Ok(found
            .map(|record| ManagerDetails::of(record, now))
            .collect())
    }

    /// Forgets a manager; one that is held stays held.
    ///
    /// # Errors
    ///
    /// [`CiError::NotFound`] when there is none; when the store doesn't answer.
    pub async fn delete_manager(&self, runner: RunnerId, system_id: &str) -> Result<(), CiError> {
        let name = system_id.to_owned();
        let delete = self
            .inner
            .database
            .write(move |store| Ok(store.delete_manager(runner, &name)?));
        let is_deleted = delete.await?;
        self.inner.queue.contacts.forget(runner, system_id);
        is_deleted.then_some(()).ok_or(CiError::NotFound)
    }
}
