//! Baseline: `SELinux` types are those meant for containers; user and role are
//! left alone. From 1.31 on `container_engine_t` is fine as well.

use super::{
    super::text::{Setters, Values, plural, quoted},
    Finding,
};
use crate::pod::{PodObject, SeLinuxOptions};

pub(in super::super) fn v1_0(pod: &PodObject<'_>) -> Option<Finding> {
    options(pod, |kind| {
        matches!(
            kind,
            "" | "container_t" | "container_init_t" | "container_kvm_t"
        )
    })
}

pub(in super::super) fn v1_31(pod: &PodObject<'_>) -> Option<Finding> {
    options(pod, |kind| {
        matches!(
            kind,
            "" | "container_t" | "container_init_t" | "container_kvm_t" | "container_engine_t"
        )
    })
}

fn options(pod: &PodObject<'_>, is_allowed: fn(&str) -> bool) -> Option<Finding> {
    let mut faults = Faults::default();
    let pod_context = pod.spec.security_context.as_ref();
    let mut setters = Setters {
        pod: faults.collect(
            pod_context.and_then(|context| context.se_linux_options.as_ref()),
            is_allowed,
        ),
        ..Setters::default()
    };
    for found in pod.spec.all_containers() {
        let context = found.container.security_context.as_ref();
        let options = context.and_then(|context| context.se_linux_options.as_ref());
        if faults.collect(options, is_allowed) {
            setters.containers.push(&found.container.name);
        }
    }
    (!setters.is_empty()).then(|| {
        Finding::new(
            "seLinuxOptions",
            format!(
                "{} set forbidden securityContext.seLinuxOptions: {}",
                setters.joined(),
                faults.describe()
            ),
        )
    })
}

#[derive(Default)]
struct Faults<'p> {
    types: Values<'p>,
    user: bool,
    role: bool,
}

impl<'p> Faults<'p> {
    /// Notes what is wrong with `options`; false when nothing is.
    fn collect(
        &mut self,
        options: Option<&'p SeLinuxOptions<'_>>,
        is_allowed: fn(&str) -> bool,
    ) -> bool {
        let Some(options) = options else {
            return false;
        };
        let bad_type = !is_allowed(&options.kind);
        if bad_type {
            self.types.insert(&options.kind);
        }
        let (user, role) = (!options.user.is_empty(), !options.role.is_empty());
        self.user |= user;
        self.role |= role;
        bad_type || user || role
    }

    fn describe(&self) -> String {
        let mut parts = Vec::new();
        if !self.types.is_empty() {
            let noun = plural(self.types.len(), "type", "types");
            parts.push(format!("{noun} {}", quoted(&self.types)));
        }
        if self.user {
            parts.push("user may not be set".to_owned());
        }
        if self.role {
            parts.push("role may not be set".to_owned());
        }
        parts.join("; ")
    }
}
