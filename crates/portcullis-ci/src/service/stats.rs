//! Numbers for metrics.

use super::Service;
use crate::details::Stats;
use crate::engine::now;
use crate::error::CiError;

impl Service {
    /// How much there is to do.
    ///
    /// # Errors
    ///
    /// When the store doesn't answer.
    pub async fn stats(&self) -> Result<Stats, CiError> {
        let read = self.inner.database.read(move |reader| {
            let now = now();
            let oldest = reader.oldest_deliveries()?.into_iter();
            let oldest = oldest.map(|(id, created)| (id, now.since(created)));
            Ok(Stats {
                live_jobs: reader.live_job_counts()?,
                oldest_deliveries: oldest.collect(),
            })
        });
        read.await
    }
}
