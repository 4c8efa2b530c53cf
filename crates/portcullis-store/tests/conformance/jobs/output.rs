//! What runners send: traces and artifacts; and the numbers of projects.

use portcullis_store::{ArtifactRecord, JobRun, JobsError, Store, TraceState};

use super::builders::{at, run};
use crate::place::Place;

crate::on_both!(
    a_trace_is_the_pieces_in_their_order,
    a_trace_that_is_sent_again_begins_anew,
    servers_append_to_one_trace_in_turn,
    an_artifact_takes_the_place_of_an_earlier_one,
    what_runners_sent_is_deleted_by_its_day,
    a_project_has_one_number,
);

fn of(job: u64, attempt: u32) -> JobRun {
    JobRun {
        project: "group/project".to_owned(),
        job,
        attempt,
        started_at: at(0),
    }
}

fn append(store: &mut Store, of: &JobRun, content: &[u8]) {
    run(store, |tx| {
        let state = tx.trace_for_change(of)?;
        let checksum = state.checksum.wrapping_add(1);
        tx.append_trace(of, state, content, checksum)
    });
}

fn text(store: &mut Store, of: &JobRun) -> Vec<u8> {
    let chunks = store.read_jobs(|reader| reader.trace_chunks(of, 0, 100));
    let chunks: Result<_, JobsError> = chunks;
    let mut text = Vec::new();
    for (first, content) in chunks.unwrap() {
        assert_eq!(first, text.len() as u64);
        text.extend(content);
    }
    text
}

fn state(store: &mut Store, of: &JobRun) -> TraceState {
    let found: Result<_, JobsError> = store.read_jobs(|reader| reader.trace(of));
    found.unwrap()
}

fn a_trace_is_the_pieces_in_their_order(place: &Place) {
    let mut store = place.open();
    let (first, second) = (of(1, 1), of(1, 2));
    assert_eq!(state(&mut store, &first), TraceState::default());
    for content in [&b"one\n"[..], b"\x00\xff", b"three"] {
        append(&mut store, &first, content);
    }
    append(&mut store, &second, b"again");
    assert_eq!(text(&mut store, &first), b"one\n\x00\xffthree");
    assert_eq!(text(&mut store, &second), b"again");
    let wanted = TraceState {
        size: 11,
        checksum: 3,
        resets: 0,
    };
    assert_eq!(state(&mut store, &first), wanted);
    let rest: Result<_, JobsError> = store.read_jobs(|reader| reader.trace_chunks(&first, 4, 1));
    assert_eq!(rest.unwrap(), [(4, b"\x00\xff".to_vec())]);
    // An operation that fails leaves nothing.
    let failed: Result<(), JobsError> = store.jobs(|tx| {
        let state = tx.trace_for_change(&first)?;
        tx.append_trace(&first, state, b"lost", 0)?;
        Err(JobsError::Stopped)
    });
    assert!(failed.is_err());
    assert_eq!(state(&mut store, &first), wanted);
}

fn a_trace_that_is_sent_again_begins_anew(place: &Place) {
    let mut store = place.open();
    let run_of = of(1, 1);
    append(&mut store, &run_of, b"wrong");
    run(&mut store, |tx| tx.reset_trace(&run_of));
    let wanted = TraceState {
        resets: 1,
        ..TraceState::default()
    };
    assert_eq!(state(&mut store, &run_of), wanted);
    append(&mut store, &run_of, b"right");
    assert_eq!(text(&mut store, &run_of), b"right");
}

fn servers_append_to_one_trace_in_turn(place: &Place) {
    drop(place.open());
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                let mut store = place.open();
                for _ in 0..10 {
                    append(&mut store, &of(1, 1), b"0123456789");
                }
            });
        }
    });
    let mut store = place.open();
    assert_eq!(text(&mut store, &of(1, 1)), b"0123456789".repeat(40));
}

fn artifact(kind: &str, file: &str, expires: Option<u64>) -> ArtifactRecord {
    ArtifactRecord {
        day: of(1, 1).day_number(),
        kind: kind.to_owned(),
        file: file.to_owned(),
        name: "artifacts.zip".to_owned(),
        size: 12,
        created_at: at(1),
        expires_at: expires.map(at),
    }
}

fn an_artifact_takes_the_place_of_an_earlier_one(place: &Place) {
    let mut store = place.open();
    let run_of = of(1, 1);
    let first = artifact("archive", "a", Some(100));
    let put = |store: &mut Store, artifact: &ArtifactRecord| {
        run(store, |tx| tx.put_artifact(&run_of, artifact))
    };
    assert_eq!(put(&mut store, &first), None);
    assert_eq!(
        put(&mut store, &artifact("archive", "b", Some(50))),
        Some(first)
    );
    assert_eq!(put(&mut store, &artifact("junit", "c", None)), None);
    let found = |store: &mut Store, kind: &str| {
        let found: Result<_, JobsError> = store.read_jobs(|reader| {
            Ok((
                reader.artifact(&run_of, kind)?,
                reader.artifact_count(&run_of)?,
            ))
        });
        let (found, count) = found.unwrap();
        (found.map(|artifact: ArtifactRecord| artifact.file), count)
    };
    assert_eq!(found(&mut store, "archive"), (Some("b".to_owned()), 2));
    assert_eq!(run(&mut store, |tx| tx.expire_artifacts(at(49), 9)), []);
    let expired = run(&mut store, |tx| tx.expire_artifacts(at(50), 9));
    assert_eq!(expired, [artifact("archive", "b", Some(50))]);
    assert_eq!(found(&mut store, "archive"), (None, 1));
}

fn what_runners_sent_is_deleted_by_its_day(place: &Place) {
    let mut store = place.open();
    let (old, new) = (
        of(1, 1),
        JobRun {
            started_at: at(3 * 86_400),
            ..of(2, 1)
        },
    );
    for one in [&old, &new] {
        append(&mut store, one, b"text");
        run(&mut store, |tx| {
            tx.put_artifact(one, &artifact("archive", "a", None))
        });
    }
    while !run(&mut store, |tx| tx.expire_archived(at(2 * 86_400), 10)).is_empty() {}
    assert_eq!(text(&mut store, &old), b"");
    assert_eq!(state(&mut store, &old), TraceState::default());
    assert_eq!(text(&mut store, &new), b"text");
    let found: Result<_, JobsError> = store.read_jobs(|reader| {
        Ok((
            reader.artifact(&old, "archive")?.is_some(),
            reader.artifact(&new, "archive")?.is_some(),
        ))
    });
    assert_eq!(found.unwrap(), (false, true));
}

fn a_project_has_one_number(place: &Place) {
    drop(place.open());
    let numbers: Vec<(u64, u64)> = std::thread::scope(|scope| {
        let give = || {
            let mut store = place.open();
            let mut give = |path: &str| run(&mut store, |tx| tx.ensure_project_id(path, at(0)));
            (give("g/a"), give("g/b"))
        };
        let all: Vec<_> = (0..4).map(|_| scope.spawn(give)).collect();
        all.into_iter().map(|one| one.join().unwrap()).collect()
    });
    let (a, b) = numbers[0];
    assert!(a != b && a > 0 && b > 0);
    assert!(numbers.iter().all(|one| *one == (a, b)), "{numbers:?}");
    let mut store = place.open();
    let found: Result<_, JobsError> =
        store.read_jobs(|reader| Ok((reader.project_id("g/a")?, reader.project_id("g/c")?)));
    assert_eq!(found.unwrap(), (Some(a), None));
}
