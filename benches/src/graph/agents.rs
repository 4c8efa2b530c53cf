//! The whole way: objects through a profile into the graph, and requests of agents through its rules.
//!
//! The profile is the one for gardenlets as it ships, fed with as many shoots as the large shape has.

use std::hint::black_box;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use portcullis_core::access::ResourceTarget;
use portcullis_core::{Access, Authorizer, Opinion, Target, UserInfo};
use portcullis_graph::{Compat, GraphAuthorizer, Profile, ProfileSpec, Selectors, State, built_in};
use serde::Serialize;
use serde_json::{Value, json};

use super::random::Random;
use crate::clock;
use crate::failure::{Context, Failure, Result};
use crate::statistics::{Summary, of_cost};

/// How many of what there are.
#[derive(Debug, Clone, Copy)]
pub(super) struct Size {
    pub(super) seeds: usize,
    pub(super) shoots: usize,
    pub(super) projects: usize,
}

/// As the large shape.
pub(super) const LARGE: Size = Size {
    seeds: 1_000,
    shoots: 100_000,
    projects: 5_000,
};

/// Different questions of each kind.
const QUESTIONS: usize = 4096;

/// What was found.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Agents {
    /// Objects that were handed over.
    pub(crate) objects: usize,
    pub(crate) vertices: usize,
    pub(crate) edges: usize,
    /// From objects that are read already to a graph that has caught up, on one thread, in milliseconds.
    pub(crate) load_ms: f64,
    pub(crate) checks: Vec<AgentCheck>,
    pub(crate) relist: Relist,
}

/// Requests while all shoots are listed again.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Relist {
    /// How long the list took, in milliseconds.
    pub(crate) took_ms: f64,
    /// How many requests were answered meanwhile, by one thread.
    pub(crate) answered: usize,
    /// How long they took, in microseconds.
    pub(crate) p50_us: f64,
    pub(crate) p99_us: f64,
    pub(crate) max_us: f64,
}

/// One kind of request, spread over the graph; nanoseconds.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct AgentCheck {
    pub(crate) what: &'static str,
    pub(crate) is_allowed: bool,
    pub(crate) whole: Summary,
}

/// Loads and asks, so many goes of each kind.
pub(super) fn run(size: Size, goes: usize) -> Result<Agents> {
    let spec: ProfileSpec = built_in::find("gardener")
        .and_then(|text| serde_saphyr::from_str(text).ok())
        .context("the profile can't be read")?;
    let profile = Profile::compile(&spec).map_err(|faults| {
        let words = faults.first().map(|fault| fault.message.clone());
        Failure::new(words.unwrap_or_default())
    })?;
    let state = Arc::new(State::new(Arc::new(profile), None));
    let (mut took, mut objects) = (Duration::ZERO, 0);
    let mut apply = |object: &Value| {
        let began = clock::now();
        black_box(state.apply(object));
        took += clock::now().saturating_duration_since(began);
        objects += 1;
    };
    (0..size.seeds).for_each(|number| apply(&seed(number)));
    for number in 0..size.shoots {
        apply(&shoot(size, number));
        if number < size.projects {
            apply(&binding(number));
        }
    }
    state.set_caught_up();
    let graph = state.graphs().first().context("the profile has no graph")?;
    let (vertices, edges) = graph.counts();
    let authorizer =
        GraphAuthorizer::new(Arc::clone(&state), Compat::default(), Selectors::default());
    let checks = KINDS.iter().flat_map(|(what, resource, name)| {
        [true, false].map(|is_allowed| {
            let asked = questions(size, resource, *name, is_allowed);
            check(&authorizer, what, &asked, is_allowed, goes)
        })
    });
    let checks = checks.collect::<Result<_>>()?;
    Ok(Agents {
        relist: relist(&state, &authorizer, size)?,
        objects,
        vertices,
        edges,
        load_ms: took.as_secs_f64() * 1e3,
        checks,
    })
}

/// What is asked about: words, group and resource, and namespace and name for a shoot's number.
type Kind = (
    &'static str,
    (&'static str, &'static str),
    fn(Size, usize) -> (String, String),
);

const KINDS: [Kind; 3] = [
    (
        "get the secret of a shoot",
        ("", "secrets"),
        |size, number| {
            (
                namespace(size, number),
                format!("shoot-{number}.monitoring"),
            )
        },
    ),
    (
        "get the secret of a binding",
        ("", "secrets"),
        |size, number| {
            (
                namespace(size, number),
                format!("infra-{}", number % size.projects),
            )
        },
    ),
    (
        "patch a shoot",
        ("core.gardener.cloud", "shoots"),
        |size, number| (namespace(size, number), format!("shoot-{number}")),
    ),
];

/// Requests of gardenlets about shoots of their own, or of others.
fn questions(
    size: Size,
    (group, resource): &(&str, &str),
    name: fn(Size, usize) -> (String, String),
    is_allowed: bool,
) -> Vec<Access> {
    let mut random = Random::new(7);
    let one = |_| {
        let number = random.below(size.shoots);
        // Nothing of a project is used on a seed that is half the way round from those it is on.
        let away = if is_allowed { 0 } else { size.seeds / 2 };
        let seed = (seed_of(size, number) + away) % size.seeds;
        let (namespace, name) = name(size, number);
        Access {
            user: UserInfo {
                username: format!("gardener.cloud:system:seed:seed-{seed}"),
                groups: vec![
                    "system:authenticated".to_owned(),
                    "gardener.cloud:system:seeds".to_owned(),
                ],
                ..UserInfo::default()
            },
            verb: if *resource == "shoots" {
                "patch"
            } else {
                "get"
            }
            .to_owned(),
            target: Target::Resource(ResourceTarget {
                group: (*group).to_owned(),
                version: "v1".to_owned(),
                resource: (*resource).to_owned(),
                namespace,
                name,
                ..ResourceTarget::default()
            }),
            context: Arc::default(),
        }
    };
    (0..QUESTIONS).map(one).collect()
}

fn check(
    authorizer: &GraphAuthorizer,
    what: &'static str,
    questions: &[Access],
    is_allowed: bool,
    goes: usize,
) -> Result<AgentCheck> {
    for access in questions {
        let said = authorizer.authorize(access);
        let said = said.map_err(|error| Failure::new(error.to_string()))?;
        if matches!(said, Opinion::Allow(_)) != is_allowed {
            return Err(Failure::new(format!("{what}: {access:?}: {said:?}")));
        }
    }
    let mut times = Vec::new();
    for _ in 0..goes {
        let began = clock::now();
        for access in questions {
            let _ = black_box(authorizer.authorize(black_box(access)));
        }
        let took = clock::now().saturating_duration_since(began);
        times.push(took.as_secs_f64() * 1e9 / questions.len() as f64);
    }
    Ok(AgentCheck {
        what,
        is_allowed,
        whole: of_cost(&times),
    })
}

/// Lists all shoots again, as a watch does that lost its place, and asks meanwhile.
fn relist(state: &State, authorizer: &GraphAuthorizer, size: Size) -> Result<Relist> {
    let kind = state.profile().kinds.id("Shoot");
    let source = kind.and_then(|kind| state.profile().sources.of_kind(kind));
    let source = source.context("the profile has no shoots")?;
    let (_, resource, name) = KINDS.first().context("no kinds")?;
    let asked = questions(size, resource, *name, true);
    let is_listing = AtomicBool::new(true);
    let (took, mut times) = std::thread::scope(|scope| {
        let lists = scope.spawn(|| {
            let began = clock::now();
            let mut list = state.relist(source);
            for number in 0..size.shoots {
                list.apply(&shoot(size, number));
            }
            list.finish();
            is_listing.store(false, Ordering::Release);
            clock::now().saturating_duration_since(began)
        });
        let mut times: Vec<f64> = Vec::new();
        let mut answers = asked.iter().cycle();
        while is_listing.load(Ordering::Acquire) {
            let began = clock::now();
            let _ = black_box(answers.next().map(|access| authorizer.authorize(access)));
            times.push(clock::now().saturating_duration_since(began).as_secs_f64() * 1e6);
        }
        (lists.join(), times)
    });
    let took = took.map_err(|_| Failure::new("the list was not finished"))?;
    times.sort_by(f64::total_cmp);
    let part = |part: f64| {
        let place = (times.len().saturating_sub(1)) as f64 * part;
        times.get(place as usize).copied().unwrap_or_default()
    };
    Ok(Relist {
        took_ms: took.as_secs_f64() * 1e3,
        answered: times.len(),
        p50_us: part(0.5),
        p99_us: part(0.99),
        max_us: part(1.0),
    })
}

/// Shoots of a project are on a few seeds.
fn seed_of(size: Size, number: usize) -> usize {
    (number % size.projects + number / size.projects % 3) % size.seeds
}

fn namespace(size: Size, number: usize) -> String {
    format!("garden-{}", number % size.projects)
}

fn seed(number: usize) -> Value {
    json!({
        "apiVersion": "core.gardener.cloud/v1beta1", "kind": "Seed",
        "metadata": {"name": format!("seed-{number}"), "uid": format!("{number:036}")},
        "spec": {"provider": {"type": "local", "region": "here"}, "dns": {}},
        "status": {"clientCertificateExpirationTimestamp": "2099-01-01T00:00:00Z"},
    })
}

fn shoot(size: Size, number: usize) -> Value {
    let seed = format!("seed-{}", seed_of(size, number));
    json!({
        "apiVersion": "core.gardener.cloud/v1beta1", "kind": "Shoot",
        "metadata": {
            "name": format!("shoot-{number}"), "namespace": namespace(size, number), "uid": format!("{number:036}"),
            "annotations": {"gardener.cloud/created-by": "somebody"}, "generation": 3,
        },
        "spec": {
            "seedName": seed,
            "secretBindingName": "binding",
            "cloudProfile": {"kind": "CloudProfile", "name": format!("profile-{}", number % 20)},
            "kubernetes": {"version": "1.33.0", "kubeAPIServer": {"auditConfig": {"auditPolicy": {"configMapRef": {"name": "audit"}}}}},
            "dns": {"domain": format!("shoot-{number}.example.org")},
            "provider": {"type": "local", "workers": [{"name": "worker", "machine": {"type": "large"}, "minimum": 1, "maximum": 9}]},
            "resources": [{"name": "settings", "resourceRef": {"apiVersion": "v1", "kind": "ConfigMap", "name": "settings"}}],
        },
        "status": {"seedName": seed, "technicalID": format!("shoot--{number}"), "lastOperation": {"type": "Reconcile", "state": "Succeeded"}},
    })
}

fn binding(project: usize) -> Value {
    let namespace = format!("garden-{project}");
    json!({
        "apiVersion": "core.gardener.cloud/v1beta1", "kind": "SecretBinding",
        "metadata": {"name": "binding", "namespace": namespace},
        "secretRef": {"namespace": namespace, "name": format!("infra-{project}")},
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_are_answered_as_they_should_be() {
        let size = Size {
            seeds: 10,
            shoots: 300,
            projects: 20,
        };
        let agents = run(size, 1).unwrap();
        assert_eq!(agents.checks.len(), 6);
        assert_eq!(agents.objects, 330);
        assert!(agents.edges > 3_000);
    }
}
