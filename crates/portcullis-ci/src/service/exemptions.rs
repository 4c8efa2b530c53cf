//! Exemptions.

use portcullis_jobs::{Exemption, ExemptionBody, ExemptionId};
use portcullis_store::IdKind;

use super::Service;
use crate::details::{Page, PageRequest};
use crate::engine::now;
use crate::error::CiError;

impl Service {
    /// Grants an exemption.
    ///
    /// # Errors
    ///
    /// When the store doesn't answer.
    pub async fn add_exemption(&self, body: ExemptionBody) -> Result<Exemption, CiError> {
        let insert = self.inner.database.write(move |store| {
            let id = store.new_id(IdKind::Exemption)?;
            let body = body.clone();
            let exemption = Exemption { id, body };
            store.insert_exemption(&exemption)?;
            Ok(exemption)
        });
        insert.await
    }

    /// Exemptions that haven't expired, the oldest first.
    ///
    /// # Errors
    ///
    /// When the store doesn't answer.
    pub async fn exemptions(&self, page: PageRequest) -> Result<Page<Exemption>, CiError> {
        let size = page.size();
        let list = self
            .inner
            .database
            .read(move |reader| Ok(reader.live_exemptions(now(), page.after, size + 1)?));
        let mut items = list.await?;
        let is_more = items.len() > size;
        items.truncate(size);
        let next = items.last().map(|exemption| exemption.id);
        let next = next.filter(|_| is_more);
        Ok(Page { items, next })
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
