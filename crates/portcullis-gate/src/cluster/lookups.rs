//! What plug-ins and policies may look up: plug-ins all that is known, policies the kinds that are configured.

use std::sync::Arc;
use std::time::Instant;

use portcullis_kube::cluster_objects::{
    ClusterObjects, NoCluster, ObjectKind, Reading, StaticObjects, Unknown,
};
use serde_json::Value;

use portcullis_config::Loaded;

/// What plug-ins and policies may look up.
#[derive(Debug, Clone)]
pub(crate) struct Lookups {
    /// For plug-ins.
    pub(crate) plugins: Arc<dyn ClusterObjects>,
    /// For policies.
    pub(crate) policies: Arc<dyn ClusterObjects>,
}

impl Lookups {
    /// Everything for plug-ins, these kinds for policies.
    pub(super) fn limited(objects: Arc<dyn ClusterObjects>, kinds: Vec<ObjectKind>) -> Self {
        Self {
            policies: Arc::new(OnlyKinds {
                objects: Arc::clone(&objects),
                kinds,
            }),
            plugins: objects,
        }
    }

    /// What a command without a server knows: these objects if they are given, which may be of any kind unless the
    /// configuration says which policies may see.
    pub(crate) fn offline(loaded: &Loaded, objects: Option<&StaticObjects>) -> Self {
        let objects: Arc<dyn ClusterObjects> = match (objects, &loaded.kube) {
            (Some(objects), _) => Arc::new(objects.clone()),
            (None, Some(_)) => Arc::new(NoCluster::Offline),
            (None, None) => Arc::new(NoCluster::Unconfigured),
        };
        match &loaded.kube {
            Some(kube) => Self::limited(objects, kube.kinds.clone()),
            None => Self {
                plugins: Arc::clone(&objects),
                policies: objects,
            },
        }
    }
}

impl Lookups {
    /// There may be a cluster, but it is not read.
    pub(crate) fn unread() -> Self {
        Self::without(NoCluster::Offline)
    }

    fn without(cluster: NoCluster) -> Self {
        let none: Arc<dyn ClusterObjects> = Arc::new(cluster);
        Self {
            plugins: Arc::clone(&none),
            policies: none,
        }
    }
}

impl Default for Lookups {
    /// There is no cluster.
    fn default() -> Self {
        Self::without(NoCluster::Unconfigured)
    }
}

/// Objects of these kinds alone.
#[derive(Debug)]
struct OnlyKinds {
    objects: Arc<dyn ClusterObjects>,
    kinds: Vec<ObjectKind>,
}

impl OnlyKinds {
    fn check(&self, kind: &ObjectKind) -> Result<(), Unknown> {
        match self.kinds.contains(kind) {
            true => Ok(()),
            false => Err(Unknown::NotWatched(kind.clone())),
        }
    }
}

impl ClusterObjects for OnlyKinds {
    fn get(
        &self,
        kind: &ObjectKind,
        namespace: &str,
        name: &str,
    ) -> Result<Option<Arc<Value>>, Unknown> {
        self.check(kind)?;
        self.objects.get(kind, namespace, name)
    }

    fn list(&self, kind: &ObjectKind, namespace: Option<&str>) -> Result<Vec<Arc<Value>>, Unknown> {
        self.check(kind)?;
        self.objects.list(kind, namespace)
    }

    fn read(
        &self,
        kind: &ObjectKind,
        namespace: &str,
        name: &str,
        deadline: Instant,
    ) -> Reading<Option<Arc<Value>>> {
        match self.check(kind) {
            Ok(()) => self.objects.read(kind, namespace, name, deadline),
            Err(why) => Box::pin(std::future::ready(Err(why.to_string()))),
        }
    }

    fn list_now(
        &self,
        kind: &ObjectKind,
        namespace: &str,
        deadline: Instant,
    ) -> Reading<Vec<Arc<Value>>> {
        match self.check(kind) {
            Ok(()) => self.objects.list_now(kind, namespace, deadline),
            Err(why) => Box::pin(std::future::ready(Err(why.to_string()))),
        }
    }

    fn is_connected(&self) -> bool {
        self.objects.is_connected()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn policies_see_the_kinds_that_are_configured_and_plug_ins_all() {
        let mut objects = StaticObjects::default();
        for kind in ["Pod", "Secret"] {
            let object = json!({"apiVersion": "v1", "kind": kind,
                "metadata": {"namespace": "n", "name": "a"}});
            objects.add(object).unwrap();
        }
        let lookups = Lookups::limited(Arc::new(objects), vec![ObjectKind::POD]);
        let of = |from: &Arc<dyn ClusterObjects>, kind: ObjectKind| from.get(&kind, "n", "a");
        assert!(of(&lookups.policies, ObjectKind::POD).unwrap().is_some());
        let unknown = of(&lookups.policies, ObjectKind::SECRET).unwrap_err();
        assert_eq!(
            unknown.to_string(),
            "objects of v1/Secret are not watched: the key `kube.kinds` does not contain it"
        );
        assert_eq!(
            lookups.policies.list(&ObjectKind::SECRET, None),
            Err(Unknown::NotWatched(ObjectKind::SECRET))
        );
        assert!(of(&lookups.plugins, ObjectKind::SECRET).unwrap().is_some());
    }
}
