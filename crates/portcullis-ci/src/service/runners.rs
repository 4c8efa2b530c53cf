//! Runners, as far as they are registered.

use portcullis_document::{Fault, path, read};
use portcullis_jobs::{
    AccessLevel, MOST_TAGS, Runner, RunnerId, RunnerType, check_path, check_tag,
};
use portcullis_store::{IdKind, RunnerRecord};
use serde::Deserialize;
use serde_json::Value;

use super::Service;
use crate::details::{CreatedRunner, NewRunner, Page, PageRequest};
use crate::engine::now;
use crate::error::CiError;
use crate::secrets;

/// The most bytes of a description.
const MOST_DESCRIPTION_BYTES: usize = 1024;

/// What can be changed of a runner. What is absent stays.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct RunnerPatch {
    description: Option<String>,
    tag_list: Option<Vec<String>>,
    run_untagged: Option<bool>,
    access_level: Option<AccessLevel>,
    paused: Option<bool>,
    locked: Option<bool>,
}

impl Service {
    /// Registers a runner. Its token is shown this once.
    ///
    /// # Errors
    ///
    /// When it is invalid, or the store doesn't answer.
    pub async fn add_runner(&self, new: NewRunner) -> Result<CreatedRunner, CiError> {
        let token = secrets::new_runner_token()?;
        let token_hash = secrets::hash(&token);
        let runner = Runner {
            id: 0,
            kind: new.kind,
            path: new.path,
            description: new.description,
            tags: without_repetitions(new.tags),
            run_untagged: new.run_untagged,
            access_level: new.access_level,
            paused: new.paused,
            locked: new.locked,
        };
        check(&runner)?;
        let insert = self.inner.database.write(move |store| {
            let record = RunnerRecord {
                runner: Runner {
                    id: store.new_id(IdKind::Runner)?,
                    ..runner.clone()
                },
                token_hash: token_hash.clone(),
                created_at: now(),
            };
            store.insert_runner(&record)?;
            Ok(record.runner)
        });
        let runner = insert.await?;
        Ok(CreatedRunner { runner, token })
    }

    /// Runners, the oldest first.
    ///
    /// # Errors
    ///
    /// When the store doesn't answer.
    pub async fn runners(&self, page: PageRequest) -> Result<Page<Runner>, CiError> {
        let size = page.size();
        let list = self
            .inner
            .database
            .read(move |reader| Ok(reader.list_runners(page.after, size + 1)?));
        let found = list.await?;
        let is_more = found.len() > size;
        let found = found.into_iter().take(size);
        let items: Vec<Runner> = found.map(|record| record.runner).collect();
        let next = items.last().map(|runner| runner.id);
        let next = next.filter(|_| is_more);
        Ok(Page { items, next })
    }

    /// A runner.
    ///
    /// # Errors
    ///
    /// When there is none, or the store doesn't answer.
    pub async fn runner(&self, id: RunnerId) -> Result<Runner, CiError> {
        let read = self
            .inner
            .database
            .read(move |reader| Ok(reader.runner(id)?.ok_or(CiError::NotFound)?.runner));
        read.await
    }

    /// Changes some of `description`, `tag_list`, `run_untagged`, `access_level`, `paused` and `locked`.
    ///
    /// # Errors
    ///
    /// When there is none, the change is invalid, or the store doesn't answer.
    pub async fn change_runner(&self, id: RunnerId, patch: Value) -> Result<Runner, CiError> {
        let change = self.inner.database.write(move |store| {
            let patch: RunnerPatch = read::json(&patch)?;
            let found = store.runner_for_change(id)?;
            let mut record = found.ok_or(CiError::NotFound)?;
            let runner = &mut record.runner;
            set(&mut runner.description, patch.description);
            set(&mut runner.tags, patch.tag_list.map(without_repetitions));
            set(&mut runner.run_untagged, patch.run_untagged);
            set(&mut runner.access_level, patch.access_level);
            set(&mut runner.paused, patch.paused);
            set(&mut runner.locked, patch.locked);
            check(runner)?;
            store.save_runner(&record)?;
            Ok(record.runner)
        });
        let changed = change.await?;
        self.inner.queue.dismiss(|runner, _| runner.id == id);
        Ok(changed)
    }

    /// Deletes a runner.
    ///
    /// # Errors
    ///
    /// When there is none, or the store doesn't answer.
    pub async fn delete_runner(&self, id: RunnerId) -> Result<(), CiError> {
        let delete = self
            .inner
            .database
            .write(move |store| Ok(store.delete_runner(id)?));
        let is_deleted = delete.await?;
        self.inner.queue.dismiss(|runner, _| runner.id == id);
        is_deleted.then_some(()).ok_or(CiError::NotFound)
    }

    /// Gives a runner another token, which is shown this once; the one it has is not valid any more.
    ///
    /// # Errors
    ///
    /// When there is none, or the store doesn't answer.
    pub async fn reset_runner_token(&self, id: RunnerId) -> Result<String, CiError> {
        let token = secrets::new_runner_token()?;
        let token_hash = secrets::hash(&token);
        let change = self.inner.database.write(move |store| {
            let found = store.runner_for_change(id)?;
            let mut record = found.ok_or(CiError::NotFound)?;
            record.token_hash.clone_from(&token_hash);
            Ok(store.save_runner(&record)?)
        });
        change.await?;
        Ok(token)
    }

    /// The runner with this token; nothing if there is none.
    ///
    /// # Errors
    ///
    /// When the store doesn't answer.
    pub async fn verify_runner(&self, token: &str) -> Result<Option<Runner>, CiError> {
        let hash = secrets::hash(token);
        let read = self.inner.database.read(move |reader| {
            let found = reader.runner_by_token(&hash)?;
            Ok(found.map(|record| record.runner))
        });
        read.await
    }
}

fn set<T>(place: &mut T, value: Option<T>) {
    if let Some(value) = value {
        *place = value;
    }
}

fn without_repetitions(tags: Vec<String>) -> Vec<String> {
    let mut kept: Vec<String> = Vec::new();
    for tag in tags {
        if !kept.contains(&tag) {
            kept.push(tag);
        }
    }
    kept
}

fn check(runner: &Runner) -> Result<(), CiError> {
    let mut faults = Vec::new();
    match (runner.kind, &runner.path) {
        (RunnerType::Instance, None) => {}
        (RunnerType::Instance, Some(_)) => {
            faults.push(Fault::at("path", "an instance runner has no path"));
        }
        (kind, None) => faults.push(Fault::at("path", format!("required for {kind}"))),
        (_, Some(path)) => {
            if let Err(message) = check_path(path) {
                faults.push(Fault::at("path", message));
            }
        }
    }
    if runner.description.len() > MOST_DESCRIPTION_BYTES {
        let message = format!("a description has at most {MOST_DESCRIPTION_BYTES} bytes");
        faults.push(Fault::at("description", message));
    }
    if runner.tags.len() > MOST_TAGS {
        let message = format!("expected at most {MOST_TAGS} tags");
        faults.push(Fault::at("tag_list", message));
    }
    for (index, tag) in runner.tags.iter().enumerate() {
        if let Err(fault) = check_tag(tag) {
            faults.push(Fault::at(path::index("tag_list", index), fault.to_string()));
        }
    }
    if runner.tags.is_empty() && !runner.run_untagged {
        let message = "a runner without tags must take jobs without tags";
        faults.push(Fault::at("run_untagged", message));
    }
    match faults.is_empty() {
        true => Ok(()),
        false => Err(CiError::Invalid(faults)),
    }
}
