//! Baseline: no Windows containers on the host itself.

use super::{super::text::Setters, Finding, containers_where};
use crate::pod::{PodObject, WindowsOptions};

pub(in super::super) fn setters(pod: &PodObject<'_>) -> Option<Finding> {
    let pod_context = pod.spec.security_context.as_ref();
    let setters = Setters {
        pod: pod_context.is_some_and(|context| is_host_process(context.windows_options.as_ref())),
        containers: containers_where(pod, |context| {
            context.is_some_and(|context| is_host_process(context.windows_options.as_ref()))
        }),
    };
    (!setters.is_empty()).then(|| {
        Finding::new(
            "hostProcess",
            format!(
                "{} must not set securityContext.windowsOptions.hostProcess=true",
                setters.joined()
            ),
        )
    })
}

fn is_host_process(options: Option<&WindowsOptions>) -> bool {
    options.is_some_and(|options| options.host_process == Some(true))
}
