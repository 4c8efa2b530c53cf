//! What is asked: kinds of questions, with many vertices each, and the answers that are right.

use super::data::{Data, Number};
use super::gardener::Gardener;
use super::kubernetes::Kubernetes;
use super::naive::Naive;
use super::random::Random;

/// How many questions of a kind there are, if there are as many different ones.
const MANY: usize = 4096;
/// How many pairs are tried for them.
const TRIES: usize = 3 * MANY;

/// Questions of one kind, all with the same right answer.
#[derive(Debug)]
pub(super) struct Questions {
    pub(super) what: &'static str,
    pub(super) is_allowed: bool,
    pub(super) pairs: Vec<(Number, Number)>,
}

/// Where questions of a kind begin and end.
struct Asked<'a> {
    what: &'static str,
    from: Vec<Number>,
    to: &'a [Number],
    /// How many there are to be.
    many: usize,
}

/// Questions about a Gardener.
pub(super) fn gardener(gardener: &Gardener, naive: &Naive) -> Vec<Questions> {
    let seeds = &gardener.seeds;
    let all = [
        Asked {
            what: "secret of one shoot",
            from: gardener.shoots.iter().map(|shoot| shoot.secret).collect(),
            to: seeds,
            many: MANY,
        },
        Asked {
            what: "secret of a shared binding",
            from: gardener
                .bindings
                .iter()
                .map(|binding| binding.secret)
                .collect(),
            to: seeds,
            many: MANY,
        },
        Asked {
            what: "project",
            from: gardener.projects.clone(),
            to: seeds,
            many: MANY,
        },
        Asked {
            what: "cloud profile",
            from: gardener.profiles.clone(),
            to: seeds,
            many: 200,
        },
        Asked {
            what: "cluster identity",
            from: vec![gardener.cluster_identity],
            to: seeds,
            many: 200,
        },
    ];
    let all = all.iter();
    all.flat_map(|asked| both(&gardener.data, naive, asked))
        .collect()
}

/// Questions about a cluster.
pub(super) fn kubernetes(cluster: &Kubernetes, naive: &Naive) -> Vec<Questions> {
    let nodes = &cluster.nodes;
    let of_pods = |what, of: fn(&super::kubernetes::Pod) -> Number| Asked {
        what,
        from: cluster.pods.iter().map(of).collect(),
        to: nodes,
        many: MANY,
    };
    let all = [
        of_pods("secret of one pod", |pod| pod.secret),
        of_pods("volume of one pod", |pod| pod.volume),
        Asked {
            what: "secret that pods share",
            from: cluster.shared_secrets.clone(),
            to: nodes,
            many: MANY,
        },
        Asked {
            what: "service account of a namespace",
            from: cluster.accounts.clone(),
            to: nodes,
            many: 1000,
        },
        Asked {
            what: "ConfigMap that 5,000 pods share",
            from: vec![cluster.shared_map],
            to: nodes,
            many: 200,
        },
    ];
    let all = all.iter();
    all.flat_map(|asked| both(&cluster.data, naive, asked))
        .collect()
}

/// Questions that are to be allowed, and such that are to be refused; told apart by the plain search.
fn both(data: &Data, naive: &Naive, asked: &Asked<'_>) -> Vec<Questions> {
    let mut random = Random::new(3);
    let (mut allowed, mut refused) = (Vec::new(), Vec::new());
    // Few pairs taken by chance are related: every other one is found by following edges.
    for number in 0..TRIES.min(asked.many * 20) {
        if allowed.len() >= asked.many && refused.len() >= asked.many {
            break;
        }
        let Some(from) = random.one_of(&asked.from) else {
            break;
        };
        let to = if number % 2 == 0 {
            naive.some_end(data, from, &mut random)
        } else {
            random.one_of(asked.to)
        };
        let Some(to) = to else {
            continue;
        };
        let found = match naive.leads(data.named(from), data.named(to)) {
            true => &mut allowed,
            false => &mut refused,
        };
        if found.len() < asked.many {
            found.push((from, to));
        }
    }
    let of = |is_allowed, pairs| Questions {
        what: asked.what,
        is_allowed,
        pairs,
    };
    let both = [of(true, allowed), of(false, refused)];
    both.into_iter()
        .filter(|one| !one.pairs.is_empty())
        .collect()
}
