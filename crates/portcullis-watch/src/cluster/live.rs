//! Single objects, read when they are needed.

use std::time::Instant;

use portcullis_core::clock;
use portcullis_graph::VertexKind;
use portcullis_kube::scoped_access::Reading;

use super::Cluster;
use super::failure::Nature;
use super::request::path_of;

impl Cluster {
    /// Reads one object. Comes to an end by itself, soon after `deadline` at the latest.
    pub fn read(
        &self,
        kind: &VertexKind,
        namespace: &str,
        name: &str,
        deadline: Instant,
    ) -> Reading {
        let cluster = self.clone();
        let path = path_of(kind, namespace, name);
        Box::pin(async move {
            let Some(path) = path else {
                return Ok(None);
            };
            let time = deadline.saturating_duration_since(clock::monotonic());
            match cluster.object(&path, time).await {
                Ok(text) => serde_json::from_slice(&text)
                    .map(Some)
                    .map_err(|_| "the API server's answer is not an object".to_owned()),
                Err(failure) if failure.nature == Nature::Missing => Ok(None),
                Err(failure) => Err(failure.words),
            }
        })
    }
}
