//! Exemptions.

use portcullis_jobs::{Exemption, ExemptionBody, ExemptionId};
use portcullis_store::IdKind;

use super::Service;
use crate::details::{ExemptionDetails, Page, PageRequest};
use crate::engine::now;
use crate::error::CiError;

impl Service {
    /// Grants an exemption, in the name of somebody.
    ///
    /// # Errors
    ///
    /// When the store doesn't answer.
    pub async fn add_exemption(
        &self,
        body: ExemptionBody,
        granted_by: &str,
    ) -> Result<ExemptionDetails, CiError> {
        let granted_by = granted_by.to_owned();
        let insert = self.inner.database.write(move |store| {
            let now = now();
            let exemption = Exemption {
                id: store.new_id(IdKind::Exemption)?,
                body: body.clone(),
                granted_by: Some(granted_by.clone()),
                granted_at: Some(now),
            };
            store.insert_exemption(&exemption)?;
            Ok(ExemptionDetails::new(exemption, now))
        });
        insert.await
    }

    /// Exemptions that haven't expired, the oldest first.
    ///
    /// # Errors
    ///
    /// When the store doesn't answer.
    pub async fn exemptions(&self, page: PageRequest) -> Result<Page<ExemptionDetails>, CiError> {
        let size = page.size();
        let list = self.inner.database.read(move |reader| {
            let now = now();
            let mut found = reader.live_exemptions(now, page.after, size + 1)?;
            let is_more = found.len() > size;
            found.truncate(size);
            let (Some(first), Some(last)) = (found.first(), found.last()) else {
                let items = Vec::new();
                return Ok(Page { items, next: None });
            };
            let next = is_more.then_some(last.id);
            let uses = reader.exemption_uses(first.id, last.id)?;
            let items = found.into_iter().map(|exemption| {
                let used = uses.iter().find(|one| one.exemption == exemption.id);
                ExemptionDetails {
                    uses: used.map_or(0, |one| one.count),
                    last_used_at: used.map(|one| one.last_at),
                    ..ExemptionDetails::new(exemption, now)
                }
            });
            Ok(Page {
                items: items.collect(),
                next,
            })
        });
        list.await
    }

    /// Ends an exemption.
    ///
    /// # Errors
    ///
    /// When there is none, or the store doesn't answer.
    pub async fn delete_exemption(&self, id: ExemptionId) -> Result<(), CiError> {
        let delete = self
            .inner
            .database
            .write(move |store| Ok(store.delete_exemption(id)?));
        match delete.await? {
            true => Ok(()),
            false => Err(CiError::NotFound),
        }
    }
}
