//! `DenyServiceExternalIPs`: services can't get new external addresses.
//!
//! External IPs let everyone who may write services catch traffic meant for others
//! (CVE-2020-8554). Addresses a service has already may stay or go; load
//! balancers' addresses are not looked at.

use std::borrow::Cow;
use std::collections::BTreeSet;

use crate::registry::{DependsOn, Descriptor};
use portcullis_core::{
    Attributes, Notes, Operation, Operations, Outcome, Phases, Plugin, PluginError,
};

use crate::pod::view::view;

use super::document;
use super::read::{self, OrOutcome, settled};
use super::refusal::forbidden;

#[derive(Clone, Copy, Debug)]
struct DenyServiceExternalIps;

pub(super) fn descriptor() -> Descriptor {
    Descriptor {
        name: "DenyServiceExternalIPs",
        summary: "Denies new external IPs of services.",
        phases: Phases::VALIDATE,
        operations: Operations::WRITES,
        depends_on: DependsOn::Request,
        reads: Vec::new(),
        schema: None,
        factory: super::without_configuration(DenyServiceExternalIps),
    }
}

impl Plugin for DenyServiceExternalIps {
    fn handles(&self, operation: Operation) -> bool {
        Operations::WRITES.contains(operation)
    }

    fn phases(&self) -> Phases {
        Phases::VALIDATE
    }

    fn resources(&self) -> Option<&'static [(&'static str, &'static str)]> {
        Some(&[("", "services")])
    }

    fn validate(&self, request: &Attributes, _: &mut Notes) -> Result<Outcome, PluginError> {
        settled(check(request))
    }
}

fn check(request: &Attributes) -> OrOutcome<Outcome> {
    if !request.resource.is("", "services") {
        return Err(Outcome::not_applicable("not a service"));
    }
    if !request.subresource.is_empty() {
        return Err(Outcome::not_applicable("a subresource of a service"));
    }
    let service: Service<'_> = read::object(request, "Service")?;
    // An old service that can't be read has no addresses: all are new then.
    let old: Service<'_> = match &request.old_object {
        Some(old) if request.operation == Operation::Update => {
            document::view(old).unwrap_or_default()
        }
        _ => Service::default(),
    };
    let known: BTreeSet<&str> = old.spec.external_ips.iter().map(AsRef::as_ref).collect();
    let mut wanted = service.spec.external_ips.iter();
    if wanted.all(|ip| known.contains(ip.as_ref())) {
        return Ok(Outcome::Pass);
    }
    Err(forbidden(
        request,
        "Use of external IPs is denied by admission control",
    ))
}

view! {
    /// A service, as far as it is looked at.
    struct Service<'a> {
        /// Specification.
        spec: ServiceSpec<'a> = "spec",
    }
}

view! {
    /// A service's specification.
    struct ServiceSpec<'a> {
        /// External addresses.
        external_ips: Vec<Cow<'a, str>> = "externalIPs",
    }
}

#[cfg(test)]
mod tests {
    use portcullis_core::Outcome;
    use serde_json::{Value, json};

    use super::super::testing::{create_pod, denial, plugin, service, update, validate};

    const NAME: &str = "DenyServiceExternalIPs";

    fn with(ips: &[&str]) -> Value {
        json!({"spec": {"externalIPs": ips}})
    }

    #[test]
    fn a_new_service_has_none() {
        for object in [json!({}), with(&[]), json!({"spec": {"externalIPs": null}})] {
            assert_eq!(validate(&plugin(NAME), &service(object)), Outcome::Pass);
        }
        let denial = denial(validate(&plugin(NAME), &service(with(&["1.1.1.1"]))));
        assert_eq!((denial.code, denial.reason.as_ref()), (403, "Forbidden"));
        assert_eq!(
            denial.message,
            "services \"web\" is forbidden: Use of external IPs is denied by admission control"
        );
    }

    #[test]
    fn an_update_may_keep_and_drop_but_not_add() {
        let (a, b, c) = ("1.1.1.1", "2.2.2.2", "3.3.3.3");
        let cases: &[(&[&str], &[&str], bool)] = &[
            (&[a, b], &[a, b], true),
            (&[b, a], &[a, b], true),
            (&[a, b], &[], true),
            (&[a, b], &[a], true),
            (&[a, b], &[b], true),
            (&[a], &[a, a], true),
            (&[a, c], &[a, b], false),
            (&[a], &[a, b], false),
            (&[], &[a], false),
        ];
        for (old, new, passes) in cases {
            let outcome = validate(&plugin(NAME), &update(service(with(new)), with(old)));
            assert_eq!(outcome == Outcome::Pass, *passes, "{old:?} to {new:?}");
        }
    }

    #[test]
    fn an_old_object_vouches_only_when_it_is_a_service_of_before() {
        for old in [
            json!(null),
            json!([]),
            json!({"spec": {"externalIPs": "1.1.1.1"}}),
        ] {
            let request = update(service(with(&["1.1.1.1"])), old);
            assert_eq!(denial(validate(&plugin(NAME), &request)).code, 403);
        }
        let mut request = service(with(&["1.1.1.1"]));
        request.old_object = request.object.clone();
        assert_eq!(denial(validate(&plugin(NAME), &request)).code, 403);
        let mut request = update(service(with(&["1.1.1.1"])), json!({}));
        request.old_object = None;
        assert_eq!(denial(validate(&plugin(NAME), &request)).code, 403);
    }

    #[test]
    fn only_services_proper_are_looked_at() {
        let mut status = service(with(&["1.1.1.1"]));
        status.subresource = "status".into();
        let mut elsewhere = service(with(&["1.1.1.1"]));
        elsewhere.resource.group = "example.com".into();
        for request in [status, elsewhere, create_pod(with(&["1.1.1.1"]))] {
            let outcome = validate(&plugin(NAME), &request);
            assert!(matches!(outcome, Outcome::NotApplicable(_)));
        }
    }

    #[test]
    fn what_is_no_service_is_refused() {
        let mut pod = service(json!({}));
        pod.kind.kind = "Pod".into();
        let mut nothing = service(json!({}));
        nothing.object = None;
        for request in [
            pod,
            nothing,
            service(json!(null)),
            service(json!("text")),
            service(json!({"spec": {"externalIPs": {}}})),
            service(json!({"spec": {"externalIPs": [1]}})),
        ] {
            assert_eq!(denial(validate(&plugin(NAME), &request)).code, 400);
        }
    }
}
