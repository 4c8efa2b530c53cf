//! Read-only views of pods, as far as admission plug-ins look at them.
//!
//! [`PodObject::from_json`] reads straight from text and borrows from it; no
//! intermediate document is built. `null` is the same as absent everywhere,
//! unknown fields are skipped, a wrong type is a [`ShapeError`] that names its
//! place. Rules about containers go through [`PodSpec::all_containers`].
//!
//! Views hold what was written, without Kubernetes' defaulting. To change an
//! object, work on the document itself, not on a view.

use serde_json::Value;

mod container;
mod error;
pub(crate) mod field;
mod metadata;
mod scheduling;
mod security_context;
mod spec;
pub(crate) mod view;
mod volume;

#[cfg(test)]
mod tests;

pub use container::{
    Container, ContainerKind, ContainerPort, ContainerRef, Handler, Lifecycle, Quantity, Resources,
    Target,
};
pub use error::ShapeError;
pub(crate) use error::{read_text, read_value};
pub use metadata::{Map, Metadata, OwnerReference};
pub use scheduling::{Affinity, PodAffinityTerm, PodAntiAffinity, Toleration};
pub use security_context::{
    Capabilities, PodSecurityContext, Profile, SeLinuxOptions, SecurityContext, Sysctl,
    WindowsOptions,
};
pub use spec::{Os, PodSpec};
pub use volume::{ImageVolume, Volume, VolumeSource, VolumeSources};

view::view! {
    /// A pod, or the pod template of a workload: both have this shape.
    pub struct PodObject<'a> {
        /// Name, labels, annotations.
        metadata: Metadata<'a> = "metadata",
        /// What the pod runs, and how.
        spec: PodSpec<'a> = "spec",
    }
}

impl<'a> PodObject<'a> {
    /// Reads a pod from JSON text.
    ///
    /// # Errors
    ///
    /// When the text is not JSON, or a field of a pod has the wrong type.
    pub fn from_json(text: &'a str) -> Result<Self, ShapeError> {
        read_text(text)
    }

    /// Reads a pod from a parsed document.
    ///
    /// # Errors
    ///
    /// When a field of a pod has the wrong type.
    pub fn from_value(value: &'a Value) -> Result<Self, ShapeError> {
        read_value(value)
    }
}
