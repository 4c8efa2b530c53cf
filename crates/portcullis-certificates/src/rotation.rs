//! One replica's part in the rotation: what it does in a round, after it has read the webhook configurations and then
//! the Secret.
//!
//! In this order, because what is published is that of the Secret, and is written only if the webhook configuration is still as it
//! was read: a replica that was held up can't put back what others have replaced meanwhile. If the Secret is
//! missing or unusable, the webhook configurations must be read again, after it: nothing can have been published since.

use std::collections::BTreeSet;
use std::time::{Duration, Instant, SystemTime};

use crate::certificate::Certificate;
use crate::contents::{Contents, ContentsError};
use crate::identity::Identity;
use crate::plan::{self, Situation, Step};
use crate::terms::Terms;

/// The most authorities that are taken over from webhook configurations when there is no Secret.
const MOST_KEPT: usize = 8;

/// Now, by both clocks.
#[derive(Debug, Clone, Copy)]
pub struct Moment {
    /// As people count.
    pub wall: SystemTime,
    /// On the clock that never goes back.
    pub monotonic: Instant,
}

/// The bundle that one entry of a webhook configuration has: PEM, or nothing.
pub type Bundle = Vec<u8>;

/// What was read.
#[derive(Debug)]
pub struct Seen<'a> {
    /// The bundles of all entries of all webhook configurations that exist; nothing if some could not be read.
    pub bundles: Option<&'a [Bundle]>,
    /// What the Secret holds.
    pub contents: Result<&'a Contents, &'a ContentsError>,
    /// The host names and addresses that are needed.
    pub names: &'a BTreeSet<String>,
}

/// Everything that was read, and when.
#[derive(Debug)]
pub struct Look<'a> {
    /// When it was read.
    pub now: Moment,
    /// What certificates are made for.
    pub terms: &'a Terms,
    /// What was read.
    pub seen: Seen<'a>,
}

/// What is to be done after a look.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Round {
    /// Show this from now on.
    pub serve: Option<Identity>,
    /// Put this bundle into every entry that has another one.
    pub publish: Option<String>,
    /// Change the Secret, if it is still as it was read. Everything is looked at again afterwards.
    pub step: Option<Step>,
}

/// What one replica remembers from round to round. Times are only as it has seen itself.
#[derive(Debug, Clone, Default)]
pub struct Rotation {
    /// What is served, and who signed it.
    served: Option<(Certificate, Certificate)>,
    /// Authorities that are in all bundles, and since when.
    published: Vec<(Certificate, Instant)>,
    /// Whether clients have ever trusted what is served.
    was_trusted: bool,
}

impl Rotation {
    /// What is served.
    pub fn served(&self) -> Option<&Certificate> {
        self.served.as_ref().map(|(certificate, _)| certificate)
    }

    /// Whether clients trust what is served, as far as is known: what was trusted once stays so, for a bundle that
    /// others reset is repaired soon.
    pub fn is_trusted(&self) -> bool {
        self.was_trusted
    }

    /// What is to be done.
    pub fn look(&mut self, look: &Look<'_>) -> Round {
        let Look { now, terms, seen } = look;
        let known = seen
            .contents
            .ok()
            .map(Contents::trusted)
            .unwrap_or_default();
        self.see_bundles(now.monotonic, seen.bundles, known);
        let mut round = Round {
            serve: None,
            publish: None,
            step: None,
        };
        match seen.contents {
            Err(error) => {
                round.step = Some(Step::Create {
                    keep: self.worth_keeping(error, look),
                });
            }
            Ok(contents) => {
                round.step = plan::next_step(
                    contents,
                    Situation {
                        now: now.wall,
                        terms,
                        names: seen.names,
                        own: self.served_until(now.wall).map(|(_, authority)| authority),
                        next_published: contents
                            .next
                            .as_ref()
                            .and_then(|next| self.published_for(&next.certificate, now.monotonic)),
                    },
                );
                // Never a bundle without the authority of what is served here.
                let is_whole = !matches!(round.step, Some(Step::Keep(_)));
                round.publish = is_whole.then(|| contents.bundle());
                round.serve = self.change(contents, *now, terms.overlap());
            }
        }
        self.was_trusted |= self.served.as_ref().is_some_and(|(_, authority)| {
            self.published_for(authority, now.monotonic) >= Some(terms.settling())
        });
        round
    }

    /// What is served, if it is still valid.
    fn served_until(&self, now: SystemTime) -> Option<&(Certificate, Certificate)> {
        let served = self.served.as_ref();
        served.filter(|(certificate, _)| !certificate.is_over(now))
    }

    /// Remembers since when authorities are in every bundle.
    fn see_bundles(&mut self, now: Instant, bundles: Option<&[Bundle]>, known: &[Certificate]) {
        let Some(bundles) = bundles else {
            self.published.clear();
            return;
        };
        let bundles: Vec<Vec<Certificate>> = bundles
            .iter()
            .map(|bundle| Certificate::all_from_pem(bundle).unwrap_or_default())
            .collect();
        let own = self.served.iter().map(|(_, authority)| authority);
        let mut published: Vec<(Certificate, Instant)> = Vec::new();
        for one in known.iter().chain(own) {
            let is_everywhere = bundles.iter().all(|bundle| bundle.contains(one));
            if is_everywhere && !published.iter().any(|(known, _)| known == one) {
                let before = self.published.iter().find(|(known, _)| known == one);
                published.push((one.clone(), before.map_or(now, |(_, since)| *since)));
            }
        }
        self.published = published;
    }

    fn published_for(&self, authority: &Certificate, now: Instant) -> Option<Duration> {
        let mut all = self.published.iter();
        let (_, since) = all.find(|(known, _)| known == authority)?;
        Some(now.saturating_duration_since(*since))
    }

    /// What is to be served instead of what is served now.
    ///
    /// INVARIANT: while what is served is valid, something of another authority replaces it only after that
    /// authority was published everywhere for the overlap.
    fn change(&mut self, contents: &Contents, now: Moment, overlap: Duration) -> Option<Identity> {
        let offered = &contents.serving;
        let authority = contents.issuer()?;
        let is_usable = !offered.certificate.is_over(now.wall);
        if !is_usable || self.served() == Some(&offered.certificate) {
            return None;
        }
        if let Some((_, before)) = self.served_until(now.wall)
            && before != authority
            && self.published_for(authority, now.monotonic) < Some(overlap)
        {
            return None;
        }
        // Where nothing valid was served, clients may not know this authority yet.
        let is_known = self
            .served
            .as_ref()
            .is_some_and(|(_, before)| before == authority);
        self.was_trusted &=
            is_known || self.published_for(authority, now.monotonic) >= Some(overlap);
        self.served = Some((offered.certificate.clone(), authority.clone()));
        Some(offered.clone())
    }

    /// The authorities that stay trusted although the Secret is gone or unusable: that of what is served here, those the
    /// Secret still names, and those of this owner that are published, for other replicas serve something they signed.
    fn worth_keeping(&self, error: &ContentsError, look: &Look<'_>) -> Vec<Certificate> {
        let now = look.now.wall;
        let own = self
            .served_until(now)
            .map(|(_, authority)| authority.clone());
        let mut keep: Vec<Certificate> = own.into_iter().collect();
        if let ContentsError::Damaged { trusted, .. } = error {
            keep.extend(trusted.iter().cloned());
        }
        let name = crate::issue::authority_name(&look.terms.owner);
        for bundle in look.seen.bundles.unwrap_or_default() {
            let found = Certificate::all_from_pem(bundle).unwrap_or_default();
            keep.extend(found.into_iter().filter(|one| one.common_name == name));
        }
        let mut kept: Vec<Certificate> = Vec::new();
        for one in keep {
            let is_useful = one.is_authority && !one.is_over(now) && !kept.contains(&one);
            if is_useful && kept.len() < MOST_KEPT {
                kept.push(one);
            }
        }
        kept
    }
}
