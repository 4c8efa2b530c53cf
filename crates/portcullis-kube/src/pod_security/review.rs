//! Judging a pod, or a workload's template, by a namespace's whole policy.
//!
//! Only pods are enforced upon; workloads cause warnings and audit
//! annotations, and the pods they make are judged when they come. Each level and
//! version is evaluated once even when several modes ask for it.

use super::{
    config::Exemptions,
    evaluate::evaluate,
    field_error::{FieldError, join_field_errors},
    level::{LevelVersion, Policy},
    violation::Violations,
};
use crate::pod::PodObject;

/// Subresources of pods whose requests hold no pod and are never judged. All
/// others, known or not, are.
pub(crate) const IGNORED_POD_SUBRESOURCES: [&str; 8] = [
    "exec",
    "attach",
    "binding",
    "eviction",
    "log",
    "portforward",
    "proxy",
    "status",
];

/// Audit annotation that says why a request was exempt: `user`, `namespace` or
/// `runtimeClass`.
pub(crate) const EXEMPT: &str = "exempt";
/// Audit annotation with the violations of the audit policy.
pub(crate) const AUDIT_VIOLATIONS: &str = "audit-violations";
/// Audit annotation with the policy that was enforced.
pub(crate) const ENFORCE_POLICY: &str = "enforce-policy";
/// Audit annotation for what could not be understood.
pub(crate) const ERROR: &str = "error";

/// What is being judged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    /// A pod: all three modes apply.
    Pod,
    /// The template in a workload: audit and warn alone.
    Template,
}

/// What to answer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Outcome {
    /// Why the request is denied, if it is.
    pub denial: Option<String>,
    /// Words to the user; none when denied.
    pub warnings: Vec<String>,
    /// Keys and values for the audit log.
    pub audit_annotations: Vec<(&'static str, String)>,
}

/// Judges a pod or template by a policy.
///
/// `label_errors` are those that came with the policy. Exempt users and
/// namespaces are the caller's to let through beforehand, without reading the
/// object; runtime classes are seen to here.
#[must_use]
pub(crate) fn review(
    policy: &Policy,
    label_errors: &[FieldError],
    exemptions: &Exemptions,
    pod: &PodObject<'_>,
    mode: Mode,
) -> Outcome {
    let mut outcome = Outcome::default();
    let class = pod.spec.runtime_class_name.as_deref();
    if class.is_some_and(|class| exemptions.has_runtime_class(class)) {
        outcome
            .audit_annotations
            .push((EXEMPT, "runtimeClass".to_owned()));
        return outcome;
    }
    if !label_errors.is_empty() {
        let errors = join_field_errors(label_errors);
        outcome
            .audit_annotations
            .push((ERROR, format!("Failed to parse policy: {errors}")));
    }

    let mut known = Evaluations::new(pod);
    if mode == Mode::Pod {
        let enforced = policy.enforce;
        outcome
            .audit_annotations
            .push((ENFORCE_POLICY, enforced.to_string()));
        let violations = known.violations(enforced);
        if !violations.is_empty() {
            outcome.denial = Some(format!("violates PodSecurity \"{enforced}\": {violations}"));
        }
    }
    if let Some(text) = known.would_violate(policy.audit) {
        outcome.audit_annotations.push((AUDIT_VIOLATIONS, text));
    }
    // No warnings on top of a denial.
    if outcome.denial.is_none() {
        outcome.warnings.extend(known.would_violate(policy.warn));
    }
    outcome
}

/// Evaluations made so far; there are at most three.
struct Evaluations<'p, 'a> {
    pod: &'p PodObject<'a>,
    results: [Option<(LevelVersion, Violations)>; 3],
}

impl<'p, 'a> Evaluations<'p, 'a> {
    fn new(pod: &'p PodObject<'a>) -> Self {
        Self {
            pod,
            results: [const { None }; 3],
        }
    }

    fn violations(&mut self, policy: LevelVersion) -> &Violations {
        const NONE: &Violations = &Violations(Vec::new());
        let pod = self.pod;
        let is_wanted = |slot: &&mut Option<(LevelVersion, Violations)>| {
            slot.as_ref().is_none_or(|(known, _)| *known == policy)
        };
        self.results
            .iter_mut()
            .find(is_wanted)
            .map_or(NONE, |slot| {
                &slot
                    .get_or_insert_with(|| (policy, evaluate(policy, pod)))
                    .1
            })
    }

    fn would_violate(&mut self, policy: LevelVersion) -> Option<String> {
        let violations = self.violations(policy);
        (!violations.is_empty())
            .then(|| format!("would violate PodSecurity \"{policy}\": {violations}"))
    }
}

#[cfg(test)]
mod tests {
    use super::{Mode, Outcome, review};
    use crate::{
        pod::PodObject,
        pod_security::{Policy, config::Exemptions, namespace::policy_of},
    };

    const BAD: &str =
        r#"{"spec":{"hostPID":true,"runtimeClassName":"kata","containers":[{"name":"a"}]}}"#;

    fn reviewed(labels: &[(&str, &str)], mode: Mode, exemptions: &Exemptions) -> Outcome {
        let labels = labels
            .iter()
            .map(|(key, value)| (format!("pod-security.kubernetes.io/{key}"), *value))
            .collect();
        let (policy, errors) = policy_of(&labels, &Policy::default());
        let pod = PodObject::from_json(BAD).expect("a pod");
        review(&policy, &errors, exemptions, &pod, mode)
    }

    #[test]
    fn warn_alone_allows_with_one_warning() {
        let labels = [("enforce", "privileged"), ("warn", "baseline")];
        let outcome = reviewed(&labels, Mode::Pod, &Exemptions::default());
        let expected = Outcome {
            denial: None,
            warnings: vec![
                "would violate PodSecurity \"baseline:latest\": host namespaces (hostPID=true)"
                    .to_owned(),
            ],
            audit_annotations: vec![("enforce-policy", "privileged:latest".to_owned())],
        };
        assert_eq!(outcome, expected);
    }

    #[test]
    fn a_refusal_has_no_warnings_but_keeps_the_audit_annotation() {
        let labels = [
            ("enforce", "baseline"),
            ("enforce-version", "v1.30"),
            ("audit", "baseline"),
            ("warn", "restricted"),
        ];
        let outcome = reviewed(&labels, Mode::Pod, &Exemptions::default());
        let expected = Outcome {
            denial: Some(
                "violates PodSecurity \"baseline:v1.30\": host namespaces (hostPID=true)"
                    .to_owned(),
            ),
            warnings: vec![],
            audit_annotations: vec![
                ("enforce-policy", "baseline:v1.30".to_owned()),
                (
                    "audit-violations",
                    "would violate PodSecurity \"baseline:latest\": host namespaces (hostPID=true)"
                        .to_owned(),
                ),
            ],
        };
        assert_eq!(outcome, expected);
    }

    #[test]
    fn templates_are_not_enforced_upon() {
        let labels = [("enforce", "baseline")];
        let outcome = reviewed(&labels, Mode::Template, &Exemptions::default());
        assert_eq!(outcome.denial, None);
        assert_eq!(outcome.warnings.len(), 1, "warn follows enforce");
        assert_eq!(outcome.audit_annotations, []);
    }

    #[test]
    fn an_exempt_runtime_class_lets_through() {
        let exemptions = Exemptions {
            runtime_classes: ["kata".to_owned()].into(),
            ..Exemptions::default()
        };
        let outcome = reviewed(&[("enforce", "restricted")], Mode::Pod, &exemptions);
        let annotations = vec![("exempt", "runtimeClass".to_owned())];
        let expected = Outcome {
            audit_annotations: annotations,
            ..Outcome::default()
        };
        assert_eq!(outcome, expected);
    }

    #[test]
    fn a_bad_label_enforces_restricted_and_is_noted() {
        let outcome = reviewed(&[("enforce", "x")], Mode::Pod, &Exemptions::default());
        let denial = outcome.denial.expect("refused");
        assert!(denial.starts_with("violates PodSecurity \"restricted:latest\": "));
        let expected = "Failed to parse policy: metadata.labels[pod-security.kubernetes.io/enforce]: \
             Invalid value: \"x\": must be one of privileged, baseline, restricted";
        assert_eq!(outcome.audit_annotations[0], ("error", expected.to_owned()));
    }
}
