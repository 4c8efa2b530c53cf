//! The cluster as a keeper needs it: reads and writes within a time, with errors that say what could not be done.

use std::collections::BTreeSet;
use std::time::{Duration, SystemTime};

use portcullis_certificates::{Bundle, Data};
use portcullis_config::ManagedCertificate;
use portcullis_watch::{Cluster, ObjectError, Secret, WebhookConfiguration, WebhookKind};

/// The longest that one request may take.
const ANSWER: Duration = Duration::from_secs(10);

/// The webhook configurations that were found.
#[derive(Debug, Default)]
pub(super) struct Webhooks {
    pub(super) found: Vec<WebhookConfiguration>,
    /// Names that neither kind has.
    pub(super) missing: Vec<String>,
    /// Why some could not be read.
    pub(super) trouble: Option<String>,
}

/// How a write ended that failed.
#[derive(Debug)]
pub(super) enum Unwritten {
    /// Another client was faster: everything is to be read again.
    Outrun,
    /// Another reason.
    Failed(String),
}

/// The cluster, for one certificate.
#[derive(Debug)]
pub(super) struct Place<'a> {
    pub(super) cluster: &'a Cluster,
    pub(super) settings: &'a ManagedCertificate,
}

impl Webhooks {
    /// The bundles of all entries; nothing if some could not be read.
    pub(super) fn bundles(&self) -> Option<Vec<Bundle>> {
        let entries = self.found.iter().flat_map(|one| &one.entries);
        let bundles = entries.map(|entry| entry.bundle.clone()).collect();
        self.trouble.is_none().then_some(bundles)
    }

    /// The host names by which the webhooks are called.
    pub(super) fn hosts(&self) -> BTreeSet<String> {
        let entries = self.found.iter().flat_map(|one| &one.entries);
        entries.flat_map(|entry| entry.hosts.clone()).collect()
    }
}

impl Place<'_> {
    /// Reads the webhook configurations, as far as possible.
    pub(super) async fn webhooks(&self) -> Webhooks {
        let mut webhooks = Webhooks::default();
        for name in &self.settings.webhooks {
            let mut is_missing = true;
            for kind in WebhookKind::ALL {
                match self.cluster.webhook_configuration(kind, name, ANSWER).await {
                    Ok(None) => {}
                    Ok(Some(found)) => {
                        is_missing = false;
                        webhooks.found.push(found);
                    }
                    Err(error) => {
                        is_missing = false;
                        let kind = kind.name();
                        let trouble = format!("cannot read the {kind} `{name}`: {error}");
                        webhooks.trouble.get_or_insert(trouble);
                    }
                }
            }
            if is_missing {
                webhooks.missing.push(name.clone());
            }
        }
        webhooks
    }

    /// Reads the Secret, with the time at the API server.
    pub(super) async fn secret(&self) -> Result<(Option<Secret>, Option<SystemTime>), String> {
        let name = &self.settings.secret;
        let read = self.cluster.secret(name, ANSWER).await;
        read.map_err(|error| format!("cannot read the Secret `{name}`: {error}"))
    }

    /// Writes the entries of the Secret, if it is still as it was read.
    pub(super) async fn write(&self, read: Option<&Secret>, data: &Data) -> Result<(), Unwritten> {
        let name = &self.settings.secret;
        let (what, written) = match read {
            None => (
                "create",
                self.cluster.create_secret(name, data, ANSWER).await,
            ),
            Some(read) => {
                let replaced = self.cluster.replace_secret(name, read, data, ANSWER).await;
                ("update", replaced)
            }
        };
        written.map_err(|error| match error {
            // Created, changed or deleted by another replica.
            ObjectError::Conflict(_) => Unwritten::Outrun,
            // Deleted since; a namespace that doesn't exist stays so.
            ObjectError::Missing { .. } if read.is_some() => Unwritten::Outrun,
            error => Unwritten::Failed(format!("cannot {what} the Secret `{name}`: {error}")),
        })
    }

    /// Publishes a bundle in a webhook configuration, if it is still as it was read. Whether anything had to be changed.
    pub(super) async fn publish(
        &self,
        configuration: &WebhookConfiguration,
        bundle: &str,
    ) -> Result<bool, Unwritten> {
        let published = self
            .cluster
            .publish(configuration, bundle.as_bytes(), ANSWER);
        published.await.map_err(|error| match error {
            ObjectError::Conflict(_) | ObjectError::Missing { .. } => Unwritten::Outrun,
            error @ ObjectError::Failed(_) => {
                let (kind, name) = (configuration.kind.name(), &configuration.name);
                Unwritten::Failed(format!("cannot patch the {kind} `{name}`: {error}"))
            }
        })
    }
}
