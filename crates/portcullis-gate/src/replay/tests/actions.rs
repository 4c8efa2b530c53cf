//! Calls of the API, which are not decided again.

use std::convert::Infallible;
use std::time::{Duration, SystemTime};

use portcullis_core::{DecisionId, Peer};
use portcullis_record::{Action, Masker, Material};

use super::record::{Came, Setup, by_config, by_policies, options};
use super::{create, pod};
use crate::replay::{Line, Outcome, Replay};
use portcullis_config::ConfigSource;

const OPEN: &str = "defaultAction: allow\npolicies: [{name: open, code: 'return true'}]\n";

/// The record of a call, as a line.
fn call(allowed: bool) -> String {
    let action = Action {
        id: DecisionId::new(SystemTime::UNIX_EPOCH + Duration::from_secs(1_794_694_400)),
        permission: "enqueue".to_owned(),
        method: "POST".to_owned(),
        path: "/api/tenant/t/project/p/enqueue".to_owned(),
        peer: Peer::default(),
        tenant: Some("t".to_owned()),
        parameters: vec![("project".to_owned(), "p".to_owned())],
        user: "alice".to_owned(),
        issuer: None,
        allowed,
        message: String::new(),
        rule: None,
        role: allowed.then(|| "admin".to_owned()),
        misses: Vec::new(),
        rules: Vec::new(),
        roles: Vec::new(),
        status: 200,
        duration: Duration::ZERO,
    };
    let material = Material::of_action(action, SystemTime::UNIX_EPOCH, "".into(), None);
    Masker::default().write(&material).unwrap().line
}

#[test]
fn they_are_passed_over_whatever_is_new() {
    let setup = Setup::new(OPEN).with("policies/p.js", "return 'never';");
    for allowed in [true, false] {
        let line = call(allowed);
        assert_eq!(by_config(&setup.file(), &line), Outcome::PassedOver);
        let folder = setup.path("policies");
        assert_eq!(by_policies(&folder, &line), Outcome::PassedOver);
    }
}

#[test]
fn they_are_counted_beside_what_is_decided_again() {
    let setup = Setup::new(OPEN);
    let review = create(&pod("web", "app"));
    let texts = [
        call(true),
        setup.gate().line(&review, &Came::default()),
        call(false),
    ];
    let lines: Vec<Line> = (1..)
        .zip(texts)
        .map(|(number, text)| Line { number, text })
        .collect();
    let registry = crate::registry();
    let known = registry.names();
    let file = setup.file();
    let replay = Replay::load(&options(ConfigSource::File(&file), &known)).unwrap();
    let source = |sink: &mut dyn FnMut(Vec<Line>) -> std::ops::ControlFlow<()>| {
        let _ = sink(lines);
        Ok::<(), Infallible>(())
    };
    let report = replay.run(source, &mut |_| {}).unwrap();
    assert_eq!((report.passed_over, report.decisions), (2, 1));
    assert_eq!((report.same, report.not_judged, report.failed), (1, 0, 0));
    assert!(!report.is_changed());
}
