//! How long a large load takes: `cargo test --release -p portcullis-graph --lib a_large_load_takes --
//! --ignored --nocapture`.

use super::*;

const CLUSTERS: &str = "
targets: [Seed]
vertices:
  Seed: {group: g, resource: seeds}
  Shoot: {group: g, resource: shoots, namespaced: true}
  Secret: {resource: secrets, namespaced: true}
  ConfigMap: {resource: configmaps, namespaced: true}
  Namespace: {resource: namespaces}
  Binding: {group: g, resource: bindings, namespaced: true}
  Profile: {group: g, resource: profiles}
sources:
- {kind: Seed, keep: [status.expires]}
- kind: Shoot
  keep: [spec.seedName, status.seedName]
  malformed:
    - {when: \"!(get(self, 'spec.profile.kind', '') in ['', 'Profile'])\", says: odd profile}
    - {when: \"get(self, 'spec.dns.providers', []).exists(p, get(p, 'ref.kind', '') != 'Secret')\", says: odd provider}
  edges:
    - {to: Seed, names: [self.spec.seedName, self.status.seedName]}
    - {from: Namespace, names: self.metadata.namespace}
    - {from: Binding, names: [self.spec.binding, self.spec.otherBinding]}
    - {from: Profile, names: [self.spec.profile.name, self.spec.profileName]}
    - from: ConfigMap
      names:
        - self.spec.kubernetes.apiServer.audit.policy.configMapRef.name
        - self.spec.kubernetes.apiServer.authentication.configMapName
        - self.spec.kubernetes.apiServer.authorization.configMapName
        - \"['.ca-cluster', '.ca-kubelet'].map(s, self.metadata.name + s)\"
    - from: Secret
      names:
        - \"['.ca-cluster', '.ssh-keypair', '.ssh-keypair.old', '.monitoring'].map(s, self.metadata.name + s)\"
        - \"get(self, 'spec.kubernetes.apiServer.authorization.kubeconfigs', []).map(k, get(k, 'secretName', ''))\"
        - \"get(self, 'spec.dns.providers', []).map(p, get(p, 'ref', null))\"
    - from: [Secret, ConfigMap]
      names: self.spec.resources.filter(r, has(r.resourceRef)).map(r, r.resourceRef)
    - {from: Secret, when: \"get(self.metadata, ['annotations', 'issuer'], '') == 'managed'\", namespace: \"'issuer'\", names: self.metadata.uid}
    - {from: Secret, when: \"!exists('Seed', '', self.spec.seedName)\", names: \"self.metadata.name + '.bootstrap'\", targets: [Seed]}
";

#[test]
#[ignore = "a measurement: cargo test --release -p portcullis-graph --lib -- --ignored --nocapture"]
#[allow(clippy::print_stdout, reason = "a measurement")]
fn a_large_load_takes() {
    let profile = profile(CLUSTERS).unwrap();
    let state = State::new(profile, None);
    for number in 0..1_000 {
        state.apply(&json!({
            "apiVersion": "g/v1", "kind": "Seed", "metadata": {"name": format!("seed{number}")},
            "status": {"expires": "2999-01-01T00:00:00Z"},
        }));
    }
    let shoots: Vec<Value> = (0..100_000_usize)
        .map(|number| {
            json!({
                "apiVersion": "g/v1", "kind": "Shoot",
                "metadata": {
                    "name": format!("shoot{number}"), "namespace": format!("project{}", number % 5_000),
                    "uid": format!("{number}"), "annotations": {"a": "b", "c": "d"}, "labels": {"x": "y"},
                },
                "spec": {
                    "seedName": format!("seed{}", number % 1_000), "binding": "b",
                    "profile": {"kind": "Profile", "name": format!("p{}", number % 10)},
                    "kubernetes": {"apiServer": {"audit": {"policy": {"configMapRef": {"name": "audit"}}}}},
                    "dns": {"providers": [{"ref": {"kind": "Secret", "name": "dns"}}]},
                    "resources": [
                        {"name": "r", "resourceRef": {"kind": "Secret", "apiVersion": "v1", "name": "r"}},
                        {"name": "c", "resourceRef": {"kind": "ConfigMap", "apiVersion": "v1", "name": "c"}},
                    ],
                    "workers": [{"name": "w", "machine": {"type": "m"}, "zones": ["a", "b"]}],
                },
                "status": {"seedName": format!("seed{}", number % 1_000), "conditions": [{"type": "a"}]},
            })
        })
        .collect();
    let source = state.source_of("g/v1", "Shoot").unwrap();
    for round in ["first", "again"] {
        let watch = Stopwatch::start();
        let mut list = state.relist(source);
        for shoot in &shoots {
            assert_eq!(list.apply(shoot), Applied::Followed(vec![]));
        }
        list.finish();
        println!(
            "{round}: {:?}, {:?}",
            watch.elapsed(),
            state.graphs()[0].counts()
        );
    }
    let rule = state.profile().sources.get(source).unwrap();
    let graph = Graph::new(state.graphs()[0].shape().clone());
    let (mut computing, mut changing) = (Duration::ZERO, Duration::ZERO);
    for shoot in &shoots {
        let watch = Stopwatch::start();
        let mut scope = Scope::new(&state, clock::wall());
        scope.set("self", shoot);
        let own = state.own(rule, shoot).unwrap();
        let contribution = contribution::look(rule, &state.profile().kinds, &own, &scope);
        computing += watch.elapsed();
        let watch = Stopwatch::start();
        let edges: Vec<_> = contribution.edges.iter().map(|e| e.edge(&own)).collect();
        graph.replace(own.vertex(), &edges);
        changing += watch.elapsed();
    }
    println!("expressions alone: {computing:?}; a graph alone: {changing:?}");
    let watch = Stopwatch::start();
    state.relist(source).finish();
    println!(
        "all gone: {:?}, {:?}",
        watch.elapsed(),
        state.graphs()[0].counts()
    );
}
