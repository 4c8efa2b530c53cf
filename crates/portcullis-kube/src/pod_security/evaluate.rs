//! Which checks apply at a level and version, and running them.
//!
//! [`CHECKS`] is the whole of the standards as a table, in Kubernetes' order:
//! baseline checks by identifier, then restricted ones. A check has one or more
//! revisions, each from some minor version on. Restricted includes baseline,
//! save for checks that a stricter one of the same fields has taken over.

use super::{
    checks::{
        Finding, allow_privilege_escalation, app_armor, capabilities, host_namespaces, host_ports,
        host_probes, privileged, proc_mount, run_as, se_linux, seccomp, sysctls, volumes,
        windows_host_process,
    },
    level::{Level, LevelVersion, Version},
    violation::{Violation, Violations},
};
use crate::pod::PodObject;

/// The newest minor version of Kubernetes whose standards are known: 1.37.
pub(crate) const NEWEST_MINOR: u64 = 37;

/// Judges a pod; the result is empty, without having allocated, when it is
/// fine.
#[must_use]
pub(crate) fn evaluate(policy: LevelVersion, pod: &PodObject<'_>) -> Violations {
    if policy.level == Level::Privileged {
        return Violations::default();
    }
    let minor = match policy.version {
        Version::V(minor) => minor.min(NEWEST_MINOR),
        Version::Latest => NEWEST_MINOR,
    };
    Violations(
        CHECKS
            .iter()
            .filter(|check| check.applies(policy.level, minor))
            .filter_map(|check| check.run(minor, pod))
            .collect(),
    )
}

/// One check of the standards.
pub(super) struct Check {
    pub(super) id: &'static str,
    pub(super) level: Level,
    /// From this minor version on, restricted has a check of its own for the
    /// same fields, which says all that this one would.
    pub(super) superseded: Option<u64>,
    /// With increasing versions.
    pub(super) revisions: &'static [Revision],
}

/// What a check looks at from some minor version on.
pub(super) struct Revision {
    pub(super) since: u64,
    pub(super) check: fn(&PodObject<'_>) -> Option<Finding>,
}

impl Check {
    pub(super) fn applies(&self, level: Level, minor: u64) -> bool {
        let taken_over = level == Level::Restricted
            && self
                .superseded
                .is_some_and(|superseded| superseded <= minor);
        self.level <= level && !taken_over
    }

    fn run(&self, minor: u64, pod: &PodObject<'_>) -> Option<Violation> {
        let revision = self.revisions.iter().rfind(|r| r.since <= minor)?;
        let Finding { reason, detail } = (revision.check)(pod)?;
        Some(Violation {
            check: self.id,
            reason,
            detail,
        })
    }
}

const fn since(minor: u64, check: fn(&PodObject<'_>) -> Option<Finding>) -> Revision {
    Revision {
        since: minor,
        check,
    }
}

const fn baseline(id: &'static str, revisions: &'static [Revision]) -> Check {
    Check {
        id,
        level: Level::Baseline,
        superseded: None,
        revisions,
    }
}

const fn baseline_until(
    superseded: u64,
    id: &'static str,
    revisions: &'static [Revision],
) -> Check {
    Check {
        id,
        level: Level::Baseline,
        superseded: Some(superseded),
        revisions,
    }
}

const fn restricted(id: &'static str, revisions: &'static [Revision]) -> Check {
    Check {
        id,
        level: Level::Restricted,
        superseded: None,
        revisions,
    }
}

/// All checks, in the order in which violations are listed.
pub(super) static CHECKS: &[Check] = &[
    baseline("appArmorProfile", &[since(0, app_armor::profiles)]),
    baseline_until(
        22,
        "capabilities_baseline",
        &[since(0, capabilities::baseline)],
    ),
    baseline("hostNamespaces", &[since(0, host_namespaces::shared)]),
    baseline_until(0, "hostPathVolumes", &[since(0, volumes::host_path)]),
    baseline("hostPorts", &[since(0, host_ports::used)]),
    baseline(
        "hostProbesAndHostLifecycle",
        &[since(34, host_probes::hosts)],
    ),
    baseline("privileged", &[since(0, privileged::containers)]),
    baseline_until(
        35,
        "procMount",
        &[
            since(0, proc_mount::always),
            since(35, proc_mount::outside_user_namespaces),
        ],
    ),
    baseline(
        "seLinuxOptions",
        &[since(0, se_linux::v1_0), since(31, se_linux::v1_31)],
    ),
    baseline_until(
        19,
        "seccompProfile_baseline",
        &[
            since(0, seccomp::baseline_annotations),
            since(19, seccomp::baseline_fields),
        ],
    ),
    baseline(
        "sysctls",
        &[
            since(0, sysctls::v1_0),
            since(27, sysctls::v1_27),
            since(29, sysctls::v1_29),
            since(32, sysctls::v1_32),
            since(37, sysctls::v1_37),
        ],
    ),
    baseline(
        "windowsHostProcess",
        &[since(0, windows_host_process::setters)],
    ),
    restricted(
        "allowPrivilegeEscalation",
        &[
            since(8, allow_privilege_escalation::all_pods),
            since(25, allow_privilege_escalation::except_windows),
        ],
    ),
    restricted(
        "capabilities_restricted",
        &[
            since(22, capabilities::restricted),
            since(25, capabilities::restricted_except_windows),
        ],
    ),
    restricted("procMount_restricted", &[since(35, proc_mount::always)]),
    restricted("restrictedVolumes", &[since(0, volumes::restricted)]),
    restricted(
        "runAsNonRoot",
        &[
            since(0, run_as::non_root),
            since(35, run_as::non_root_outside_user_namespaces),
        ],
    ),
    restricted(
        "runAsUser",
        &[
            since(23, run_as::user),
            since(35, run_as::user_outside_user_namespaces),
        ],
    ),
    restricted(
        "seccompProfile_restricted",
        &[
            since(19, seccomp::restricted),
            since(25, seccomp::restricted_except_windows),
        ],
    ),
];
