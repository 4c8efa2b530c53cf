//! What has to change in the Secret: one step at a time, each of which leaves everything that is served trusted.

use std::collections::BTreeSet;
use std::fmt;
use std::time::{Duration, SystemTime};

use crate::certificate::Certificate;
use crate::contents::Contents;
use crate::identity::Identity;
use crate::issue::{self, IssueError};
use crate::terms::Terms;

/// A change of the Secret.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// Everything anew. These authorities stay trusted: what they signed may still be served.
    Create {
        /// The authorities.
        keep: Vec<Certificate>,
    },
    /// An authority becomes trusted again, because a replica serves a certificate of it.
    Keep(Certificate),
    /// The authority signs another certificate.
    Renew,
    /// Another authority is made and trusted. It signs nothing yet.
    AddAuthority,
    /// The other authority signs from now on, first another certificate.
    SwitchAuthority,
    /// Authorities that are over are not trusted any more.
    RemoveExpired,
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Create { .. } => "CA and certificate created",
            Self::Keep(_) => "CA certificate of a served certificate added again",
            Self::Renew => "certificate renewed",
            Self::AddAuthority => "next CA created, not used yet",
            Self::SwitchAuthority => "certificate of the next CA created",
            Self::RemoveExpired => "expired CA certificate removed",
        })
    }
}

/// Everything that a decision about usable contents depends on.
#[derive(Clone, Copy)]
pub(crate) struct Situation<'a> {
    pub(crate) now: SystemTime,
    pub(crate) terms: &'a Terms,
    pub(crate) names: &'a BTreeSet<String>,
    /// The authority of what this replica serves.
    pub(crate) own: Option<&'a Certificate>,
    /// How long the next authority has been in every published bundle; nothing if it isn't.
    pub(crate) next_published: Option<Duration>,
}

/// The next step, if there is one.
pub(crate) fn next_step(contents: &Contents, situation: Situation<'_>) -> Option<Step> {
    let Situation { now, terms, .. } = situation;
    if let Some(own) = situation.own
        && !own.is_over(now)
        && !contents.trusted.contains(own)
    {
        return Some(Step::Keep(own.clone()));
    }
    let lasts = |one: &Identity, time: Duration| one.certificate.not_after > now + time;
    // One that waits until it is old itself is as good as none.
    let next = contents.next.as_ref();
    let next = next.filter(|next| lasts(next, terms.authority_renew_before()));
    let is_published = situation.next_published >= Some(terms.overlap());
    if !lasts(&contents.signer, Duration::ZERO) {
        // What is served is over too: there is nothing to wait for.
        return Some(match next {
            Some(_) => Step::SwitchAuthority,
            None => Step::Create {
                keep: contents.trusted.clone(),
            },
        });
    }
    if next.is_some() && is_published {
        return Some(Step::SwitchAuthority);
    }
    if next.is_none() && !lasts(&contents.signer, terms.authority_renew_before()) {
        return Some(Step::AddAuthority);
    }
    if needs_renewal(contents, situation) {
        return Some(Step::Renew);
    }
    let is_over = |one: &Certificate| {
        one.is_over(now)
            && *one != contents.signer.certificate
            && contents
                .next
                .as_ref()
                .is_none_or(|next| *one != next.certificate)
    };
    contents
        .trusted
        .iter()
        .any(is_over)
        .then_some(Step::RemoveExpired)
}

fn needs_renewal(contents: &Contents, situation: Situation<'_>) -> bool {
    let Situation {
        now, terms, names, ..
    } = situation;
    let serving = &contents.serving.certificate;
    let is_foreign = !contents.signer.certificate.has_signed(serving);
    let lacks_names = !names.is_subset(&serving.names);
    let is_early = serving.not_before > now;
    // Near its end an authority can't sign anything that lasts longer.
    let until = (now + terms.validity).min(contents.signer.certificate.not_after);
    let gains = until > serving.not_after + terms.renew_before / 4;
    let is_due = serving.not_after <= now + terms.renew_before;
    is_foreign || lacks_names || is_early || (is_due && gains)
}

/// What the Secret holds after this step. `contents` may be missing for [`Step::Create`] alone.
///
/// # Errors
///
/// When the system gives no keys, or a name can't be in a certificate.
pub fn apply(
    step: &Step,
    contents: Option<&Contents>,
    names: &BTreeSet<String>,
    terms: &Terms,
    now: SystemTime,
) -> Result<Contents, IssueError> {
    let until = now + terms.validity;
    let sign = |names: &BTreeSet<String>, signer: &Identity| {
        issue::serving(names, (&signer.certificate, &signer.key), now, until)
    };
    let authority = || {
        let name = issue::authority_name(&terms.owner);
        let made = issue::authority(&name, now, now + terms.authority_validity());
        made.map(|(certificate, key)| Identity { certificate, key })
    };
    let (Some(contents), false) = (contents, matches!(step, Step::Create { .. })) else {
        let keep: &[Certificate] = match step {
            Step::Create { keep } => keep,
            _ => &[],
        };
        let signer = authority()?;
        let mut trusted = vec![signer.certificate.clone()];
        add(&mut trusted, keep.iter().filter(|one| !one.is_over(now)));
        return Ok(Contents {
            serving: sign(names, &signer)?,
            signer,
            next: None,
            trusted,
        });
    };
    let mut after = contents.clone();
    match step {
        Step::Create { .. } => {}
        Step::Keep(own) => add(&mut after.trusted, [own]),
        Step::Renew => {
            let serving = &contents.serving.certificate;
            // While replicas with different names are at work, what one of them needs must not be taken away
            // by the other.
            let is_due = serving.not_after <= now + terms.renew_before;
            let mut all = names.clone();
            if !is_due && contents.signer.certificate.has_signed(serving) {
                all.extend(serving.names.iter().cloned());
            }
            after.serving = sign(&all, &contents.signer)?;
        }
        Step::AddAuthority => {
            let next = authority()?;
            // One that was never used is not needed any more.
            if let Some(unused) = after.next.take() {
                after.trusted.retain(|one| *one != unused.certificate);
            }
            add(&mut after.trusted, [&next.certificate]);
            after.next = Some(next);
        }
        Step::SwitchAuthority => {
            if let Some(next) = after.next.take() {
                after.serving = sign(names, &next)?;
                after.signer = next;
            }
        }
        Step::RemoveExpired => {
            let signer = contents.signer.certificate.clone();
            let next = contents.next.as_ref().map(|next| next.certificate.clone());
            after
                .trusted
                .retain(|one| !one.is_over(now) || *one == signer || Some(one) == next.as_ref());
        }
    }
    Ok(after)
}

fn add<'a>(trusted: &mut Vec<Certificate>, more: impl IntoIterator<Item = &'a Certificate>) {
    for one in more {
        if !trusted.contains(one) {
            trusted.push(one.clone());
        }
    }
}
