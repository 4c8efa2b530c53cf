//! Linux capabilities.
//!
//! Baseline bars adding any beyond the container runtimes' usual set.
//! Restricted requires containers to drop all and lets them add only
//! `NET_BIND_SERVICE`; that covers everything the baseline check reports.

use super::{
    super::text::{self, Values, quoted},
    Finding,
};
use crate::pod::PodObject;

const DEFAULT_SET: [&str; 13] = [
    "AUDIT_WRITE",
    "CHOWN",
    "DAC_OVERRIDE",
    "FOWNER",
    "FSETID",
    "KILL",
    "MKNOD",
    "NET_BIND_SERVICE",
    "SETFCAP",
    "SETGID",
    "SETPCAP",
    "SETUID",
    "SYS_CHROOT",
];

pub(in super::super) fn baseline(pod: &PodObject<'_>) -> Option<Finding> {
    let adding = Adding::find(pod, |capability| DEFAULT_SET.contains(&capability));
    adding
        .describe()
        .map(|detail| Finding::new("non-default capabilities", detail))
}

pub(in super::super) fn restricted(pod: &PodObject<'_>) -> Option<Finding> {
    let keeping: Vec<&str> = pod
        .spec
        .all_containers()
        .map(|found| found.container)
        .filter(|container| {
            !container
                .security_context
                .as_ref()
                .and_then(|context| context.capabilities.as_ref())
                .is_some_and(|capabilities| capabilities.drop.iter().any(|drop| drop == "ALL"))
        })
        .map(|container| &*container.name)
        .collect();
    let keeping = (!keeping.is_empty()).then(|| {
        format!(
            r#"{} must set securityContext.capabilities.drop=["ALL"]"#,
            text::containers(&keeping)
        )
    });
    let adding = Adding::find(pod, |capability| capability == "NET_BIND_SERVICE").describe();

    let detail = match (keeping, adding) {
        (None, None) => return None,
        (Some(detail), None) | (None, Some(detail)) => detail,
        (Some(keeping), Some(adding)) => format!("{keeping}; {adding}"),
    };
    Some(Finding::new("unrestricted capabilities", detail))
}

pub(in super::super) fn restricted_except_windows(pod: &PodObject<'_>) -> Option<Finding> {
    if pod.spec.is_windows() {
        return None;
    }
    restricted(pod)
}

/// Containers that add capabilities they may not, and which those are.
struct Adding<'p> {
    containers: Vec<&'p str>,
    capabilities: Values<'p>,
}

impl<'p> Adding<'p> {
    fn find(pod: &'p PodObject<'_>, may_add: impl Fn(&str) -> bool) -> Self {
        let mut adding = Self {
            containers: Vec::new(),
            capabilities: Values::new(),
        };
        for found in pod.spec.all_containers() {
            let context = found.container.security_context.as_ref();
            let Some(capabilities) = context.and_then(|context| context.capabilities.as_ref())
            else {
                continue;
            };
            let mut bad = capabilities
                .add
                .iter()
                .filter(|add| !may_add(add))
                .peekable();
            if bad.peek().is_some() {
                adding.containers.push(&found.container.name);
                adding.capabilities.extend(bad.map(|add| &**add));
            }
        }
        adding
    }

    fn describe(&self) -> Option<String> {
        (!self.containers.is_empty()).then(|| {
            format!(
                "{} must not include {} in securityContext.capabilities.add",
                text::containers(&self.containers),
                quoted(&self.capabilities)
            )
        })
    }
}
