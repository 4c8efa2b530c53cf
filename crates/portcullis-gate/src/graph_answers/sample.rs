//! A small profile and its objects, for tests.
//!
//! ```text
//! Badge:hq/b1 -> Desk:hq/d1 -> Robot:r1
//!                Desk:hq/d2 -> Robot:r2
//!                Desk:hq/d1 -> Floor:f1     (in the graph of floors)
//! ```

use std::sync::Arc;

use portcullis_graph::{Compat, GraphAuthorizer, Profile, ProfileSpec, Selectors, State};
use serde_json::json;

pub(crate) fn profile() -> Profile {
    let spec = json!({
        "kind": "RelationshipGraph",
        "description": "Robots that clean desks.",
        "targets": ["Robot", "Floor"],
        "vertices": {
            "Badge": {"resource": "badges", "namespaced": true},
            "Desk": {"group": "office.example", "resource": "desks", "namespaced": true},
            "Floor": {"group": "office.example", "resource": "floors"},
            "Robot": {"group": "office.example", "resource": "robots"},
        },
        "sources": [
            {"kind": "Desk", "edges": [
                {"to": "Robot", "names": "self.spec.robot", "targets": ["Robot"]},
                {"to": "Floor", "names": "self.spec.floor", "targets": ["Floor"]},
                {"from": "Badge", "names": "self.spec.badge"},
            ]},
            {"kind": "Robot"},
        ],
        "subjects": [{
            "id": "robot", "user": "robot:{name}", "groups": ["robots"],
            "target": {"kind": "Robot", "name": "{name}"},
        }],
        "rules": [
            {"resources": ["desks.office.example"], "path": ["get", "update"]},
            {"resources": ["badges"], "path": ["get"]},
        ],
    });
    let spec: ProfileSpec = serde_json::from_value(spec).unwrap();
    Profile::compile(&spec).unwrap()
}

pub(crate) fn state() -> Arc<State> {
    let state = State::new(Arc::new(profile()), None);
    let desk = |name: &str, spec: serde_json::Value| {
        json!({
            "apiVersion": "office.example/v1", "kind": "Desk",
            "metadata": {"namespace": "hq", "name": name}, "spec": spec,
        })
    };
    state.apply(&desk(
        "d1",
        json!({"robot": "r1", "floor": "f1", "badge": "b1"}),
    ));
    state.apply(&desk("d2", json!({"robot": "r2"})));
    state.apply(&json!({
        "apiVersion": "office.example/v1", "kind": "Robot", "metadata": {"name": "r1"},
    }));
    state.set_caught_up();
    Arc::new(state)
}

pub(crate) fn authorizer() -> GraphAuthorizer {
    GraphAuthorizer::new(state(), Compat::Strict, Selectors::Forwarded)
}
