//! Whether a request fits into the quotas of its namespace, in Kubernetes' words and order.
//!
//! A pure function of the quotas, with what is used, and of what the request changes.

use std::collections::BTreeSet;

use portcullis_core::{Attributes, Operation};

use crate::quantity::ResourceList;

use super::change::Change;
use super::configuration::LimitedResource;
use super::pods::REQUIRED;
use super::quota::Quota;
use super::requirement::{Requirement, ScopeFacts};
use super::tracked::Tracked;

/// What an admitted request takes from a quota.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Taken {
    /// The place of the quota among those of the namespace.
    pub(super) quota: usize,
    /// How much.
    pub(super) amounts: ResourceList,
}

/// What the request takes from which quota, or why it does not fit.
pub(super) fn check(
    quotas: &[Quota],
    limited: &[LimitedResource],
    request: &Attributes,
    tracked: &Tracked,
    change: &Change,
) -> Result<Vec<Taken>, String> {
    let new = &change.new;
    let mut covering = Covering::default();
    let mut concerned = Vec::new();
    for (place, quota) in quotas.iter().enumerate() {
        let met = quota.scopes.iter().filter(|scope| new.scopes.meets(scope));
        covering
            .scopes
            .extend(met.map(|scope| scope.scope.as_str()));
        let counted: Vec<&str> = quota
            .hard
            .names()
            .filter(|name| tracked.counts(name))
            .collect();
        if counted.is_empty() || !applies(quota, &new.scopes) {
            continue;
        }
        if let Some(missing) = missing(change, &counted) {
            return Err(format!(
                "failed quota: {}: must specify {missing}",
                quota.name
            ));
        }
        if !counted.iter().all(|name| quota.used.contains(name)) {
            let (name, counted) = (&quota.name, counted.join(","));
            return Err(format!(
                "status unknown for quota: {name}, resources: {counted}"
            ));
        }
        covering.resources.extend(counted);
        concerned.push((place, quota));
    }
    let negative: Vec<&str> = new
        .usage
        .iter()
        .filter_map(|(name, amount)| amount.is_negative().then_some(name))
        .collect();
    if !negative.is_empty() {
        let negative = negative.join(",");
        return Err(format!(
            "quota usage is negative for resource(s): {negative}"
        ));
    }
    let growth = match (&change.old, request.operation) {
        (None, Operation::Update) => {
            let why = "unable to get previous usage since prior version of object was not found";
            return Err(why.to_owned());
        }
        // One without a version is not stored yet: the update creates it.
        (Some(old), _) if !old.version.is_empty() => new.usage.growth_since(&old.measured.usage),
        _ => new.usage.clone(),
    };
    let growth = growth.without_zeros();
    let mut wanted: Vec<(&Quota, Taken)> = Vec::new();
    for &(quota, known) in &concerned {
        let counted_before = change
            .old
            .as_ref()
            .is_some_and(|old| !old.version.is_empty() && applies(known, &old.measured.scopes));
        let amounts = match change.old.is_some() && !counted_before {
            true => new.usage.without_zeros(),
            false => growth.clone(),
        };
        if !amounts.is_empty() {
            wanted.push((known, Taken { quota, amounts }));
        }
    }
    let takes_nothing = match concerned.is_empty() {
        true => growth.is_empty(),
        false => wanted.is_empty(),
    };
    if takes_nothing {
        return Ok(Vec::new());
    }
    covering.check(limited, request, change)?;
    for (quota, taken) in &mut wanted {
        taken.amounts = taken.amounts.only(|name| quota.hard.contains(name));
        fits(quota, &taken.amounts)?;
    }
    wanted.retain(|(_, taken)| !taken.amounts.is_empty());
    Ok(wanted.into_iter().map(|(_, taken)| taken).collect())
}

/// Whether a quota is for an object by its scopes.
fn applies(quota: &Quota, object: &ScopeFacts) -> bool {
    quota.scopes.iter().all(|scope| object.meets(scope))
}

/// What containers must ask for and don't, as Kubernetes says it.
fn missing(change: &Change, counted: &[&str]) -> Option<String> {
    let required = REQUIRED.into_iter().filter(|name| counted.contains(name));
    let missing: Vec<String> = required
        .filter_map(|name| {
            let containers = change.new.containers.iter();
            let lacking = containers.filter(|(_, asked)| !asked.contains(name));
            let lacking: Vec<&str> = lacking.map(|(container, _)| container.as_str()).collect();
            (!lacking.is_empty()).then(|| format!("{name} for: {}", lacking.join(",")))
        })
        .collect();
    (!missing.is_empty()).then(|| missing.join("; "))
}

fn fits(quota: &Quota, taken: &ResourceList) -> Result<(), String> {
    let mut used = quota.used.clone();
    used.add(taken);
    let exceeded: BTreeSet<&str> = quota
        .hard
        .iter()
        .filter(|(name, most)| {
            taken.contains(name) && used.get(name).is_some_and(|used| used > *most)
        })
        .map(|(name, _)| name)
        .collect();
    if exceeded.is_empty() {
        return Ok(());
    }
    let of = |list: &ResourceList| list.only(|name| exceeded.contains(name));
    Err(format!(
        "exceeded quota: {}, requested: {}, used: {}, limited: {}",
        quota.name,
        of(taken),
        of(&quota.used),
        of(&quota.hard)
    ))
}

/// What the quotas of a namespace cover.
#[derive(Default)]
struct Covering<'q> {
    resources: BTreeSet<&'q str>,
    scopes: BTreeSet<&'q str>,
}

impl Covering<'_> {
    /// Whether everything is covered that may only be used where a quota covers it.
    fn check(
        &self,
        limited: &[LimitedResource],
        request: &Attributes,
        change: &Change,
    ) -> Result<(), String> {
        let of_kind = limited
            .iter()
            .filter(|limited| request.resource.is(&limited.group, &limited.resource));
        let mut uncovered: BTreeSet<&str> = BTreeSet::new();
        for limited in of_kind {
            let used = change.new.usage.iter().filter(|(_, a)| a.is_positive());
            let named = used.map(|(name, _)| name).filter(|name| {
                let mut parts = limited.contains.iter();
                parts.any(|part| name.contains(part.as_str()))
            });
            uncovered.extend(named.filter(|name| !self.resources.contains(name)));
        }
        if !uncovered.is_empty() {
            let uncovered: Vec<&str> = uncovered.into_iter().collect();
            return Err(format!(
                "insufficient quota to consume: {}",
                uncovered.join(",")
            ));
        }
        // As in Kubernetes, scopes are limited for all kinds that have them, whichever kind names them.
        if !change.new.scopes.has_scopes() {
            return Ok(());
        }
        let scopes = limited.iter().flat_map(|limited| &limited.scopes);
        let uncovered: Vec<String> = scopes
            .filter(|scope: &&Requirement| change.new.scopes.meets(scope))
            .filter(|scope| !self.scopes.contains(scope.scope.as_str()))
            .map(ToString::to_string)
            .collect();
        if uncovered.is_empty() {
            return Ok(());
        }
        let uncovered = uncovered.join(" ");
        Err(format!(
            "insufficient quota to match these scopes: [{uncovered}]"
        ))
    }
}
