//! Runners.

use portcullis_jobs::{AccessLevel, Runner, RunnerType};
use portcullis_store::{IdKind, JobsError, JobsTransaction, RunnerRecord};

use super::builders::{at, run};
use crate::place::Place;

crate::on_both!(
    a_runner_comes_back_as_it_was_saved,
    a_project_has_its_runners_and_those_above,
);

fn insert(
    tx: &mut JobsTransaction<'_>,
    kind: RunnerType,
    path: Option<&str>,
) -> Result<RunnerRecord, JobsError> {
    let id = tx.new_id(IdKind::Runner)?;
    let record = RunnerRecord {
        runner: Runner {
            id,
            kind,
            path: path.map(str::to_owned),
            description: "odd \u{0}".into(),
            tags: vec!["linux".into()],
            run_untagged: true,
            access_level: AccessLevel::RefProtected,
            paused: false,
            locked: false,
        },
        token_hash: format!("hash-{id}"),
        created_at: at(3),
    };
    tx.insert_runner(&record)?;
    Ok(record)
}

fn a_runner_comes_back_as_it_was_saved(place: &Place) {
    let mut store = place.open();
    let mut one = run(&mut store, |tx| insert(tx, RunnerType::Group, Some("g")));
    assert_eq!(run(&mut place.open(), |tx| tx.runner(1)), Some(one.clone()));
    one.runner.paused = true;
    one.token_hash = "other".into();
    assert!(run(&mut store, |tx| tx.save_runner(&one)));
    assert_eq!(
        run(&mut store, |tx| tx.runner_for_change(1)),
        Some(one.clone())
    );
    assert_eq!(
        run(&mut store, |tx| tx.runner_by_token("other")),
        Some(one.clone())
    );
    assert_eq!(run(&mut store, |tx| tx.runner_by_token("hash-1")), None);
    let same = store.jobs(|tx| {
        let mut two = insert(tx, RunnerType::Instance, None)?;
        two.token_hash = "other".into();
        tx.save_runner(&two)
    });
    assert!(matches!(same, Err(JobsError::Store(_))));
    assert!(run(&mut store, |tx| tx.delete_runner(1)));
    assert!(!run(&mut store, |tx| tx.delete_runner(1)));
    assert!(!run(&mut store, |tx| tx.save_runner(&one)));
    assert!(run(&mut store, |tx| tx.list_runners(None, 9)).is_empty());
}

fn a_project_has_its_runners_and_those_above(place: &Place) {
    let mut store = place.open();
    let all = run(&mut store, |tx| {
        let all = [
            insert(tx, RunnerType::Instance, None)?,
            insert(tx, RunnerType::Group, Some("a"))?,
            insert(tx, RunnerType::Group, Some("a/b"))?,
            insert(tx, RunnerType::Project, Some("a/b/p"))?,
            insert(tx, RunnerType::Project, Some("a/b"))?,
            insert(tx, RunnerType::Project, Some("p"))?,
        ];
        Ok(all)
    });
    for project in ["a/b/p", "a/b", "p", "a/p", "z"] {
        let found = run(&mut store, |tx| tx.runners_for(project));
        let wanted = all.iter().filter(|one| one.runner.serves(project));
        let wanted: Vec<RunnerRecord> = wanted.cloned().collect();
        assert_eq!(found, wanted, "{project}");
    }
    assert_eq!(run(&mut store, |tx| tx.list_runners(Some(2), 2)), all[2..4]);
}
