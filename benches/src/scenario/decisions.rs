//! Scenarios of the other groups with the decision log on.

use super::{Compared, Group, Scenario, Subject, UNDER_WAY, Ways};
use crate::failure::{Context, Failure, Result};
use crate::log::Log;
use crate::transport::Transport;

/// With usual and much to do.
const WAYS: Ways = &[(Transport::Unix, &[16, 64]), (Transport::Tls, UNDER_WAY)];

/// A name, which scenario it is, and what becomes of its decisions.
const KEPT: [(&str, &str, Log); 6] = [
    ("AlwaysAdmit-kept", "AlwaysAdmit", Log::Kept),
    ("PodSecurity-kept", "PodSecurity", Log::Kept),
    ("validating-kept", "validating", Log::Kept),
    ("validating-required", "validating", Log::Required),
    ("reference-kept", "reference", Log::Kept),
    ("reference-required", "reference", Log::Required),
];

/// The group, made of scenarios whose decisions are not kept.
pub(super) fn scenarios(others: &[Scenario]) -> Result<Vec<Scenario>> {
    let kept = |(name, unlogged, log): (&'static str, &'static str, Log)| -> Result<Scenario> {
        let other = others.iter().find(|s| s.name == unlogged);
        let other = other.context(format!("{name}: no scenario `{unlogged}`"))?;
        let Subject::Portcullis(setup, Log::Off) = other.subject else {
            return Err(Failure::new(format!("{unlogged} has no decision log")));
        };
        Ok(Scenario {
            name,
            group: Group::Decisions,
            subject: Subject::Portcullis(setup, log),
            ways: WAYS,
            compared: Compared {
                unlogged: Some(other.name),
                ..Compared::with(other.compared.ceiling)
            },
            ..other.clone()
        })
    };
    KEPT.into_iter().map(kept).collect()
}
