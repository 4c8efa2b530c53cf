//! What runners send: traces and artifacts.

use portcullis_ci::{CiError, JobReport, NewArtifact, ReportOutcome, ReportedState, TraceOutcome};
use portcullis_document::Size;
use portcullis_jobs::{FailureReason, JobStatus};
use serde_json::json;
use tokio::io::AsyncReadExt as _;

use crate::bench::Bench;
use crate::running::{Taken, append, ask, instance_runner, report, short, taken, update};
use crate::servers::on_both;

on_both! {
    a_trace_grows_where_it_ends,
    a_trace_that_does_not_match_is_sent_again_once,
    a_trace_that_is_too_large_ends_the_job,
    a_long_trace_is_read_in_parts,
    artifacts_reach_the_jobs_that_depend_on_them,
    an_artifact_is_complete_or_not_there,
}

async fn text(bench: &Bench, id: u64) -> Vec<u8> {
    let Some(run) = bench.service.trace_of(id).await.unwrap() else {
        return Vec::new();
    };
    let mut text = Vec::new();
    loop {
        let part = bench
            .service
            .read_trace(&run, text.len() as u64)
            .await
            .unwrap();
        if part.is_empty() {
            return text;
        }
        text.extend(part);
    }
}

async fn a_trace_grows_where_it_ends(bench: Bench) {
    // Case 56.
    let taken = taken(&bench, json!({})).await;
    for (start, content, wanted) in [
        (0, &b"hello"[..], TraceOutcome::Appended(5)),
        (10, b"late", TraceOutcome::Misplaced(5)),
        (0, b"hello", TraceOutcome::Misplaced(5)),
        (5, b" world", TraceOutcome::Appended(11)),
        (11, b"", TraceOutcome::Appended(11)),
        (u64::MAX, b"x", TraceOutcome::Misplaced(11)),
    ] {
        assert_eq!(
            append(&bench, &taken, start, content).await.unwrap(),
            wanted
        );
    }
    assert_eq!(text(&bench, taken.id).await, b"hello world");
    // A new attempt has a new trace.
    update(&bench, &taken, report(ReportedState::Success))
        .await
        .unwrap();
    assert_eq!(text(&bench, taken.id).await, b"hello world");
    bench.service.retry(taken.id).await.unwrap();
    assert_eq!(text(&bench, taken.id).await, b"");
    let missing = bench.service.trace_of(999).await;
    assert!(matches!(missing, Err(CiError::NotFound)));
}

async fn a_trace_that_does_not_match_is_sent_again_once(bench: Bench) {
    let done = |checksum: &str, bytesize| JobReport {
        checksum: Some(checksum.to_owned()),
        bytesize,
        ..report(ReportedState::Success)
    };
    // CRC-32 of `123456789` is cbf43926.
    let good = taken(&bench, json!({})).await;
    append(&bench, &good, 0, b"1234").await.unwrap();
    append(&bench, &good, 4, b"56789").await.unwrap();
    let outcome = update(&bench, &good, done("crc32:cbf43926", Some(9))).await;
    assert_eq!(outcome.unwrap(), ReportOutcome::Counts(JobStatus::Success));

    let bad = taken(&bench, json!({})).await;
    append(&bench, &bad, 0, b"12x4").await.unwrap();
    let again = update(&bench, &bad, done("crc32:cbf43926", None))
        .await
        .unwrap();
    assert_eq!(again, ReportOutcome::ResendTrace);
    assert_eq!(text(&bench, bad.id).await, b"");
    append(&bench, &bad, 0, b"123456789").await.unwrap();
    let outcome = update(&bench, &bad, done("crc32:cbf43926", None)).await;
    assert_eq!(outcome.unwrap(), ReportOutcome::Counts(JobStatus::Success));
    assert_eq!(text(&bench, bad.id).await, b"123456789");

    // One that never matches is taken as it is.
    let worse = taken(&bench, json!({})).await;
    append(&bench, &worse, 0, b"a").await.unwrap();
    let first = update(&bench, &worse, done("crc32:00000000", Some(2))).await;
    assert_eq!(first.unwrap(), ReportOutcome::ResendTrace);
    append(&bench, &worse, 0, b"b").await.unwrap();
    let second = update(&bench, &worse, done("crc32:00000000", Some(2))).await;
    assert_eq!(second.unwrap(), ReportOutcome::Counts(JobStatus::Success));
}

async fn a_trace_that_is_too_large_ends_the_job(bench: Bench) {
    let mut settings = bench.settings.clone();
    settings.runners.max_trace = Size::from_bytes(8);
    bench.service.change(settings);
    let taken = taken(&bench, json!({})).await;
    append(&bench, &taken, 0, b"12345678").await.unwrap();
    let refused = append(&bench, &taken, 8, b"9").await;
    let failed = Some(JobStatus::Failed);
    assert!(matches!(refused, Err(CiError::JobToken(status)) if status == failed));
    let job = bench.service.job(taken.id).await.unwrap();
    assert_eq!(job.failure_reason, Some(FailureReason::TraceSizeExceeded));
    assert_eq!(text(&bench, taken.id).await, b"12345678");
}

async fn a_long_trace_is_read_in_parts(bench: Bench) {
    let taken = taken(&bench, json!({})).await;
    let piece: Vec<u8> = (0..1_000_000_u32).map(|n| (n % 251) as u8).collect();
    for number in 0..4 {
        append(&bench, &taken, number * 1_000_000, &piece)
            .await
            .unwrap();
    }
    let whole = piece.repeat(4);
    assert!(text(&bench, taken.id).await == whole);
    let run = bench.service.trace_of(taken.id).await.unwrap().unwrap();
    for most in [1, 65_536, 262_144, 1_000_001, 5_000_000] {
        let end = bench.service.read_trace_end(&run, most).await.unwrap();
        assert!(end == whole[whole.len().saturating_sub(most)..], "{most}");
    }
    let sum = JobReport {
        bytesize: Some(4_000_000),
        ..report(ReportedState::Success)
    };
    let outcome = update(&bench, &taken, sum).await.unwrap();
    assert_eq!(outcome, ReportOutcome::Counts(JobStatus::Success));
}

fn archive(name: &str) -> NewArtifact {
    NewArtifact {
        kind: "archive".to_owned(),
        name: name.to_owned(),
        expire_in: None,
    }
}

async fn upload(bench: &Bench, taken: &Taken, content: &[u8], new: NewArtifact) {
    let mut upload = bench
        .service
        .begin_artifact(taken.id, &taken.token)
        .await
        .unwrap();
    for piece in content.chunks(3) {
        upload.write(piece).await.unwrap();
    }
    bench.service.finish_artifact(upload, new).await.unwrap();
}

async fn download(bench: &Bench, id: u64, token: &str) -> Result<(String, Vec<u8>), CiError> {
    let mut found = bench.service.open_artifact(id, token).await?;
    let mut content = Vec::new();
    found.file.read_to_end(&mut content).await.unwrap();
    assert_eq!(found.size, content.len() as u64);
    Ok((found.name, content))
}

async fn artifacts_reach_the_jobs_that_depend_on_them(bench: Bench) {
    let artifacts = json!({"paths": ["out/"]});
    let job = |name: &str, stage: &str| json!({"name": name, "stage": stage, "tags": ["linux"], "artifacts": artifacts});
    let mut none = job("none", "test");
    none["dependencies"] = json!([]);
    let mut one = job("one", "test");
    one["dependencies"] = json!(["b"]);
    let jobs = json!([
        job("a", "build"),
        job("b", "build"),
        job("all", "test"),
        none,
        one
    ]);
    bench.submit_pipeline(jobs).await;
    let runner = instance_runner(&bench).await;
    let mut built = Vec::new();
    for name in ["a", "b"] {
        let taken = ask(&bench, &runner).await.unwrap();
        assert_eq!(taken.payload["dependencies"], json!([]));
        upload(
            &bench,
            &taken,
            format!("content of {name}").as_bytes(),
            archive("../../x.zip"),
        )
        .await;
        update(&bench, &taken, report(ReportedState::Success))
            .await
            .unwrap();
        built.push(taken);
    }
    for wanted in [&["a", "b"][..], &[], &["b"]] {
        let taken = ask(&bench, &runner).await.unwrap();
        let dependencies = taken.payload["dependencies"].as_array().unwrap();
        let names: Vec<&str> = dependencies
            .iter()
            .map(|one| one["name"].as_str().unwrap())
            .collect();
        assert_eq!(names, wanted);
        for dependency in dependencies {
            let (id, token) = (
                dependency["id"].as_u64().unwrap(),
                dependency["token"].as_str().unwrap(),
            );
            let (name, content) = download(&bench, id, token).await.unwrap();
            assert_eq!(name, "../../x.zip");
            let own = dependency["name"].as_str().unwrap();
            assert_eq!(content, format!("content of {own}").into_bytes());
            assert_eq!(dependency["artifacts_file"]["size"], content.len());
            // It is good for nothing else.
            let refused = bench.service.running_job(id, token).await;
            assert!(matches!(refused, Err(CiError::JobToken(None))));
        }
    }
    // Names are never paths.
    let root = bench.settings.artifacts.path.clone().unwrap();
    let beside = std::fs::read_dir(root.parent().unwrap()).unwrap();
    let beside: Vec<_> = beside.map(|entry| entry.unwrap().file_name()).collect();
    assert!(
        beside
            .iter()
            .all(|name| name == "artifacts" || name == "data"),
        "{beside:?}"
    );
}

async fn an_artifact_is_complete_or_not_there(bench: Bench) {
    let mut settings = bench.settings.clone();
    settings.artifacts.max_size = Size::from_bytes(10);
    bench.service.change(settings.clone());
    let taken = taken(&bench, json!({})).await;
    let begin = || bench.service.begin_artifact(taken.id, &taken.token);
    let mut large = begin().await.unwrap();
    large.write(b"0123456789").await.unwrap();
    let refused = large.write(b"x").await;
    assert!(matches!(refused, Err(CiError::TooLarge(10))));
    drop(large);
    let mut given_up = begin().await.unwrap();
    given_up.write(b"half").await.unwrap();
    drop(given_up);
    let none = download(&bench, taken.id, &taken.token).await;
    assert!(matches!(none, Err(CiError::NotFound)), "{none:?}");
    let files = || {
        let days = std::fs::read_dir(settings.artifacts.path.as_ref().unwrap()).unwrap();
        let files = days.flat_map(|day| std::fs::read_dir(day.unwrap().path()).unwrap());
        files.count()
    };
    assert_eq!(files(), 0);
    for content in [&b"first"[..], b"second"] {
        upload(&bench, &taken, content, archive("a.zip")).await;
    }
    let (_, content) = download(&bench, taken.id, &taken.token).await.unwrap();
    assert_eq!((content.as_slice(), files()), (&b"second"[..], 1));
    // Kinds are words.
    let odd = NewArtifact {
        kind: "../x".to_owned(),
        ..archive("a.zip")
    };
    let upload = begin().await.unwrap();
    let invalid = bench.service.finish_artifact(upload, odd).await;
    assert!(matches!(invalid, Err(CiError::Invalid(_))), "{invalid:?}");
    // One that expired at once is not there any more.
    let short_lived = NewArtifact {
        expire_in: Some("0".to_owned()),
        ..archive("a.zip")
    };
    let mut upload = begin().await.unwrap();
    upload.write(b"third").await.unwrap();
    bench
        .service
        .finish_artifact(upload, short_lived)
        .await
        .unwrap();
    let expired = download(&bench, taken.id, &taken.token).await;
    assert!(matches!(expired, Err(CiError::NotFound)), "{expired:?}");
}
