//! The parts of an object's `metadata` that plug-ins read.

use std::{borrow::Cow, collections::BTreeMap};

use super::view::view;

/// Labels, annotations and other maps from text to something, sorted by key.
pub(crate) type Map<'a, V> = BTreeMap<Cow<'a, str>, V>;

view! {
    /// An object's metadata.
    pub(crate) struct Metadata<'a> {
        /// Name; empty while the server has still to generate one.
        name: Cow<'a, str> = "name",
        /// Prefix from which the server makes a name.
        generate_name: Cow<'a, str> = "generateName",
        /// Namespace, empty for objects of the whole cluster and in templates.
        namespace: Cow<'a, str> = "namespace",
        /// The server's identifier of this incarnation.
        uid: Cow<'a, str> = "uid",
        /// The version of the stored object; empty for one that is not stored.
        resource_version: Cow<'a, str> = "resourceVersion",
        /// Labels.
        labels: Map<'a, Cow<'a, str>> = "labels",
        /// Annotations.
        annotations: Map<'a, Cow<'a, str>> = "annotations",
        /// The owners of the object.
        owner_references: Vec<OwnerReference<'a>> = "ownerReferences",
        /// When deletion was asked for, if it was.
        deletion_timestamp: Option<Cow<'a, str>> = "deletionTimestamp",
    }
}

view! {
    /// One owner of an object.
    pub(crate) struct OwnerReference<'a> {
        /// API version of the owner.
        api_version: Cow<'a, str> = "apiVersion",
        /// Kind of the owner.
        kind: Cow<'a, str> = "kind",
        /// Name of the owner.
        name: Cow<'a, str> = "name",
        /// Identifier of the owner.
        uid: Cow<'a, str> = "uid",
        /// Whether the owner manages the object.
        controller: bool = "controller",
    }
}
