//! Read-only views of pods, as far as admission plug-ins look at them.
//!
//! `read_text` reads straight from text and borrows from it; no intermediate
//! document is built. `null` is the same as absent everywhere,
//! unknown fields are skipped, a wrong type is a [`ShapeError`] that names its
//! place. Rules about containers go through [`PodSpec::all_containers`].
//!
//! Views hold what was written, without Kubernetes' defaulting. To change an
//! object, work on the document itself, not on a view.

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

pub(crate) use container::{Amount, Container, ContainerKind, Resources};
pub(crate) use error::ShapeError;
pub(crate) use error::{read_text, read_value};
pub(crate) use metadata::{Map, Metadata};
pub(crate) use scheduling::Toleration;
pub(crate) use security_context::{Profile, SeLinuxOptions, SecurityContext, WindowsOptions};
pub(crate) use spec::PodSpec;
pub(crate) use volume::{Volume, VolumeSource};

view::view! {
    /// A pod, or the pod template of a workload: both have this shape.
    pub(crate) struct PodObject<'a> {
        /// Name, labels, annotations.
        metadata: Metadata<'a> = "metadata",
        /// What the pod runs, and how.
        spec: PodSpec<'a> = "spec",
    }
}

#[cfg(test)]
impl<'a> PodObject<'a> {
    /// Reads a pod from JSON text.
    pub(crate) fn from_json(text: &'a str) -> Result<Self, ShapeError> {
        read_text(text)
    }

    /// Reads a pod from a parsed document.
    pub(crate) fn from_value(value: &'a serde_json::Value) -> Result<Self, ShapeError> {
        read_value(value)
    }
}
