//! Security settings of a pod and of a container.
//!
//! Two views, since Kubernetes has two types: the pod's settings are the
//! default for its containers only for the fields that both have.

use std::borrow::Cow;

use super::view::view;

view! {
    /// `spec.securityContext`.
    pub(crate) struct PodSecurityContext<'a> {
        /// `SELinux` label of all containers.
        se_linux_options: Option<SeLinuxOptions<'a>> = "seLinuxOptions",
        /// Windows settings of all containers.
        windows_options: Option<WindowsOptions> = "windowsOptions",
        /// User id the containers start with.
        run_as_user: Option<i64> = "runAsUser",
        /// Whether the kubelet must refuse to start as root.
        run_as_non_root: Option<bool> = "runAsNonRoot",
        /// Seccomp profile of all containers.
        seccomp_profile: Option<Profile<'a>> = "seccompProfile",
        /// `AppArmor` profile of all containers.
        app_armor_profile: Option<Profile<'a>> = "appArmorProfile",
        /// Kernel parameters of the pod.
        sysctls: Vec<Sysctl<'a>> = "sysctls",
    }
}

view! {
    /// `securityContext` of a container.
    pub(crate) struct SecurityContext<'a> {
        /// Linux capabilities added and dropped.
        capabilities: Option<Capabilities<'a>> = "capabilities",
        /// Whether the container is root on the node for all purposes.
        privileged: Option<bool> = "privileged",
        /// `SELinux` label.
        se_linux_options: Option<SeLinuxOptions<'a>> = "seLinuxOptions",
        /// Windows settings.
        windows_options: Option<WindowsOptions> = "windowsOptions",
        /// User id the container starts with.
        run_as_user: Option<i64> = "runAsUser",
        /// Whether the kubelet must refuse to start as root.
        run_as_non_root: Option<bool> = "runAsNonRoot",
        /// Whether the root file system is read-only.
        read_only_root_filesystem: Option<bool> = "readOnlyRootFilesystem",
        /// Whether a process may gain more rights than its parent has.
        allow_privilege_escalation: Option<bool> = "allowPrivilegeEscalation",
        /// How `/proc` is mounted.
        proc_mount: Option<Cow<'a, str>> = "procMount",
        /// Seccomp profile.
        seccomp_profile: Option<Profile<'a>> = "seccompProfile",
        /// `AppArmor` profile.
        app_armor_profile: Option<Profile<'a>> = "appArmorProfile",
    }
}

view! {
    /// Linux capabilities, named without the `CAP_` prefix.
    pub(crate) struct Capabilities<'a> {
        /// Capabilities added to the runtime's default set.
        add: Vec<Cow<'a, str>> = "add",
        /// Capabilities that are removed; `ALL` removes all of them.
        drop: Vec<Cow<'a, str>> = "drop",
    }
}

view! {
    /// An `SELinux` label; empty parts are left to the runtime.
    pub(crate) struct SeLinuxOptions<'a> {
        /// User part.
        user: Cow<'a, str> = "user",
        /// Role part.
        role: Cow<'a, str> = "role",
        /// Type part.
        kind: Cow<'a, str> = "type",
        /// Level part.
        level: Cow<'a, str> = "level",
    }
}

view! {
    /// A seccomp or `AppArmor` profile.
    pub(crate) struct Profile<'a> {
        /// `RuntimeDefault`, `Localhost` or `Unconfined`.
        kind: Cow<'a, str> = "type",
        /// The node's own profile, for `Localhost`.
        localhost_profile: Option<Cow<'a, str>> = "localhostProfile",
    }
}

view! {
    /// Windows settings.
    pub(crate) struct WindowsOptions {
        /// Whether the container runs on the host itself.
        host_process: Option<bool> = "hostProcess",
    }
}

view! {
    /// A kernel parameter.
    pub(crate) struct Sysctl<'a> {
        /// Name, dotted.
        name: Cow<'a, str> = "name",
        /// Value.
        value: Cow<'a, str> = "value",
    }
}
