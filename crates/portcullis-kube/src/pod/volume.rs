//! Volumes: their name and which kind of source they have.
//!
//! The content of a source is not read, save for image volumes. A volume with
//! no source at all is an empty directory, as Kubernetes has it; one with
//! nothing but a source that is not in [`VolumeSource`] has no known source.

use std::borrow::Cow;

use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess};

use super::{
    field::{Field, Presence, Read},
    view::view,
};

/// A volume of a pod.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Volume<'a> {
    /// Name, unique in the pod.
    pub name: Cow<'a, str>,
    /// Which sources are set; exactly one in a valid pod.
    pub sources: VolumeSources,
    /// The image, when the volume is one.
    pub image: Option<ImageVolume<'a>>,
}

view! {
    /// A volume that shows the content of an image.
    pub(crate) struct ImageVolume<'a> {
        /// Image reference.
        reference: Cow<'a, str> = "reference",
        /// `Always`, `IfNotPresent` or `Never`; empty before defaulting.
        pull_policy: Cow<'a, str> = "pullPolicy",
    }
}

impl<'de> Field<'de> for Volume<'de> {
    const EXPECTED: &'static str = "an object";

    fn from_object<A: MapAccess<'de>>(mut object: A) -> Result<Self, A::Error> {
        let mut volume = Self::default();
        let mut has_unknown = false;
        while let Some(Read(key)) = object.next_key::<Read<Cow<'_, str>>>()? {
            if key == "name" {
                volume.name = object.next_value::<Read<_>>()?.0;
            } else if key == "image" {
                volume.image = object.next_value::<Read<_>>()?.0;
                volume
                    .sources
                    .set(VolumeSource::Image, volume.image.is_some());
            } else if let Some(source) = VolumeSource::from_key(&key) {
                let Read(Presence(present)) = object.next_value()?;
                volume.sources.set(source, present);
            } else {
                has_unknown |= object.next_value::<Option<IgnoredAny>>()?.is_some();
            }
        }
        let is_empty = volume.sources == VolumeSources::default() && !has_unknown;
        if is_empty {
            volume.sources.set(VolumeSource::EmptyDir, true);
        }
        Ok(volume)
    }
}

impl<'de> Deserialize<'de> for Volume<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Read::deserialize(deserializer).map(|read| read.0)
    }
}

/// A set of volume sources.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct VolumeSources(u32);

impl VolumeSources {
    /// Whether `source` is among them.
    #[must_use]
    pub(crate) fn contains(self, source: VolumeSource) -> bool {
        self.0 & source.bit() != 0
    }

    /// The sources, in the order of [`VolumeSource::ALL`].
    pub(crate) fn iter(self) -> impl Iterator<Item = VolumeSource> {
        VolumeSource::ALL
            .iter()
            .copied()
            .filter(move |source| self.contains(*source))
    }

    fn set(&mut self, source: VolumeSource, present: bool) {
        if present {
            self.0 |= source.bit();
        } else {
            self.0 &= !source.bit();
        }
    }
}

macro_rules! volume_sources {
    ($( $name:ident = $key:literal, )*) => {
        /// The kinds of volume that Kubernetes knows.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(crate) enum VolumeSource {
            $( #[doc = concat!("`", $key, "`")] $name, )*
        }

        impl VolumeSource {
            /// All kinds: first those that touch nothing but the pod's own
            /// data, then those that reach the node or a network.
            pub(crate) const ALL: &[Self] = &[$( Self::$name, )*];

            /// The key under which the source is set.
            #[must_use]
            pub(crate) fn key(self) -> &'static str {
                match self { $( Self::$name => $key, )* }
            }

            fn from_key(key: &str) -> Option<Self> {
                match key { $( $key => Some(Self::$name), )* _ => None }
            }

            fn bit(self) -> u32 {
                1 << (self as u32)
            }
        }
    };
}

volume_sources! {
    ConfigMap = "configMap",
    Csi = "csi",
    DownwardApi = "downwardAPI",
    EmptyDir = "emptyDir",
    Ephemeral = "ephemeral",
    Image = "image",
    PersistentVolumeClaim = "persistentVolumeClaim",
    Projected = "projected",
    Secret = "secret",
    HostPath = "hostPath",
    GcePersistentDisk = "gcePersistentDisk",
    AwsElasticBlockStore = "awsElasticBlockStore",
    GitRepo = "gitRepo",
    Nfs = "nfs",
    Iscsi = "iscsi",
    Glusterfs = "glusterfs",
    Rbd = "rbd",
    FlexVolume = "flexVolume",
    Cinder = "cinder",
    CephFs = "cephfs",
    Flocker = "flocker",
    Fc = "fc",
    AzureFile = "azureFile",
    VsphereVolume = "vsphereVolume",
    Quobyte = "quobyte",
    AzureDisk = "azureDisk",
    PhotonPersistentDisk = "photonPersistentDisk",
    PortworxVolume = "portworxVolume",
    ScaleIo = "scaleIO",
    StorageOs = "storageos",
}
