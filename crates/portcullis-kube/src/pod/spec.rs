//! A pod's `spec`, as far as plug-ins read it, and how to walk over its containers.
//!
//! Every rule about containers goes through [`PodSpec::all_containers`], so
//! that none of them can forget init or ephemeral containers.

use std::borrow::Cow;

use super::{
    container::{Amount, Container, ContainerKind, ContainerRef, Resources},
    metadata::Map,
    scheduling::{Affinity, Toleration},
    security_context::PodSecurityContext,
    view::view,
    volume::Volume,
};

view! {
    /// A pod's specification.
    pub(crate) struct PodSpec<'a> {
        /// Volumes.
        volumes: Vec<Volume<'a>> = "volumes",
        /// Containers that run before the others. Rules about containers
        /// belong on [`PodSpec::all_containers`].
        init_containers: Vec<Container<'a>> = "initContainers",
        /// The pod's containers proper.
        containers: Vec<Container<'a>> = "containers",
        /// Containers added to the running pod for debugging.
        ephemeral_containers: Vec<Container<'a>> = "ephemeralContainers",
        /// Security settings of the whole pod.
        security_context: Option<PodSecurityContext<'a>> = "securityContext",
        /// Whether the node's network is used.
        host_network: bool = "hostNetwork",
        /// Whether the node's processes are seen.
        host_pid: bool = "hostPID",
        /// Whether the node's inter-process communication is shared.
        host_ipc: bool = "hostIPC",
        /// `false` puts the pod in a user namespace of its own.
        host_users: Option<bool> = "hostUsers",
        /// Operating system.
        os: Os<'a> = "os",
        /// Runtime class.
        runtime_class_name: Option<Cow<'a, str>> = "runtimeClassName",
        /// Service account.
        service_account_name: Cow<'a, str> = "serviceAccountName",
        /// Node, once the pod is bound to one.
        node_name: Cow<'a, str> = "nodeName",
        /// Priority class.
        priority_class_name: Cow<'a, str> = "priorityClassName",
        /// Node labels the pod asks for.
        node_selector: Map<'a, Cow<'a, str>> = "nodeSelector",
        /// Taints the pod bears with.
        tolerations: Vec<Toleration<'a>> = "tolerations",
        /// Affinities.
        affinity: Affinity<'a> = "affinity",
        /// Compute resources of the pod as a whole, where they are given.
        resources: Option<Resources<'a>> = "resources",
        /// For how many seconds the pod may run; without it, for ever.
        active_deadline_seconds: Option<i64> = "activeDeadlineSeconds",
        /// Resources that the runtime class costs.
        overhead: Map<'a, Amount<'a>> = "overhead",
    }
}

impl<'a> PodSpec<'a> {
    /// Every container: first init, then regular, then ephemeral ones.
    pub(crate) fn all_containers(&self) -> impl Iterator<Item = ContainerRef<'_, 'a>> {
        [
            (ContainerKind::Init, &self.init_containers),
            (ContainerKind::Regular, &self.containers),
            (ContainerKind::Ephemeral, &self.ephemeral_containers),
        ]
        .into_iter()
        .flat_map(|(kind, containers)| {
            containers
                .iter()
                .enumerate()
                .map(move |(index, container)| ContainerRef {
                    kind,
                    index,
                    container,
                })
        })
    }
}

impl PodSpec<'_> {
    /// Whether the pod declares itself a Windows pod.
    #[must_use]
    pub(crate) fn is_windows(&self) -> bool {
        self.os.name == "windows"
    }

    /// Whether the pod has a user namespace of its own (`hostUsers: false`).
    #[must_use]
    pub(crate) fn in_user_namespace(&self) -> bool {
        self.host_users == Some(false)
    }
}

view! {
    /// Operating system of a pod.
    pub(crate) struct Os<'a> {
        /// `linux`, `windows`, or empty when not said.
        name: Cow<'a, str> = "name",
    }
}
