//! Controllers.

use portcullis_jobs::{Controller, ControllerDefinition, ControllerState};
use portcullis_store::{ControllerRecord, ControllerSecret, IdKind, JobsError, JobsTransaction};
use serde_json::json;

use super::builders::{at, run};
use crate::place::Place;

crate::on_both!(
    a_controller_comes_back_as_it_was_saved,
    a_project_has_its_controllers_and_those_above,
    a_name_is_there_once_on_each_level_and_path,
);

fn insert(
    tx: &mut JobsTransaction<'_>,
    name: &str,
    level: &str,
    path: Option<&str>,
) -> Result<ControllerRecord, JobsError> {
    let mut body = json!({"name": name, "level": level, "kind": "both",
        "url": "https://controller.example/hook", "match": {"users": ["alice"]}, "timeout": "3s"});
    if let Some(path) = path {
        body["path"] = path.into();
    }
    let record = ControllerRecord {
        controller: Controller {
            id: tx.new_id(IdKind::Controller)?,
            created_at: at(1),
            revision: 1,
            definition: ControllerDefinition::read(&body).unwrap(),
        },
        secrets: vec![ControllerSecret {
            secret: "whsec_c2VjcmV0".into(),
            expires_at: Some(at(7)),
        }],
    };
    tx.insert_controller(&record)?;
    Ok(record)
}

fn a_controller_comes_back_as_it_was_saved(place: &Place) {
    let mut store = place.open();
    let mut one = run(&mut store, |tx| insert(tx, "c", "group", Some("g/h")));
    assert!(!format!("{one:?}").contains("whsec"));
    assert_eq!(
        run(&mut place.open(), |tx| tx.controller(1)),
        Some(one.clone())
    );
    let mut stale = one.clone();
    one.controller.definition.state = ControllerState::Suspended;
    one.controller.definition.name = "d".into();
    one.secrets.clear();
    store.jobs(|tx| tx.save_controller(&mut one)).unwrap();
    assert_eq!(one.controller.revision, 2);
    assert_eq!(
        run(&mut store, |tx| tx.controller_for_change(1)),
        Some(one.clone())
    );
    let error = store.jobs(|tx| tx.save_controller(&mut stale)).unwrap_err();
    assert!(matches!(error, JobsError::Stale { .. }), "{error}");
    // The old name is free.
    assert_eq!(
        run(&mut store, |tx| insert(tx, "c", "group", Some("g/h")))
            .controller
            .id,
        2
    );
    assert!(run(&mut store, |tx| tx.delete_controller(1)));
    assert!(!run(&mut store, |tx| tx.delete_controller(1)));
    assert_eq!(run(&mut store, |tx| tx.controller(1)), None);
    let error = store.jobs(|tx| tx.save_controller(&mut one)).unwrap_err();
    assert!(matches!(error, JobsError::Stale { .. }), "{error}");
}

fn a_project_has_its_controllers_and_those_above(place: &Place) {
    let mut store = place.open();
    run(&mut store, |tx| {
        for (level, path) in [
            ("instance", None),         // 1
            ("group", Some("a")),       // 2
            ("group", Some("a/b")),     // 3
            ("project", Some("a/b/p")), // 4
            ("project", Some("a/b")),   // 5: a project of the name of a group
            ("group", Some("a/b/p")),   // 6: a group of the name of a project
            ("group", Some("ab")),      // 7
            ("project", Some("p")),     // 8
        ] {
            insert(tx, "c", level, path)?;
        }
        Ok(())
    });
    for (project, wanted) in [
        ("a/b/p", &[1, 2, 3, 4][..]),
        ("a/b", &[1, 2, 5]),
        ("a/b/p/q", &[1, 2, 3, 6]),
        ("p", &[1, 8]),
        ("z", &[1]),
        ("ab/p", &[1, 7]),
    ] {
        let found = run(&mut store, |tx| tx.controllers_for(project));
        let found: Vec<u64> = found.into_iter().map(|one| one.controller.id).collect();
        assert_eq!(found, wanted, "{project}");
    }
    let page = run(&mut store, |tx| tx.list_controllers(Some(5), 2));
    let page: Vec<u64> = page.into_iter().map(|one| one.controller.id).collect();
    assert_eq!(page, [6, 7]);
    assert_eq!(
        run(&mut store, |tx| tx.list_controllers(None, 100)).len(),
        8
    );
}

fn a_name_is_there_once_on_each_level_and_path(place: &Place) {
    let mut store = place.open();
    run(&mut store, |tx| {
        insert(tx, "c", "instance", None)?;
        insert(tx, "c", "group", Some("g"))?;
        insert(tx, "c", "project", Some("g"))?;
        insert(tx, "d", "group", Some("g"))
    });
    for (level, path) in [
        ("instance", None),
        ("group", Some("g")),
        ("project", Some("g")),
    ] {
        let error = store.jobs(|tx| insert(tx, "c", level, path)).unwrap_err();
        assert_eq!(error.to_string(), "duplicate controller name `c`");
    }
    let mut other = run(&mut store, |tx| tx.controller(4)).unwrap();
    other.controller.definition.name = "c".into();
    let error = store.jobs(|tx| tx.save_controller(&mut other)).unwrap_err();
    assert!(matches!(error, JobsError::NameTaken(_)), "{error}");
    // An operation can go on after that.
    let done = run(&mut store, |tx| {
        assert!(insert(tx, "c", "instance", None).is_err());
        insert(tx, "e", "instance", None)
    });
    assert_eq!(
        run(&mut store, |tx| tx.controller(done.controller.id)),
        Some(done)
    );
}
