//! What surrounds the jobs of a project: controllers, exemptions and runners.

use std::sync::Arc;

use portcullis_jobs::Timestamp;
use portcullis_store::{JobsReader, JobsTransaction};

use crate::engine::{choice_of, now};
use crate::error::CiError;
use crate::inner::Inner;
use crate::known::Surroundings;

/// Exemptions that count at once, at most.
const MOST_EXEMPTIONS: usize = 10_000;

impl Surroundings {
    pub(crate) fn load(
        reader: &mut JobsReader<'_>,
        project: &str,
        project_id: u64,
        now: Timestamp,
    ) -> Result<Self, CiError> {
        let controllers = reader.controllers_for(project)?.into_iter();
        let runners = reader.runners_for(project)?.into_iter();
        Ok(Self {
            project_id,
            controllers: controllers.map(|record| record.controller).collect(),
            exemptions: reader.live_exemptions(now, None, MOST_EXEMPTIONS)?,
            runners: runners.map(|record| record.runner).collect(),
        })
    }

    /// Whether somebody outside of this process may have to be asked.
    pub(crate) fn has_deliveries(&self) -> bool {
        self.controllers.iter().any(|one| choice_of(one).is_none())
    }
}

impl Inner {
    /// What surrounds the jobs of a project, as far as is known, and its version. Whether that is still the one in
    /// force is up to the transaction.
    pub(crate) async fn surroundings(
        &self,
        project: &str,
    ) -> Result<(u64, Arc<Surroundings>), CiError> {
        if let Some(known) = self.database.known().newest(project) {
            return Ok(known);
        }
        if let Some(known) = self.load_surroundings(project).await? {
            return Ok(known);
        }
        // Its first job.
        let of = project.to_owned();
        let give = move |store: &mut JobsTransaction<'_>| Ok(store.ensure_project_id(&of, now())?);
        self.database.write(give).await?;
        let loaded = self.load_surroundings(project).await?;
        loaded.ok_or_else(|| CiError::Unavailable("a project has no number".to_owned()))
    }

    /// What the store has; nothing if the project has no number.
    async fn load_surroundings(
        &self,
        project: &str,
    ) -> Result<Option<(u64, Arc<Surroundings>)>, CiError> {
        let of = project.to_owned();
        let read = self.database.read(move |reader| {
            let Some(id) = reader.project_id(&of)? else {
                return Ok(None);
            };
            // The version first: what is read after it is at least as new.
            let version = reader.surroundings_version()?;
            Ok(Some((version, Surroundings::load(reader, &of, id, now())?)))
        });
        let Some((version, around)) = read.await? else {
            return Ok(None);
        };
        let around = Arc::new(around);
        // What is too old by now is noticed by the transaction, which then reads what is true.
        self.database.known().put(version, project, &around);
        Ok(Some((version, around)))
    }
}
