//! Keeps one certificate: rounds of reading and writing, and what is served.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use portcullis_certificates::{
    Certificate, Contents, ContentsError, Data, Look, Moment, Rotation, Round, Seen, apply,
};
use portcullis_config::ManagedCertificate;
use portcullis_core::clock;
use portcullis_core::sync::Mutex;
use portcullis_net::{Backoff, spread};
use portcullis_watch::{Cluster, Secret};

use super::cluster::{Place, Unwritten, Webhooks};
use super::health::ManagedHealth;
use super::shown::Shown;

/// The pause after something was changed, or another replica changed it.
const SOON: Duration = Duration::from_millis(100);
/// The first pause after a failure.
const FIRST_REST: Duration = Duration::from_millis(500);
/// A clock that differs by more from that of the API server is not trusted to make certificates: those are valid
/// from an hour before they were made.
const MOST_SKEW: Duration = Duration::from_secs(10 * 60);

/// Told when another certificate is served: its expiry, in seconds since 1970.
pub(crate) type OnServe = Box<dyn Fn(i64) + Send + Sync>;

/// Keeps one certificate.
pub(crate) struct Keeper {
    settings: ManagedCertificate,
    shown: Arc<Shown>,
    rotation: Mutex<Rotation>,
    /// What is wrong at the moment.
    trouble: Mutex<Option<String>>,
    told: Mutex<Vec<OnServe>>,
}

impl fmt::Debug for Keeper {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Keeper")
            .field("secret", &self.settings.secret)
            .finish_non_exhaustive()
    }
}

/// How a round ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ended {
    /// There is nothing to do for now.
    Settled,
    /// Something was changed: look again soon.
    Changed,
}

impl Keeper {
    /// Begins with what another one serves, if there is one.
    pub(super) fn new(settings: ManagedCertificate, before: Option<&Self>) -> Self {
        let rotation = before.map(|before| before.rotation.lock().clone());
        Self {
            settings,
            shown: Arc::new(
                before.map_or_else(Shown::default, |before| Shown::like(&before.shown)),
            ),
            rotation: Mutex::new(rotation.unwrap_or_default()),
            trouble: Mutex::default(),
            told: Mutex::default(),
        }
    }

    pub(super) fn settings(&self) -> &ManagedCertificate {
        &self.settings
    }

    /// What listeners show.
    pub(crate) fn shown(&self) -> Arc<Shown> {
        Arc::clone(&self.shown)
    }

    /// What is served.
    pub(super) fn served(&self) -> Option<Certificate> {
        self.rotation.lock().served().cloned()
    }

    /// When what is served expires, in seconds since 1970.
    pub(crate) fn expires_at(&self) -> Option<i64> {
        self.served().as_ref().map(expiry)
    }

    /// Tells about what is served from now on, and at once if something is.
    pub(super) fn tell(&self, on_serve: OnServe) {
        if let Some(expires_at) = self.expires_at() {
            on_serve(expires_at);
        }
        let mut told = self.told.lock();
        told.push(on_serve);
    }

    /// Forgets whom to tell.
    pub(super) fn tell_none(&self) {
        self.told.lock().clear();
    }

    /// How it is.
    pub(crate) fn health(&self) -> ManagedHealth {
        let rotation = self.rotation.lock();
        let fault = match rotation.served() {
            None => Some("there is no certificate yet"),
            Some(served) if served.not_after() <= clock::wall() => {
                Some("the certificate has expired")
            }
            Some(_) if !rotation.is_trusted() => {
                Some("the CA certificate is not yet in the webhook configurations")
            }
            Some(_) => None,
        };
        ManagedHealth {
            fault,
            trouble: self.trouble.lock().clone(),
        }
    }

    /// Keeps it, for as long as this is polled.
    pub(super) async fn run(self: Arc<Self>) {
        let pause = self.settings.terms.pause();
        let mut backoff = Backoff::new(FIRST_REST.min(pause), pause.saturating_mul(3));
        let mut cluster = None;
        loop {
            match self.round(&mut cluster).await {
                Ok(ended) => {
                    backoff.reset();
                    self.is_well();
                    let pause = match ended {
                        Ended::Changed => SOON,
                        Ended::Settled => pause,
                    };
                    tokio::time::sleep(spread(pause)).await;
                }
                Err(why) => {
                    self.is_troubled(why);
                    // With other credentials it may work.
                    cluster = None;
                    backoff.rest(None).await;
                }
            }
        }
    }

    fn is_well(&self) {
        let before = self.trouble.lock().take();
        if before.is_some() {
            let secret = &self.settings.secret;
            tracing::info!(%secret, "the managed certificate is kept again");
        }
    }

    /// Logged once for each reason.
    fn is_troubled(&self, why: String) {
        let mut trouble = self.trouble.lock();
        if trouble.as_ref() != Some(&why) {
            let secret = &self.settings.secret;
            tracing::error!(%secret, "cannot keep the managed certificate: {why}");
        }
        *trouble = Some(why);
    }

    async fn round(&self, cluster: &mut Option<Cluster>) -> Result<Ended, String> {
        if cluster.is_none() {
            let connected = Cluster::connect(&self.settings.access).await;
            *cluster = Some(connected.map_err(|error| error.to_string())?);
        }
        let Some(cluster) = cluster else {
            return Ok(Ended::Changed);
        };
        let place = Place {
            cluster,
            settings: &self.settings,
        };
        let mut webhooks = place.webhooks().await;
        let (secret, date) = place.secret().await?;
        self.check_owner(secret.as_ref())?;
        let entries = secret
            .as_ref()
            .map_or_else(Data::new, |secret| secret.data.clone());
        let contents = Contents::read(&entries);
        if contents.is_err() {
            // What was published until the Secret went is known only afterwards.
            webhooks = place.webhooks().await;
        }
        let names = match self.settings.terms.names.is_empty() {
            true => Cow::Owned(webhooks.hosts()),
            false => Cow::Borrowed(&self.settings.terms.names),
        };
        let now = Moment {
            wall: clock::wall(),
            monotonic: clock::monotonic(),
        };
        let bundles = webhooks.bundles();
        let look = Look {
            now,
            terms: &self.settings.terms,
            seen: Seen {
                bundles: bundles.as_deref(),
                contents: contents.as_ref(),
                names: &names,
            },
        };
        let round = self.look(&look)?;
        let mut ended = self.publish(&place, &webhooks, &round).await?;
        if let Some(step) = &round.step {
            if names.is_empty() {
                return Err(no_names(&webhooks));
            }
            check_clock(now.wall, date)?;
            let terms = &self.settings.terms;
            let after = apply(step, contents.as_ref().ok(), &names, terms, now.wall);
            let after = after.map_err(|error| error.to_string())?;
            let mut data = entries;
            after.write(&mut data);
            match place.write(secret.as_ref(), &data).await {
                Ok(()) => self.log_step(&step.to_string(), &contents, &after),
                Err(Unwritten::Outrun) => {
                    tracing::debug!(secret = %self.settings.secret, "another replica was faster");
                }
                Err(Unwritten::Failed(why)) => return Err(why),
            }
            ended = Ended::Changed;
        }
        if let Some(trouble) = webhooks.trouble {
            return Err(trouble);
        }
        if !webhooks.missing.is_empty() && ended == Ended::Settled {
            return Err(not_found(&webhooks.missing));
        }
        Ok(ended)
    }

    /// A Secret of others is never changed.
    fn check_owner(&self, secret: Option<&Secret>) -> Result<(), String> {
        let is_others = secret.is_some_and(|secret| {
            !secret.is_own() && Contents::read(&secret.data) != Err(ContentsError::Empty)
        });
        match is_others {
            false => Ok(()),
            true => Err(format!(
                "the Secret `{}` was not made by Portcullis: delete it, or name another one",
                self.settings.secret
            )),
        }
    }

    /// What is to be done; what is to be served is served at once.
    fn look(&self, look: &Look<'_>) -> Result<Round, String> {
        let mut rotation = self.rotation.lock();
        let round = rotation.look(look);
        drop(rotation);
        if let Some(identity) = &round.serve {
            self.shown.show(identity)?;
            let expires_at = expiry(&identity.certificate);
            let told = self.told.lock();
            told.iter().for_each(|on_serve| on_serve(expires_at));
            let names = identity.certificate.names();
            tracing::info!(
                secret = %self.settings.secret,
                names = ?names,
                expires = date(identity.certificate.not_after()),
                "certificate in use"
            );
        }
        Ok(round)
    }

    async fn publish(
        &self,
        place: &Place<'_>,
        webhooks: &Webhooks,
        round: &Round,
    ) -> Result<Ended, String> {
        let Some(bundle) = &round.publish else {
            return Ok(Ended::Settled);
        };
        let (mut ended, mut failed) = (Ended::Settled, None);
        for configuration in &webhooks.found {
            match place.publish(configuration, bundle).await {
                Ok(false) => {}
                Ok(true) => {
                    let (kind, name) = (configuration.kind.name(), &configuration.name);
                    tracing::info!(kind, name, "caBundle updated");
                    ended = Ended::Changed;
                }
                Err(Unwritten::Outrun) => ended = Ended::Changed,
                Err(Unwritten::Failed(why)) => drop(failed.get_or_insert(why)),
            }
        }
        failed.map_or(Ok(ended), Err)
    }

    fn log_step(&self, step: &str, before: &Result<Contents, ContentsError>, after: &Contents) {
        if let Err(damage @ ContentsError::Damaged { .. }) = before {
            tracing::warn!(secret = %self.settings.secret, "the Secret was unusable: {damage}");
        }
        tracing::info!(
            secret = %self.settings.secret,
            expires = date(after.serving().certificate.not_after()),
            trusted = after.trusted().len(),
            "{step}"
        );
    }
}

fn no_names(webhooks: &Webhooks) -> String {
    let why = match webhooks.missing.is_empty() {
        true => "the webhook configurations name no host".to_owned(),
        false => not_found(&webhooks.missing),
    };
    format!("the certificate has no names: {why}; give `service` or `dnsNames`")
}

fn not_found(names: &[String]) -> String {
    format!("webhook configurations not found: {}", names.join(", "))
}

fn check_clock(own: SystemTime, other: Option<SystemTime>) -> Result<(), String> {
    let Some(other) = other else {
        return Ok(());
    };
    let (apart, word) = match own.duration_since(other) {
        Ok(ahead) => (ahead, "ahead of"),
        Err(error) => (error.duration(), "behind"),
    };
    match apart > MOST_SKEW {
        false => Ok(()),
        true => Err(format!(
            "the clock of this machine is {}s {word} that of the API server: no certificate is made",
            apart.as_secs()
        )),
    }
}

fn expiry(certificate: &Certificate) -> i64 {
    let since = certificate
        .not_after()
        .duration_since(SystemTime::UNIX_EPOCH);
    i64::try_from(since.unwrap_or_default().as_secs()).unwrap_or(i64::MAX)
}

fn date(time: SystemTime) -> String {
    portcullis_jobs::Timestamp::from(time).to_string()
}
