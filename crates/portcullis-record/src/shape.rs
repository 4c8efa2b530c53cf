//! What is recorded of the requests of each door, and where the masker must look: one entry per door.
//!
//! Everything that depends on the wire format of a door is here. The masker itself knows objects (`kind`,
//! `apiVersion`, names of members), and learns from a [`MaskShape`] where in a body they are.

use portcullis_core::Door;

/// What is kept of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kept {
    /// Its body, as `input.review`, of this shape.
    Body(&'static MaskShape),
    /// What the call was about, as `input.action`; nothing of a body.
    Action,
}

/// What is kept of the requests of a door.
pub(crate) const fn kept(door: Door) -> Kept {
    match door {
        Door::Kubernetes => Kept::Body(&MaskShape::ADMISSION_REVIEW),
        Door::Authorization => Kept::Body(&MaskShape::ACCESS_REVIEW),
        Door::Ci => Kept::Body(&MaskShape::OBJECT),
        Door::Api => Kept::Action,
    }
}

/// Where in a body the objects are, and what says what it is about.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct MaskShape {
    /// The member of the body that holds what is asked. None: the body is the object itself.
    pub(crate) envelope: Option<&'static str>,
    /// Members of the envelope that are objects of the kind the request names: the object, then the one it
    /// replaces.
    pub(crate) objects: &'static [&'static str],
    /// Members of the envelope that say what the request is about. Without their texts it can't be read.
    pub(crate) subjects: &'static [&'static str],
}

impl MaskShape {
    /// An `AdmissionReview`.
    pub(crate) const ADMISSION_REVIEW: Self = Self {
        envelope: Some("request"),
        objects: &["object", "oldObject"],
        subjects: &["kind", "resource", "requestKind", "requestResource"],
    };

    /// A `SubjectAccessReview`.
    pub(crate) const ACCESS_REVIEW: Self = Self {
        envelope: Some("spec"),
        objects: &[],
        subjects: &[],
    };

    /// An object, such as a CI job.
    pub(crate) const OBJECT: Self = Self {
        envelope: None,
        objects: &[],
        subjects: &[],
    };

    /// The names of the members that lead to the object that is asked about.
    pub(crate) fn path_to_object(&self) -> impl Iterator<Item = &'static str> {
        let object = self.objects.first().copied();
        self.envelope.into_iter().chain(object)
    }
}
