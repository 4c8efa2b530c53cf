//! The example of the guide: a profile for agents that are neither gardenlets nor kubelets.

use std::path::Path;

use super::edges::{World, compiled};

fn read(name: &str) -> String {
    repository(&format!("examples/graph/{name}"))
}

fn repository(name: &str) -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    std::fs::read_to_string(root.join(name)).unwrap_or_else(|e| panic!("{name}: {e}"))
}

#[test]
fn the_example_has_the_edges_of_the_guide() {
    let profile = compiled(&read("edge.yaml"));
    for target in &profile.targets {
        assert_eq!(profile.sources.cycle(*target), None);
    }
    let world = World::of(profile);
    for file in ["sites.yaml", "lines.yaml", "recipes.yaml"] {
        world.put(&read(&format!("objects/{file}")));
    }
    world.check(
        "Site",
        "
        Secret:maintenance/north-key -> Site:north
        Line:dairy/bottles -> Site:north
        Line:dairy/cups -> Site:north
        Line:dairy/cups -> Site:south
        Recipe:dairy/milk -> Line:dairy/bottles
        Recipe:dairy/yoghurt -> Line:dairy/bottles
        Recipe:dairy/yoghurt -> Line:dairy/cups
        Secret:dairy/plc-bottles -> Line:dairy/bottles
        ConfigMap:dairy/layout -> Line:dairy/bottles
        Secret:dairy/plc-cups -> Line:dairy/cups
        ConfigMap:recipes/pasteurize -> Recipe:dairy/milk
        ConfigMap:recipes/ferment -> Recipe:dairy/yoghurt
        Report:dairy/shift-1 -> Line:dairy/bottles",
    );
    assert!(world.leads("ConfigMap:recipes/ferment", "Site:south"));
    assert!(!world.leads("ConfigMap:recipes/pasteurize", "Site:south"));
    let broken = "{apiVersion: edge.example.org/v1, kind: Line, metadata: {name: x, namespace: dairy}, spec: {}}";
    assert_eq!(world.apply(broken), ["spec.site is missing"]);
}

/// What the guide shows step by step is in the file, word for word, and all of it that matters.
#[test]
fn the_guide_shows_the_example() {
    let (guide, profile) = (repository("docs/graph.md"), read("edge.yaml"));
    let (_, steps) = guide.split_once("step by step\n").unwrap();
    let steps = steps.split("\n## ").next().unwrap();
    let blocks: Vec<&str> = steps
        .split("```yaml\n")
        .skip(1)
        .map(|block| block.split("```").next().unwrap())
        .collect();
    assert!(blocks.len() >= 6, "{blocks:?}");
    for block in blocks {
        assert!(profile.contains(block), "edge.yaml doesn't hold:\n{block}");
    }
}
