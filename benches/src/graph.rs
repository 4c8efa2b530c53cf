//! What the relationship graph costs: loading, memory, checks and changes, next to a plain search.
//!
//! Two shapes (`gardener`, `kubernetes`), each with half a million vertices, made the same in every run.
//! `naive` holds the same data in hash maps and must say the same.

mod agents;
mod check;
mod data;
mod gardener;
mod kubernetes;
mod naive;
mod questions;
mod random;
mod rates;
mod updates;

use std::time::Duration;

use portcullis_graph::Graph;
use serde::Serialize;

pub(crate) use self::agents::Agents;
pub(crate) use self::check::Check;
use self::check::Texts;
use self::data::{Data, Number};
use self::gardener::Gardener;
use self::kubernetes::Kubernetes;
use self::naive::Naive;
use self::questions::Questions;
pub(crate) use self::random::Random;
pub(crate) use self::rates::Rates;
pub(crate) use self::updates::Update;
use self::updates::{Movable, Mover};
use crate::cli::GraphEffort;
use crate::failure::Result;
use crate::statistics::{Summary, of_cost};
use crate::{clock, output, proc};

/// Changes of each kind.
const CHANGES: usize = 4_000;

/// What was found.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Graphs {
    pub(crate) shapes: Vec<Shape>,
    /// The whole way: profile and rules included.
    pub(crate) agents: Agents,
}

/// What was found with one shape.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Shape {
    pub(crate) name: &'static str,
    pub(crate) loaded: Loaded,
    /// None if it was only loaded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) asked: Option<Asked>,
}

/// A graph that was filled.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Loaded {
    pub(crate) vertices: usize,
    pub(crate) edges: usize,
    /// By how much the process grew.
    pub(crate) resident_kib: u64,
    pub(crate) bytes_per_edge: f64,
    /// From the first object to the last, in milliseconds.
    pub(crate) load_ms: Summary,
    /// The same as processor time, which others on the machine disturb less.
    pub(crate) load_cpu_ms: Summary,
}

/// What it was asked.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Asked {
    pub(crate) checks: Vec<Check>,
    pub(crate) rates: Rates,
    pub(crate) updates: Vec<Update>,
}

/// Measures everything.
pub(crate) fn run(effort: &GraphEffort) -> Result<Graphs> {
    output::tell("graph: making objects");
    let gardener = gardener::make(gardener::LARGE);
    let cluster = kubernetes::make(kubernetes::LARGE);
    // Both graphs before all the rest, so that none of them gets memory that something else gave back.
    output::tell("graph: loading");
    let (of_gardener, gardener_kib) = filled(&gardener.data)?;
    let (of_cluster, cluster_kib) = filled(&cluster.data)?;
    let loaded = [
        loaded(&gardener.data, &of_gardener, gardener_kib, effort)?,
        loaded(&cluster.data, &of_cluster, cluster_kib, effort)?,
    ];
    let [of_seeds, of_nodes] = loaded;
    output::tell("graph: asking about seeds");
    let seeds = about_seeds(&gardener, &of_gardener, effort)?;
    drop((gardener, of_gardener));
    output::tell("graph: asking about nodes");
    let nodes = about_nodes(&cluster, &of_cluster, effort)?;
    drop((cluster, of_cluster));
    output::tell("graph: asking as agents");
    let agents = agents::run(agents::LARGE, usize::from(effort.graph_goes))?;
    let shape = |name, loaded, asked| Shape {
        name,
        loaded,
        asked: Some(asked),
    };
    Ok(Graphs {
        agents,
        shapes: vec![
            shape("1,000 seeds, 100,000 shoots", of_seeds, seeds),
            shape("500 nodes, 100,000 pods", of_nodes, nodes),
        ],
    })
}

/// A graph of all objects, and by how much the process grew.
fn filled(data: &Data) -> Result<(Graph, u64)> {
    let resident = || proc::memory(std::process::id()).map(|memory| memory.anonymous_kib);
    let before = resident()?;
    let graph = data.graph();
    data.load(&graph);
    Ok((graph, resident()?.saturating_sub(before)))
}

fn loaded(data: &Data, graph: &Graph, resident_kib: u64, effort: &GraphEffort) -> Result<Loaded> {
    let (mut times, mut cpu_times) = (Vec::new(), Vec::new());
    for _ in 0..effort.graph_rounds {
        let graph = data.graph();
        let (began, used) = (clock::now(), proc::cpu_time(std::process::id())?);
        data.load(&graph);
        let took = clock::now().saturating_duration_since(began);
        let used = proc::cpu_time(std::process::id())?.saturating_sub(used);
        times.push(took.as_secs_f64() * 1e3);
        cpu_times.push(used.as_secs_f64() * 1e3);
    }
    let (vertices, edges) = graph.counts();
    Ok(Loaded {
        vertices,
        edges,
        resident_kib,
        bytes_per_edge: resident_kib as f64 * 1024.0 / edges as f64,
        load_ms: of_cost(&times),
        load_cpu_ms: of_cost(&cpu_times),
    })
}

fn about_seeds(gardener: &Gardener, graph: &Graph, effort: &GraphEffort) -> Result<Asked> {
    let data = &gardener.data;
    let naive = Naive::new(data);
    let questions = questions::gardener(gardener, &naive);
    let checks = checks(data, graph, &naive, &questions, effort)?;
    let shoots: Vec<usize> = gardener.shoots.iter().map(|shoot| shoot.object).collect();
    let bindings: Vec<Number> = gardener.bindings.iter().map(|one| one.vertex).collect();
    let registered = gardener.seeds.get(gardener.registered.clone());
    let moves = |what, others| Movable {
        what,
        objects: &shoots,
        others,
    };
    let to_seed = moves(
        "a shoot moves to another seed",
        registered.unwrap_or_default(),
    );
    let mut mover = Mover::new(data, graph, to_seed);
    let rates = rates(data, graph, &questions, &mut mover, effort)?;
    let mut updates: Vec<Update> = [
        to_seed,
        moves("a shoot gets another cloud profile", &gardener.profiles),
        moves("a shoot gets another binding", &bindings),
    ]
    .into_iter()
    .map(|movable| updates::moves(data, graph, movable, CHANGES))
    .collect();
    updates.push(updates::unchanged(
        data,
        graph,
        "a shoot is listed again",
        &shoots,
        CHANGES,
    ));
    let what = ("a shoot goes", "a shoot comes back");
    updates.extend(updates::recreated(data, graph, what, &shoots, CHANGES));
    Ok(Asked {
        checks,
        rates,
        updates,
    })
}

fn about_nodes(cluster: &Kubernetes, graph: &Graph, effort: &GraphEffort) -> Result<Asked> {
    let data = &cluster.data;
    let naive = Naive::new(data);
    let questions = questions::kubernetes(cluster, &naive);
    let checks = checks(data, graph, &naive, &questions, effort)?;
    let pods: Vec<usize> = cluster.pods.iter().map(|pod| pod.object).collect();
    let to_node = Movable {
        what: "a pod moves to another node",
        objects: &pods,
        others: &cluster.nodes,
    };
    let mut mover = Mover::new(data, graph, to_node);
    let rates = rates(data, graph, &questions, &mut mover, effort)?;
    let mut updates = vec![
        updates::moves(data, graph, to_node, CHANGES),
        updates::unchanged(data, graph, "a pod is listed again", &pods, CHANGES),
    ];
    let what = ("a pod goes", "a pod comes back");
    updates.extend(updates::recreated(data, graph, what, &pods, CHANGES));
    Ok(Asked {
        checks,
        rates,
        updates,
    })
}

fn checks(
    data: &Data,
    graph: &Graph,
    naive: &Naive,
    questions: &[Questions],
    effort: &GraphEffort,
) -> Result<Vec<Check>> {
    let goes = usize::from(effort.graph_goes);
    let questions = questions.iter();
    questions
        .map(|one| check::run(data, graph, naive, one, goes))
        .collect()
}

/// All kinds of questions, mixed.
fn rates(
    data: &Data,
    graph: &Graph,
    questions: &[Questions],
    mover: &mut Mover<'_>,
    effort: &GraphEffort,
) -> Result<Rates> {
    let most = questions.iter().map(|one| one.pairs.len()).max();
    let mut mixed: Vec<(Number, Number)> = Vec::new();
    for number in 0..most.unwrap_or_default() {
        let pairs = questions.iter().map(|one| &one.pairs);
        mixed.extend(pairs.filter_map(|pairs| pairs.get(number % pairs.len().max(1))));
    }
    let texts = Texts::new(data, &mixed);
    let named = texts.named();
    let time = Duration::from_secs_f64(effort.graph_seconds);
    let rates = rates::run(graph, &named, mover, time, usize::from(effort.graph_rounds));
    mover.finish();
    rates
}

#[cfg(test)]
mod tests {
    use super::*;

    const SEEDS: gardener::Size = gardener::Size {
        seeds: 200,
        shoots: 1_000,
        projects: 50,
        whole_shoots: true,
    };
    const NODES: kubernetes::Size = kubernetes::Size {
        nodes: 20,
        namespaces: 5,
        pods: 400,
        sharing: 100,
    };

    /// Everything that is asked is answered as the plain search does, before and after changes.
    fn agree(data: &Data, graph: &Graph, naive: &Naive, questions: &[Questions]) {
        for one in questions {
            for (from, to) in &one.pairs {
                let plain = naive.leads(data.named(*from), data.named(*to));
                assert_eq!(plain, one.is_allowed, "{}", one.what);
                assert_eq!(data.ask(graph, *from, *to), plain, "{}", one.what);
            }
        }
    }

    #[test]
    fn graph_and_plain_search_agree_about_seeds() {
        let gardener = gardener::make(SEEDS);
        let data = &gardener.data;
        let (graph, naive) = (data.graph(), Naive::new(data));
        data.load(&graph);
        assert_eq!(graph.counts(), (data.len(), data.edges().len()));
        let questions = questions::gardener(&gardener, &naive);
        assert_eq!(questions.len(), 10, "allowed and refused of each");
        agree(data, &graph, &naive, &questions);
        let shoots: Vec<usize> = gardener.shoots.iter().map(|shoot| shoot.object).collect();
        let movable = Movable {
            what: "",
            objects: &shoots,
            others: &gardener.seeds,
        };
        updates::moves(data, &graph, movable, 501);
        updates::recreated(data, &graph, ("", ""), &shoots, 50);
        assert_eq!(graph.counts(), (data.len(), data.edges().len()));
        agree(data, &graph, &naive, &questions);
    }

    #[test]
    fn graph_and_plain_search_agree_about_nodes() {
        let cluster = kubernetes::make(NODES);
        let data = &cluster.data;
        let (graph, naive) = (data.graph(), Naive::new(data));
        data.load(&graph);
        assert_eq!(graph.counts().1, data.edges().len());
        let questions = questions::kubernetes(&cluster, &naive);
        assert!(
            questions
                .iter()
                .any(|one| one.what.starts_with("ConfigMap") && !one.is_allowed)
        );
        agree(data, &graph, &naive, &questions);
    }

    #[test]
    fn the_large_shapes_have_the_size_that_is_said() {
        let data = gardener::make(gardener::LARGE).data;
        assert!((490_000..560_000).contains(&data.len()), "{}", data.len());
        let edges = data.edges().len();
        assert!((1_450_000..1_600_000).contains(&edges), "{edges}");
        let data = kubernetes::make(kubernetes::LARGE).data;
        assert!((490_000..510_000).contains(&data.len()), "{}", data.len());
    }
}
