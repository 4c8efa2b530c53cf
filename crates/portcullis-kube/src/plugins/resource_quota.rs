//! `ResourceQuota`: what objects of a namespace use together is limited by its ResourceQuotas.
//!
//! Kubernetes' own plug-in reserves what a request uses in the status of the quota before it admits the request. One
//! outside of the API server can't: it compares with the status that it sees, and with what it has admitted itself
//! since (`ledger`). So a burst is held to the quota, but requests that others judge are only seen afterwards.
//!
//! `quota` and `configuration` read, `tracked` and its kinds say what an object uses, `check` decides; all of that is
//! computed without state.

use std::sync::Arc;

use portcullis_core::sync::Mutex;
use portcullis_core::{
    Attributes, Notes, Operation, Operations, Outcome, Phases, Plugin, PluginError,
};
use portcullis_document::Fault;

use crate::cluster_objects::{ClusterObjects, ObjectKind};
use crate::registry::{DependsOn, Descriptor};

use super::document::{self, Named};
use super::ending::Ending;
use super::refusal::forbidden;
use super::{PluginEnvironment, config};

use change::Change;
use configuration::{Configuration, LimitedResource, TYPE};
use ledger::{Ledger, Subject};
use quota::Quota;
use tracked::Tracked;

mod change;
mod check;
mod claims;
mod configuration;
mod ledger;
mod pods;
mod quota;
mod requirement;
mod services;
mod tracked;

struct ResourceQuota {
    objects: Arc<dyn ClusterObjects>,
    limited: Vec<LimitedResource>,
    ledger: Mutex<Ledger>,
}

pub(super) fn descriptor(environment: &PluginEnvironment) -> Descriptor {
    let objects = Arc::clone(&environment.objects);
    Descriptor {
        name: "ResourceQuota",
        summary: "Holds the objects of a namespace to its ResourceQuotas, by what is known to be used.",
        phases: Phases::VALIDATE,
        operations: Operations::WRITES,
        depends_on: DependsOn::ClusterAndEarlier,
        reads: vec![ObjectKind::RESOURCE_QUOTA],
        schema: Some(config::typed_schema::<Configuration>(TYPE)),
        factory: Box::new(move |configuration| {
            let limited = configuration::read(configuration)?;
            if !objects.is_connected() {
                return Err(vec![Fault::at("", config::NEEDS_CLUSTER)]);
            }
            Ok(Arc::new(ResourceQuota {
                objects: Arc::clone(&objects),
                limited,
                ledger: Mutex::default(),
            }))
        }),
    }
}

impl Plugin for ResourceQuota {
    fn handles(&self, operation: Operation) -> bool {
        Operations::WRITES.contains(operation)
    }

    fn phases(&self) -> Phases {
        Phases::VALIDATE
    }

    fn validate(&self, request: &Attributes, _: &mut Notes) -> Result<Outcome, PluginError> {
        Ending::settled(self.judge(request))
    }
}

impl ResourceQuota {
    fn judge(&self, request: &Attributes) -> Result<Outcome, Ending> {
        let not_applicable = |why| Err(Outcome::not_applicable(why).into());
        if request.namespace.is_empty() || request.kind.is("", "Namespace") {
            return not_applicable("not in a namespace");
        }
        let Some(tracked) = Tracked::of(&request.resource) else {
            return not_applicable("not counted by quotas");
        };
        let namespace = Some(request.namespace.as_str());
        let found = self.objects.list(&ObjectKind::RESOURCE_QUOTA, namespace)?;
        if found.is_empty() && self.limited.is_empty() {
            return Ok(Outcome::Pass);
        }
        let change = tracked.measure(request)?;
        match self.take(request, &tracked, &change)? {
            Ok(()) => Ok(Outcome::Pass),
            Err(why) => Err(forbidden(request, &why).into()),
        }
    }

    /// Checks the request against what is used and charged, and charges it; or says why it does not fit.
    fn take(
        &self,
        request: &Attributes,
        tracked: &Tracked,
        change: &Change,
    ) -> Result<Result<(), String>, PluginError> {
        let subject = subject(request, change);
        let namespace = request.namespace.as_str();
        // Held until the charge is made: requests that come at once are judged one after the other, and none by a
        // status that is older than what another one has seen.
        let mut ledger = self.ledger.lock();
        let quotas = self.quotas(namespace)?;
        ledger.observe(namespace, &quotas, request.received);
        let as_used = quotas.iter().map(|quota| {
            let mut quota = quota.clone();
            let open = ledger.open(namespace, &quota, &subject);
            quota.used.add(&open.only(|name| quota.used.contains(name)));
            quota
        });
        let as_used: Vec<Quota> = as_used.collect();
        let taken = match check::check(&as_used, &self.limited, request, tracked, change) {
            Ok(taken) if !request.dry_run => taken,
            Ok(_) => return Ok(Ok(())),
            Err(why) => return Ok(Err(why)),
        };
        for taken in taken {
            if let Some(quota) = quotas.get(taken.quota) {
                ledger.charge(namespace, quota, &subject, taken.amounts, request.received);
            }
        }
        Ok(Ok(()))
    }

    /// The quotas of a namespace, by name.
    fn quotas(&self, namespace: &str) -> Result<Vec<Quota>, PluginError> {
        let kind = &ObjectKind::RESOURCE_QUOTA;
        let found = self.objects.list(kind, Some(namespace))?;
        let quotas = found.iter().map(|object| Quota::read(object));
        quotas
            .collect::<Result<_, _>>()
            .map_err(PluginError::Failed)
    }
}

/// What a charge for the request is for.
fn subject(request: &Attributes, change: &Change) -> Subject {
    let object = request.object.as_ref();
    let named = object.and_then(|object| document::view::<Named<'_>>(object).ok());
    let metadata = named.map(|named| named.metadata).unwrap_or_default();
    let name = match request.name.is_empty() {
        true => metadata.name.as_ref(),
        false => request.name.as_str(),
    };
    let version = change.old.as_ref().map(|old| old.version.clone());
    Subject {
        resource: request.resource.to_string(),
        name: name.to_owned(),
        prefix: metadata.generate_name.as_ref().to_owned(),
        version: version.unwrap_or_default(),
    }
}

#[cfg(test)]
mod tests;
