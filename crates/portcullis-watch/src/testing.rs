//! A small graph for tests: pods and shoots lead to the node that their `note` names.

use std::sync::Arc;

use portcullis_graph::{Profile, ProfileSpec, Reach, State, VertexRef};

const PROFILE: &str = "
kind: RelationshipGraph
targets: [Node]
vertices:
  Node: {resource: nodes}
  Pod: {resource: pods, namespaced: true}
  Shoot: {group: core.gardener.cloud, version: v1beta1, resource: shoots, namespaced: true}
sources:
- {kind: Node}
- {kind: Pod, edges: [{to: Node, names: self.note}]}
- {kind: Shoot, edges: [{to: Node, names: self.note}]}
subjects:
- {id: node, user: 'system:node:{name}', groups: ['system:nodes'], target: {kind: Node, name: '{name}'}}
";

pub(crate) fn state() -> Arc<State> {
    let spec: ProfileSpec = serde_saphyr::from_str(PROFILE).unwrap();
    let profile = Profile::compile(&spec).unwrap();
    Arc::new(State::new(Arc::new(profile), None))
}

/// Whether there is a path from an object in the namespace `n` to a node.
pub(crate) fn leads(state: &State, kind: &str, name: &str, node: &str) -> bool {
    let kinds = &state.profile().kinds;
    let vertex = |kind, namespace, name| VertexRef {
        kind: kinds.id(kind).unwrap(),
        namespace,
        name,
    };
    let (from, to) = (vertex(kind, "n", name), vertex("Node", "", node));
    state.graphs()[0].leads(from, to) == Reach::Yes
}
