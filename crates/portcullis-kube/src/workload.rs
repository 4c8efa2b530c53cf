//! Where a workload keeps its pod template.
//!
//! Knows the nine built-in kinds that hold one. Custom resources that embed a
//! template are not looked into. The template is read straight from the
//! object's text, without reading the rest.

use serde_json::Value;

use crate::pod::{PodObject, ShapeError, read_text, read_value, view::view};

/// A built-in kind that is a pod or makes pods.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Workload {
    /// A pod itself.
    Pod,
    /// A stored template.
    PodTemplate,
    /// The first controller of replicas.
    ReplicationController,
    /// A controller of replicas.
    ReplicaSet,
    /// Replicas with a roll-out.
    Deployment,
    /// Replicas with an identity.
    StatefulSet,
    /// One pod for each node.
    DaemonSet,
    /// Pods that run to an end.
    Job,
    /// Jobs on a schedule.
    CronJob,
}

impl Workload {
    /// All of them.
    pub(crate) const ALL: &[Self] = &[
        Self::Pod,
        Self::PodTemplate,
        Self::ReplicationController,
        Self::ReplicaSet,
        Self::Deployment,
        Self::StatefulSet,
        Self::DaemonSet,
        Self::Job,
        Self::CronJob,
    ];

    /// The workload of an API group and kind, such as `apps` and `Deployment`.
    #[must_use]
    pub fn from_kind(group: &str, kind: &str) -> Option<Self> {
        Self::find(|workload| workload.group() == group && workload.kind() == kind)
    }

    /// The workload of an API group and resource, such as `apps` and
    /// `deployments`.
    #[must_use]
    pub fn from_resource(group: &str, resource: &str) -> Option<Self> {
        Self::find(|workload| workload.group() == group && workload.resource() == resource)
    }

    fn find(wanted: impl Fn(Self) -> bool) -> Option<Self> {
        Self::ALL.iter().copied().find(|workload| wanted(*workload))
    }

    /// API group; empty for the core group.
    #[must_use]
    pub(crate) fn group(self) -> &'static str {
        match self {
            Self::Pod | Self::PodTemplate | Self::ReplicationController => "",
            Self::ReplicaSet | Self::Deployment | Self::StatefulSet | Self::DaemonSet => "apps",
            Self::Job | Self::CronJob => "batch",
        }
    }

    /// Kind, as in `kind: Deployment`.
    #[must_use]
    pub(crate) fn kind(self) -> &'static str {
        match self {
            Self::Pod => "Pod",
            Self::PodTemplate => "PodTemplate",
            Self::ReplicationController => "ReplicationController",
            Self::ReplicaSet => "ReplicaSet",
            Self::Deployment => "Deployment",
            Self::StatefulSet => "StatefulSet",
            Self::DaemonSet => "DaemonSet",
            Self::Job => "Job",
            Self::CronJob => "CronJob",
        }
    }

    /// Resource, as in a URL.
    #[must_use]
    pub(crate) fn resource(self) -> &'static str {
        match self {
            Self::Pod => "pods",
            Self::PodTemplate => "podtemplates",
            Self::ReplicationController => "replicationcontrollers",
            Self::ReplicaSet => "replicasets",
            Self::Deployment => "deployments",
            Self::StatefulSet => "statefulsets",
            Self::DaemonSet => "daemonsets",
            Self::Job => "jobs",
            Self::CronJob => "cronjobs",
        }
    }

    /// Keys that lead from the object to its template; none for a pod.
    #[must_use]
    pub(crate) fn template_path(self) -> &'static [&'static str] {
        match self {
            Self::Pod => &[],
            Self::PodTemplate => &["template"],
            Self::CronJob => &["spec", "jobTemplate", "spec", "template"],
            Self::ReplicationController
            | Self::ReplicaSet
            | Self::Deployment
            | Self::StatefulSet
            | Self::DaemonSet
            | Self::Job => &["spec", "template"],
        }
    }

    /// The pod template in an object given as text; none when it has none.
    ///
    /// # Errors
    ///
    /// When the text is not JSON, or a field on the way has the wrong type.
    pub(crate) fn template_from_json<'a>(
        self,
        text: &'a str,
    ) -> Result<Option<PodObject<'a>>, ShapeError> {
        match self.template_path() {
            [] => read_text(text),
            [_] => read_text(text).map(|holder: Holder<'a>| holder.template),
            [_, _] => read_text(text).map(|outer: Controller<'a>| outer.spec.template),
            _ => read_text(text).map(|outer: Schedule<'a>| outer.spec.job_template.spec.template),
        }
    }

    /// The pod template in a parsed object; none when it has none.
    ///
    /// # Errors
    ///
    /// When a field on the way has the wrong type.
    pub(crate) fn template_from_value(
        self,
        value: &Value,
    ) -> Result<Option<PodObject<'_>>, ShapeError> {
        match self.template_path() {
            [] => read_value(value),
            [_] => read_value(value).map(|holder: Holder<'_>| holder.template),
            [_, _] => read_value(value).map(|outer: Controller<'_>| outer.spec.template),
            _ => read_value(value).map(|outer: Schedule<'_>| outer.spec.job_template.spec.template),
        }
    }
}

view! {
    /// Anything with a `template` key.
    struct Holder<'a> {
        /// The template.
        template: Option<PodObject<'a>> = "template",
    }
}

view! {
    /// Anything with `spec.template`.
    struct Controller<'a> {
        /// Its specification.
        spec: Holder<'a> = "spec",
    }
}

view! {
    /// A cron job.
    struct Schedule<'a> {
        /// Its specification.
        spec: ScheduleSpec<'a> = "spec",
    }
}

view! {
    /// A cron job's specification.
    struct ScheduleSpec<'a> {
        /// The job it makes.
        job_template: Controller<'a> = "jobTemplate",
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::Workload;

    fn wrapped(workload: Workload, pod: Value) -> Value {
        workload
            .template_path()
            .iter()
            .rev()
            .fold(pod, |inner, key| json!({ *key: inner }))
    }

    #[test]
    fn every_workload_yields_its_template() {
        for workload in Workload::ALL {
            let pod = json!({"metadata": {"labels": {"a": "b"}}, "spec": {"hostPID": true}});
            let object = wrapped(*workload, pod);
            let text = object.to_string();
            for template in [
                workload.template_from_json(&text),
                workload.template_from_value(&object),
            ] {
                let template = template.expect("well shaped").expect("a template");
                assert!(template.spec.host_pid, "{workload:?}");
                assert_eq!(template.metadata.labels["a"], "b");
            }
        }
    }

    #[test]
    fn a_workload_without_template_yields_none() {
        for workload in Workload::ALL.iter().filter(|w| **w != Workload::Pod) {
            assert_eq!(workload.template_from_json("{}"), Ok(None));
            let null = wrapped(*workload, Value::Null);
            assert_eq!(workload.template_from_value(&null), Ok(None));
        }
    }

    #[test]
    fn a_fault_is_named_by_its_path_in_the_whole_object() {
        let object = wrapped(Workload::CronJob, json!({"spec": {"containers": [1]}}));
        let error = Workload::CronJob.template_from_value(&object);
        assert_eq!(
            error.expect_err("a fault").to_string(),
            "spec.jobTemplate.spec.template.spec.containers[0]: expected an object, found a number"
        );
    }

    #[test]
    fn group_and_kind_both_count() {
        assert_eq!(
            Workload::from_kind("apps", "Deployment"),
            Some(Workload::Deployment)
        );
        assert_eq!(Workload::from_kind("", "Deployment"), None);
        assert_eq!(Workload::from_kind("example.com", "Pod"), None);
        for workload in Workload::ALL {
            let (group, resource) = (workload.group(), workload.resource());
            assert_eq!(Workload::from_resource(group, resource), Some(*workload));
            assert_eq!(Workload::from_kind(group, workload.kind()), Some(*workload));
        }
    }
}
