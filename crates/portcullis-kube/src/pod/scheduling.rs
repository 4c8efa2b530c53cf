//! What a pod says about where it may run.

use std::borrow::Cow;

use super::{field::Presence, view::view};

view! {
    /// A taint that the pod bears with.
    pub(crate) struct Toleration<'a> {
        /// Key of the taint; empty with `Exists` for all.
        key: Cow<'a, str> = "key",
        /// `Equal` (also when empty) or `Exists`.
        operator: Cow<'a, str> = "operator",
        /// Value of the taint.
        value: Cow<'a, str> = "value",
        /// Effect of the taint; empty for all.
        effect: Cow<'a, str> = "effect",
        /// For how long a `NoExecute` taint is borne; for ever when absent.
        toleration_seconds: Option<i64> = "tolerationSeconds",
    }
}

view! {
    /// Affinities, as far as plug-ins read them.
    pub(crate) struct Affinity<'a> {
        /// Pods to be near to.
        pod_affinity: PodAffinity<'a> = "podAffinity",
        /// Pods to keep away from.
        pod_anti_affinity: PodAffinity<'a> = "podAntiAffinity",
    }
}

view! {
    /// Pods to be near to, or to keep away from.
    pub(crate) struct PodAffinity<'a> {
        /// Terms that must hold for the pod to be placed.
        required: Vec<PodAffinityTerm<'a>> = "requiredDuringSchedulingIgnoredDuringExecution",
        /// Terms that should hold.
        preferred: Vec<WeightedPodAffinityTerm<'a>> = "preferredDuringSchedulingIgnoredDuringExecution",
    }
}

impl<'a> PodAffinity<'a> {
    /// All terms.
    pub(crate) fn terms(&self) -> impl Iterator<Item = &PodAffinityTerm<'a>> {
        let preferred = self.preferred.iter().map(|weighted| &weighted.term);
        self.required.iter().chain(preferred)
    }
}

view! {
    /// A term that should hold.
    pub(crate) struct WeightedPodAffinityTerm<'a> {
        /// The term.
        term: PodAffinityTerm<'a> = "podAffinityTerm",
    }
}

view! {
    /// One affinity term.
    pub(crate) struct PodAffinityTerm<'a> {
        /// Node label whose value delimits "the same place".
        topology_key: Cow<'a, str> = "topologyKey",
        /// Namespaces of the other pods, by name.
        namespaces: Vec<Cow<'a, str>> = "namespaces",
        /// Namespaces of the other pods, by label.
        namespace_selector: Presence = "namespaceSelector",
    }
}
