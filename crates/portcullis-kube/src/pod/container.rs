//! Containers of all three kinds.

use std::{borrow::Cow, fmt};

use serde::de::Error;

use super::{field::Field, metadata::Map, security_context::SecurityContext, view::view};

view! {
    /// A container; ephemeral and init containers have the same fields.
    pub(crate) struct Container<'a> {
        /// Name, unique in the pod.
        name: Cow<'a, str> = "name",
        /// Image reference; empty when a controller is to fill it in.
        image: Cow<'a, str> = "image",
        /// `Always`, `IfNotPresent` or `Never`; empty before defaulting.
        image_pull_policy: Cow<'a, str> = "imagePullPolicy",
        /// Own restart policy; `Always` makes an init container a sidecar.
        restart_policy: Option<Cow<'a, str>> = "restartPolicy",
        /// Security settings.
        security_context: Option<SecurityContext<'a>> = "securityContext",
        /// Ports.
        ports: Vec<ContainerPort<'a>> = "ports",
        /// Compute resources.
        resources: Resources<'a> = "resources",
        /// Liveness probe.
        liveness_probe: Option<Handler<'a>> = "livenessProbe",
        /// Readiness probe.
        readiness_probe: Option<Handler<'a>> = "readinessProbe",
        /// Startup probe.
        startup_probe: Option<Handler<'a>> = "startupProbe",
        /// Hooks after start and before stop.
        lifecycle: Lifecycle<'a> = "lifecycle",
    }
}

view! {
    /// A port that a container uses.
    pub(crate) struct ContainerPort<'a> {
        /// Name.
        name: Cow<'a, str> = "name",
        /// Port on the pod's address.
        container_port: i64 = "containerPort",
        /// Port on the node's address; 0 for none.
        host_port: i64 = "hostPort",
        /// Node address that the host port is bound to.
        host_ip: Cow<'a, str> = "hostIP",
        /// `TCP`, `UDP` or `SCTP`.
        protocol: Cow<'a, str> = "protocol",
    }
}

view! {
    /// Compute resources asked for.
    pub(crate) struct Resources<'a> {
        /// Upper bounds by resource name.
        limits: Map<'a, Amount<'a>> = "limits",
        /// Guaranteed amounts by resource name.
        requests: Map<'a, Amount<'a>> = "requests",
    }
}

/// An amount as written: `500m`, `1Gi`, or a bare number.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Amount<'a>(pub Cow<'a, str>);

impl<'de> Field<'de> for Amount<'de> {
    const EXPECTED: &'static str = "a quantity";

    fn from_text<E: Error>(value: Cow<'de, str>) -> Result<Self, E> {
        Ok(Self(value))
    }

    fn from_integer<E: Error>(value: i128) -> Result<Self, E> {
        Ok(Self(Cow::Owned(value.to_string())))
    }

    fn from_fraction<E: Error>(value: f64) -> Result<Self, E> {
        Ok(Self(Cow::Owned(value.to_string())))
    }
}

view! {
    /// Hooks that the kubelet runs.
    pub(crate) struct Lifecycle<'a> {
        /// Hook after the start.
        post_start: Option<Handler<'a>> = "postStart",
        /// Hook before the stop.
        pre_stop: Option<Handler<'a>> = "preStop",
    }
}

view! {
    /// What a probe or a hook calls, as far as it leaves the container.
    pub(crate) struct Handler<'a> {
        /// HTTP request.
        http_get: Option<Target<'a>> = "httpGet",
        /// TCP connection.
        tcp_socket: Option<Target<'a>> = "tcpSocket",
    }
}

view! {
    /// Where a probe or a hook connects to.
    pub(crate) struct Target<'a> {
        /// Host; empty for the pod's own address.
        host: Cow<'a, str> = "host",
    }
}

/// Which of a pod's three lists a container stands in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ContainerKind {
    /// `spec.initContainers`
    Init,
    /// `spec.containers`
    Regular,
    /// `spec.ephemeralContainers`
    Ephemeral,
}

impl ContainerKind {
    /// The key of the list in a pod's `spec`.
    #[must_use]
    pub(crate) fn key(self) -> &'static str {
        match self {
            Self::Init => "initContainers",
            Self::Regular => "containers",
            Self::Ephemeral => "ephemeralContainers",
        }
    }
}

/// A container together with where it stands.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ContainerRef<'p, 'a> {
    /// The list it stands in.
    pub kind: ContainerKind,
    /// Its place in that list, from 0.
    pub index: usize,
    /// The container.
    pub container: &'p Container<'a>,
}

impl ContainerRef<'_, '_> {
    /// The container's place in the pod: prints as `spec.containers[0]`.
    #[must_use]
    pub(crate) fn path(&self) -> impl fmt::Display + use<> {
        ContainerPath {
            kind: self.kind,
            index: self.index,
        }
    }
}

struct ContainerPath {
    kind: ContainerKind,
    index: usize,
}

impl fmt::Display for ContainerPath {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "spec.{}[{}]", self.kind.key(), self.index)
    }
}
