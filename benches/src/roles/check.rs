//! Role checks and token verification in process.

use std::hint::black_box;
use std::time::Duration;

use portcullis_core::Identity;
use portcullis_roles::{AccessDecision, Condition, Parameters, Permission, Scope};
use serde::Serialize;

use super::document::{self, Conditions, MANY, TENANT};
use super::gate::{Issuer, Keys};
use super::naive::Naive;
use crate::clock;
use crate::failure::{Context, Failure, Result};
use crate::load::runtime;
use crate::statistics::{Summary, median, of_cost};

/// How often each is done in one go, and how many goes there are.
const TIMES: u32 = 1_000;
const NAIVE_TIMES: u32 = 50;
const GOES: usize = 100;
/// New tokens in one go, and how many goes there are.
const NEW: usize = 100;
const NEW_GOES: usize = 10;

/// What was found in process; all times in nanoseconds.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Checks {
    /// Rules, and as many roles.
    pub(crate) rules: usize,
    /// Checks, beside the plain loop.
    pub(crate) checks: Vec<Check>,
    /// A token that was verified before.
    pub(crate) cached: Summary,
    /// The same, and a role check after it.
    pub(crate) cached_and_check: Summary,
    /// Tokens never seen before, by algorithm.
    pub(crate) uncached: Vec<(&'static str, Summary)>,
}

/// One kind of check.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Check {
    pub(crate) rules: &'static str,
    pub(crate) what: &'static str,
    pub(crate) library: Summary,
    pub(crate) naive: Summary,
    /// How many times longer the plain loop takes, in the same go.
    pub(crate) times: f64,
}

struct Asked {
    what: &'static str,
    who: Identity,
    permission: Permission,
    parameters: Vec<(&'static str, &'static str)>,
    is_allowed: bool,
}

/// Measures all of it.
pub(super) fn run() -> Result<Checks> {
    let mut checks = Vec::new();
    let shapes: [(&str, Conditions); 2] = [
        ("one claim", document::one_claim),
        ("two claims", document::two_claims),
    ];
    for (rules, conditions) in shapes {
        let document = document::document(conditions);
        let roles = document::load(&document)?;
        let scope = roles.tenant(TENANT).context("the tenant is left out")?;
        let naive = Naive::new(&document).context("the document is not understood")?;
        for asked in asked() {
            checks.push(beside(rules, scope.scope(), &naive, &asked)?);
        }
    }
    let keys = Keys::make()?;
    let roles = document::load(&document::document(document::one_claim))?;
    let scope = roles.tenant(TENANT).context("the tenant is left out")?;
    let (cached, cached_and_check) = cached(&keys, scope.scope())?;
    Ok(Checks {
        rules: MANY,
        checks,
        cached,
        cached_and_check,
        uncached: vec![
            ("HS256", uncached(&keys, Issuer::Shared)?),
            ("ES256", uncached(&keys, Issuer::Curve)?),
            ("RS256", uncached(&keys, Issuer::Rsa)?),
        ],
    })
}

fn asked() -> Vec<Asked> {
    let enqueue = |what, number, project, is_allowed| Asked {
        what,
        who: document::caller(number),
        permission: Permission::Enqueue,
        parameters: vec![("project", project), ("pipeline", "post")],
        is_allowed,
    };
    vec![
        enqueue("allowed by the first rule", 0, "p0", true),
        enqueue("allowed by the last rule", MANY - 1, "p199", true),
        enqueue("refused by a condition", MANY - 1, "p0", false),
        enqueue("refused, no rule matches", MANY, "p0", false),
        Asked {
            permission: Permission::TenantState,
            parameters: Vec::new(),
            ..enqueue("refused, no role grants it", MANY - 1, "p0", false)
        },
    ]
}

fn parameters(given: &[(&'static str, &'static str)]) -> Parameters<'static> {
    let mut parameters = Parameters::new();
    for (name, value) in given {
        if let Some(condition) = Condition::parse(name) {
            parameters = parameters.with(condition, Some(*value));
        }
    }
    parameters
}

/// The library and the plain loop in turns.
fn beside(rules: &'static str, scope: &Scope, naive: &Naive, asked: &Asked) -> Result<Check> {
    let Asked {
        what,
        who,
        permission,
        is_allowed,
        ..
    } = asked;
    let given = parameters(&asked.parameters);
    let library = || scope.check(black_box(Some(who)), *permission, black_box(&given));
    let looped = || {
        let claims = black_box(&who.claims);
        naive.allows(claims, permission.name(), black_box(&asked.parameters))
    };
    let found = (matches!(library(), AccessDecision::Allowed(_)), looped());
    if found != (*is_allowed, *is_allowed) {
        return Err(Failure::new(format!(
            "{what}, {rules}: library and plain loop say {found:?}"
        )));
    }
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for _ in 0..GOES {
        ours.push(nanoseconds(TIMES, library));
        theirs.push(nanoseconds(NAIVE_TIMES, looped));
    }
    let times: Vec<f64> = ours.iter().zip(&theirs).map(|(o, t)| t / o).collect();
    Ok(Check {
        rules,
        what,
        library: of_cost(&ours),
        naive: of_cost(&theirs),
        times: median(&times),
    })
}

fn nanoseconds<T>(times: u32, does: impl Fn() -> T) -> f64 {
    let began = clock::now();
    for _ in 0..times {
        black_box(does());
    }
    for_one(clock::now().saturating_duration_since(began), times)
}

fn for_one(took: Duration, times: u32) -> f64 {
    took.as_nanos() as f64 / f64::from(times)
}

/// A token that was seen before: verified alone, and with a check after it.
fn cached(keys: &Keys, scope: &Scope) -> Result<(Summary, Summary)> {
    let authenticators = keys.authenticators()?;
    let token = keys.token(&authenticators, Issuer::Shared, MANY - 1)?;
    let given = parameters(&[("project", "p199"), ("pipeline", "post")]);
    runtime()?.block_on(async {
        let (mut alone, mut both) = (Vec::new(), Vec::new());
        for _ in 0..GOES {
            let began = clock::now();
            for _ in 0..TIMES {
                // The server reads the clock for every request too.
                let verified = authenticators
                    .verify(black_box(&token), clock::wall())
                    .await;
                black_box(verified.context("the token")?);
            }
            let between = clock::now();
            for _ in 0..TIMES {
                let verified = authenticators
                    .verify(black_box(&token), clock::wall())
                    .await;
                let who = verified.context("the token")?;
                let answer = scope.check(Some(&who), Permission::Enqueue, black_box(&given));
                if !matches!(answer, AccessDecision::Allowed(_)) {
                    return Err(Failure::new("the bearer of the token is refused"));
                }
            }
            let end = clock::now();
            alone.push(for_one(between.saturating_duration_since(began), TIMES));
            both.push(for_one(end.saturating_duration_since(between), TIMES));
        }
        Ok((of_cost(&alone), of_cost(&both)))
    })
}

/// Tokens that were never seen before.
fn uncached(keys: &Keys, issuer: Issuer) -> Result<Summary> {
    let authenticators = keys.authenticators()?;
    let mut goes = Vec::new();
    for _ in 0..NEW_GOES {
        let tokens: Result<Vec<String>> = (0..NEW)
            .map(|number| keys.token(&authenticators, issuer, number))
            .collect();
        let tokens = tokens?;
        let took = runtime()?.block_on(async {
            let began = clock::now();
            for token in &tokens {
                let verified = authenticators.verify(token, clock::wall()).await;
                black_box(verified.context("a new token")?);
            }
            Ok::<_, Failure>(clock::now().saturating_duration_since(began))
        })?;
        goes.push(took.as_nanos() as f64 / NEW as f64);
    }
    Ok(of_cost(&goes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn library_and_plain_loop_agree_on_everything_that_is_asked() {
        for conditions in [document::one_claim as Conditions, document::two_claims] {
            let document = document::document(conditions);
            let roles = document::load(&document).unwrap();
            let naive = Naive::new(&document).unwrap();
            for asked in asked() {
                let scope = roles.tenant(TENANT).unwrap().scope();
                let given = parameters(&asked.parameters);
                let answer = scope.check(Some(&asked.who), asked.permission, &given);
                assert_eq!(
                    matches!(answer, AccessDecision::Allowed(_)),
                    asked.is_allowed
                );
                let name = asked.permission.name();
                let looped = naive.allows(&asked.who.claims, name, &asked.parameters);
                assert_eq!(looped, asked.is_allowed, "{}", asked.what);
            }
        }
    }
}
