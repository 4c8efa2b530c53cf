//! What claims of storage use, also by their storage class.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use portcullis_core::{Attributes, Operation};

use crate::plugins::document;
use crate::plugins::ending::Ending;
use crate::plugins::read;
use crate::plugins::refusal::malformed;
use crate::pod::view::view;
use crate::pod::{Amount, Map, Metadata, Resources, ShapeError};
use crate::quantity::{Quantity, ResourceList};

use super::change::{Change, Measured, Stored, not_counted};
use super::requirement::ScopeFacts;

const NUMBER: &str = "count/persistentvolumeclaims";
const CLAIMS: &str = "persistentvolumeclaims";
const STORAGE: &str = "requests.storage";
/// Between the name of a storage class and one of the two above.
const OF_CLASS: &str = ".storageclass.storage.k8s.io/";
/// What names the class of old claims.
const CLASS_ANNOTATION: &str = "volume.beta.kubernetes.io/storage-class";

/// Whether a quota's resource is about claims.
pub(super) fn counts(resource: &str) -> bool {
    [NUMBER, CLAIMS, STORAGE].contains(&resource)
        || [CLAIMS, STORAGE].into_iter().any(|of| {
            let class = resource.strip_suffix(of);
            class.is_some_and(|class| class.ends_with(OF_CLASS))
        })
}

/// What the request changes. The status counts as it is stored: what callers write there means nothing.
pub(super) fn measure(request: &Attributes) -> Result<Change, Ending> {
    if !request.subresource.is_empty() {
        return Err(not_counted("a subresource of a claim"));
    }
    let new: Claim<'_> = read::object(request, "PersistentVolumeClaim")?;
    let old = match (&request.old_object, request.operation) {
        (Some(old), Operation::Update) => document::view::<Claim<'_>>(old).ok(),
        _ => None,
    };
    let nothing = Status::default();
    let status = old.as_ref().map_or(&nothing, |old| &old.status);
    let used = |claim: &Claim<'_>| usage(claim, status).map_err(|error| malformed(request, error));
    let stored = old.as_ref().map(|old| {
        Ok::<_, Ending>(Stored {
            measured: used(old)?,
            version: old.metadata.resource_version.as_ref().to_owned(),
        })
    });
    Ok(Change {
        new: used(&new)?,
        old: stored.transpose()?,
    })
}

fn usage(claim: &Claim<'_>, status: &Status<'_>) -> Result<Measured, ShapeError> {
    let mut usage = ResourceList::default();
    let annotation = claim.metadata.annotations.get(CLASS_ANNOTATION);
    let class = annotation.unwrap_or(&claim.spec.storage_class_name);
    let mut add = |name: &str, amount: &Quantity| {
        usage.insert(name, amount.clone());
        if !class.is_empty() && name != NUMBER {
            usage.insert(format!("{class}{OF_CLASS}{name}"), amount.clone());
        }
    };
    add(NUMBER, &Quantity::of(1));
    add(CLAIMS, &Quantity::of(1));
    let amount = |amounts: &Map<'_, Amount<'_>>, path: &str| {
        let amount = amounts.get("storage");
        amount
            .map(|amount| amount.quantity(&path, "storage"))
            .transpose()
    };
    let requested = amount(&claim.spec.resources.requests, "spec.resources.requests")?;
    // While a volume grows, or failed to, what was set aside for it counts.
    let allocated = amount(&status.allocated_resources, "status.allocatedResources")?;
    if let Some(requested) = requested {
        let larger = allocated.filter(|allocated| *allocated > requested);
        add(STORAGE, &larger.unwrap_or(requested).in_whole());
    }
    let classes = [
        &claim.spec.volume_attributes_class_name,
        &status.current_volume_attributes_class_name,
        &status
            .modify_volume_status
            .target_volume_attributes_class_name,
    ];
    let classes = classes.into_iter().filter(|class| !class.is_empty());
    let classes: BTreeSet<String> = classes.map(|class| class.as_ref().to_owned()).collect();
    Ok(Measured {
        usage,
        scopes: ScopeFacts::Claim(classes),
        containers: BTreeMap::new(),
    })
}

view! {
    /// A claim of storage, as far as it is counted.
    struct Claim<'a> {
        /// Metadata.
        metadata: Metadata<'a> = "metadata",
        /// Specification.
        spec: Spec<'a> = "spec",
        /// Status.
        status: Status<'a> = "status",
    }
}

view! {
    /// Specification of a claim.
    struct Spec<'a> {
        /// What is asked for.
        resources: Resources<'a> = "resources",
        /// Storage class.
        storage_class_name: Cow<'a, str> = "storageClassName",
        /// Class of volume attributes.
        volume_attributes_class_name: Cow<'a, str> = "volumeAttributesClassName",
    }
}

view! {
    /// Status of a claim.
    struct Status<'a> {
        /// What is set aside.
        allocated_resources: Map<'a, Amount<'a>> = "allocatedResources",
        /// Class of volume attributes that the volume has.
        current_volume_attributes_class_name: Cow<'a, str> = "currentVolumeAttributesClassName",
        /// The change that is under way.
        modify_volume_status: Modification<'a> = "modifyVolumeStatus",
    }
}

view! {
    /// A change of a volume's attributes.
    struct Modification<'a> {
        /// Class of volume attributes that the volume will have.
        target_volume_attributes_class_name: Cow<'a, str> = "targetVolumeAttributesClassName",
    }
}
