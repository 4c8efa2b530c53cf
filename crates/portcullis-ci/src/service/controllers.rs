//! Controllers.

use std::sync::Arc;
use std::time::Duration;

use portcullis_jobs::{
    Controller, ControllerDefinition, ControllerId, PolicyCode, PolicySource, Transport,
};
use portcullis_store::{ControllerRecord, ControllerSecret, IdKind};
use serde_json::Value;

use super::{Service, code_quota};
use crate::details::{ControllerDetails, CreatedController, Page, PageRequest};
use crate::engine::now;
use crate::error::CiError;
use crate::inner::Inner;
use crate::lanes;
use crate::secrets;

/// How long a replaced secret still signs and is accepted.
const OVERLAP: Duration = Duration::from_secs(86_400);

impl Service {
    /// Registers a controller. Its secret is shown this once.
    ///
    /// # Errors
    ///
    /// When its URL may not be called, its policy doesn't exist, its name is taken, or the store doesn't answer.
    pub async fn add_controller(
        &self,
        definition: ControllerDefinition,
    ) -> Result<CreatedController, CiError> {
        self.inner.check_definition(&definition).await?;
        let secret = secrets::new_secret()?;
        let shown = secret.clone();
        let settings = self.inner.settings();
        let insert = self.inner.database.write(move |store| {
            code_quota::check(store, &settings, &definition, None)?;
            let record = ControllerRecord {
                controller: Controller {
                    id: store.new_id(IdKind::Controller)?,
                    created_at: now(),
                    revision: 1,
                    definition: definition.clone(),
                },
                secrets: vec![ControllerSecret {
                    secret: secret.clone(),
                    expires_at: None,
                }],
            };
            store.insert_controller(&record)?;
            Ok(record)
        });
        let record = insert.await?;
        Ok(CreatedController {
            controller: self.inner.controller_details(record),
            secret: shown,
        })
    }

    /// Controllers, the oldest first.
    ///
    /// # Errors
    ///
    /// When the store doesn't answer.
    pub async fn controllers(&self, page: PageRequest) -> Result<Page<ControllerDetails>, CiError> {
        let size = page.size();
        let list = self
            .inner
            .database
            .read(move |reader| Ok(reader.list_controllers(page.after, size + 1)?));
        let mut found = list.await?;
        let is_more = found.len() > size;
        found.truncate(size);
        let next = found.last().map(|record| record.controller.id);
        let items = found.into_iter();
        Ok(Page {
            items: items
                .map(|record| self.inner.controller_details(record))
                .collect(),
            next: next.filter(|_| is_more),
        })
    }

    /// A controller.
    ///
    /// # Errors
    ///
    /// When there is none, or the store doesn't answer.
    pub async fn controller(&self, id: ControllerId) -> Result<ControllerDetails, CiError> {
        let record = self.inner.controller_record(id).await?;
        Ok(self.inner.controller_details(record))
    }

    /// The definitions of all controllers that are there for a project, disabled ones too.
    ///
    /// # Errors
    ///
    /// When the store doesn't answer.
    pub async fn controllers_for(
        &self,
        project: &str,
    ) -> Result<Vec<ControllerDefinition>, CiError> {
        let project = project.to_owned();
        let read = self.inner.database.read(move |reader| {
            let found = reader.controllers_for(&project)?.into_iter();
            Ok(found.map(|record| record.controller.definition).collect())
        });
        read.await
    }

    /// Replaces some keys of a controller's definition. Jobs that wait for it go on accordingly.
    ///
    /// # Errors
    ///
    /// When there is none, the result is invalid, or the store doesn't answer.
    pub async fn change_controller(
        &self,
        id: ControllerId,
        patch: Value,
    ) -> Result<ControllerDetails, CiError> {
        let before = self.inner.controller_record(id).await?;
        let patched = before.controller.definition.patched(&patch)?;
        // What is there already is checked when it is used: it must be possible to disable it.
        if patched.transport != before.controller.definition.transport {
            self.inner.check_definition(&patched).await?;
        }
        let settings = self.inner.settings();
        let change = self.inner.database.write(move |store| {
            let found = store.controller_for_change(id)?;
            let mut record = found.ok_or(CiError::NotFound)?;
            let patched = record.controller.definition.patched(&patch)?;
            code_quota::check(store, &settings, &patched, Some(&record.controller))?;
            record.controller.definition = patched;
            store.save_controller(&mut record)?;
            Ok(record)
        });
        let record = change.await?;
        self.inner.controller_changed(id);
        self.inner.wake_waiting_later(id);
        Ok(self.inner.controller_details(record))
    }

    /// Deletes a controller. Jobs that wait for it go on without it.
    ///
    /// # Errors
    ///
    /// When there is none, or the store doesn't answer.
    pub async fn delete_controller(&self, id: ControllerId) -> Result<(), CiError> {
        let delete = self
            .inner
            .database
            .write(move |store| Ok(store.delete_controller(id)?));
        if !delete.await? {
            return Err(CiError::NotFound);
        }
        self.inner.controller_changed(id);
        self.inner.wake_waiting_later(id);
        Ok(())
    }

    /// Gives a controller a new secret. The one before still signs along, and is accepted, for a day.
    ///
    /// # Errors
    ///
    /// When there is none, or the store doesn't answer.
    pub async fn rotate_secret(&self, id: ControllerId) -> Result<String, CiError> {
        let secret = secrets::new_secret()?;
        let shown = secret.clone();
        let rotate = self.inner.database.write(move |store| {
            let found = store.controller_for_change(id)?;
            let mut record = found.ok_or(CiError::NotFound)?;
            let now = now();
            // Only the newest of the old ones stays, so that there are never more than two.
            let mut old = record.secrets.clone();
            old.truncate(1);
            for secret in &mut old {
                secret.expires_at = Some(now.after(OVERLAP));
            }
            record.secrets = vec![ControllerSecret {
                secret: secret.clone(),
                expires_at: None,
            }];
            record.secrets.extend(old);
            store.save_controller(&mut record)?;
            Ok(())
        });
        rotate.await?;
        Ok(shown)
    }
}

impl Inner {
    fn controller_details(&self, record: ControllerRecord) -> ControllerDetails {
        let controller = record.controller;
        ControllerDetails {
            id: controller.id,
            breaker: self.lanes.details(controller.id),
            definition: controller.definition,
            created_at: controller.created_at,
            revision: controller.revision,
        }
    }

    /// What a definition is checked for that its form doesn't say.
    async fn check_definition(&self, definition: &ControllerDefinition) -> Result<(), CiError> {
        match &definition.transport {
            Transport::Pull => Ok(()),
            Transport::Webhook(url) => {
                let checked = lanes::check(url, &self.settings().webhooks).await;
                checked.map_err(|message| CiError::invalid("url", message))
            }
            Transport::Policy(PolicySource::Named(name)) => match self.judge().has_policy(name) {
                true => Ok(()),
                false => Err(CiError::invalid(
                    "policy",
                    format!("there is no policy `{name}`"),
                )),
            },
            Transport::Policy(PolicySource::Code(PolicyCode { code })) => {
                let checked = self.judge().check_code(code);
                checked.map_err(|message| CiError::invalid("policy.code", message))
            }
        }
    }

    /// Looks at the jobs that wait for a controller, in the background.
    fn wake_waiting_later(self: &Arc<Self>, id: ControllerId) {
        let inner = Arc::clone(self);
        self.spawn(async move {
            if let Err(error) = inner.wake_waiting(id).await {
                inner.trouble(&error);
            }
        });
    }
}
