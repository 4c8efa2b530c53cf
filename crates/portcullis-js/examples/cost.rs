//! Prints what evaluations cost: `cargo run --release -p portcullis-js --example cost`.
#![allow(
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a tool for people at a terminal"
)]

use std::sync::Arc;
use std::time::Duration;

use portcullis_core::clock::Stopwatch;
use portcullis_core::{Document, PolicyMode, json as strict};
use portcullis_js::{
    GlobalContext, Input, Limits, NoHost, Plan, PolicySet, PolicySource, Pool, PoolOptions, Sources,
};
use serde_json::{Value, json};

const NAME: &str = "if (object.metadata.name === 'bad') return 'bad name';";
const IMAGES: &str = r"for (const c of [...(object.spec.initContainers || []), ...object.spec.containers]) {
    if (!/^(registry\.example\.com|ghcr\.io)\//.test(c.image)) return 'image ' + c.image + ' not allowed';
}";
/// Changes nothing, but that can't be determined from its text.
const HELPER: &str = "const isBad = (name) => name === 'worse'; if (isBad(object.metadata.name)) return 'worse name';";
const CHANGE: &str = "object.metadata.labels = { ...object.metadata.labels, seen: 'yes' };";

/// How many realms are made to see what they take.
const REALMS: usize = 16;

fn main() {
    let path = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../benches/fixtures/pod.json"
    );
    let pod: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    let mut large = pod.clone();
    if let Some(metadata) = large.get_mut("metadata").and_then(Value::as_object_mut) {
        let data: Vec<Value> = (0..2300)
            .map(|i| json!({"key": i, "value": "x".repeat(60)}))
            .collect();
        metadata.insert("data".to_owned(), Value::Array(data));
    }
    let mut best = f64::MAX;
    let set = compile(&[NAME, IMAGES]);
    for _ in 0..5 {
        wait_for_quiet();
        let watch = Stopwatch::start();
        let pool = start(set.clone());
        pool.evaluate(Input::new(
            &json!({"metadata": {}, "spec": {"containers": []}}),
        ))
        .unwrap();
        best = best.min(watch.elapsed().as_secs_f64());
    }
    println!(
        "start of a pool to its first answer   {:8.0} us",
        best * 1e6
    );
    let only = std::env::args().nth(1).unwrap_or_default();
    let many: Vec<&str> = std::iter::repeat_n(IMAGES, 100).collect();
    for (what, object) in [("pod", pod), ("large object", large)] {
        println!("{what}: {} bytes", object.to_string().len());
        println!("  {:34} {:>11} {:>11}", "", "CPU", "wall");
        for (name, codes) in [
            ("nothing", &[""][..]),
            ("name check", &[NAME]),
            ("image allow-list", &[IMAGES]),
            ("validating: both", &[NAME, IMAGES]),
            ("validating, could change it", &[NAME, IMAGES, HELPER]),
            ("mutating: both, and a change", &[NAME, IMAGES, CHANGE]),
            ("one of 100, others skipped", &many),
        ] {
            if !only.is_empty() && !name.starts_with(&only) {
                continue;
            }
            wait_for_quiet();
            measure(name, &start(compile(codes)), codes.len(), &object);
        }
    }
    wait_for_quiet();
    let before = resident().unwrap_or_default();
    let pool = start_with(compile(&many), REALMS);
    while pool.realms_made() < REALMS as u64 {
        std::thread::sleep(Duration::from_millis(1));
    }
    let grown = resident().unwrap_or_default().saturating_sub(before);
    println!(
        "resident: {before} KiB, and {} KiB for each realm of 100 policies",
        grown / REALMS as u64
    );
}

/// Time on a CPU of all threads, in seconds, where the system says it.
fn cpu_time() -> Option<f64> {
    let tasks = std::fs::read_dir("/proc/self/task").ok()?;
    let nanoseconds: f64 = tasks
        .filter_map(|task| std::fs::read_to_string(task.ok()?.path().join("schedstat")).ok())
        .filter_map(|text| text.split_whitespace().next()?.parse::<f64>().ok())
        .sum();
    Some(nanoseconds / 1e9)
}

/// Memory in use, in KiB, where the system says it.
fn resident() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmRSS"))?;
    line.split_whitespace().nth(1)?.parse().ok()
}

/// Waits for the threads of pools that are gone, so that their time is not counted.
fn wait_for_quiet() {
    let is_quiet = || std::fs::read_dir("/proc/self/task").map_or(true, |tasks| tasks.count() < 2);
    while !is_quiet() {
        std::thread::sleep(Duration::from_millis(1));
    }
}

fn compile(codes: &[&str]) -> PolicySet {
    let policies = codes.iter().enumerate();
    let sources = Sources {
        policies: policies
            .map(|(i, code)| PolicySource::body(format!("policy-{i}"), *code))
            .collect(),
        ..Sources::default()
    };
    PolicySet::compile(&sources).unwrap()
}

fn start(set: PolicySet) -> Pool {
    start_with(set, 1)
}

fn start_with(set: PolicySet, threads: usize) -> Pool {
    let options = PoolOptions {
        threads,
        queue: 1024,
    };
    let context = GlobalContext::new(1 << 20);
    Pool::start(set, Limits::default(), options, context, Arc::new(NoHost)).unwrap()
}

/// Keeps one thread busy, so that waking it is not counted. Only the first of many policies runs.
fn measure(name: &str, pool: &Pool, policies: usize, object: &Value) {
    const ROUND: u32 = 500;
    let text = object.to_string();
    let scanned = strict::scan(text.as_bytes()).unwrap();
    let mut input = Input::new(&Value::Null);
    if policies > 3 {
        input.plan = vec![Plan::Skip; policies];
        input.plan.splice(..1, [Plan::Run(PolicyMode::Enforce)]);
    }
    let (mut least_cpu, mut least_wall) = (f64::MAX, f64::MAX);
    for _ in 0..8 {
        let (sender, receiver) = std::sync::mpsc::sync_channel(1024);
        let (watch, cpu) = (Stopwatch::start(), cpu_time());
        let deadline = watch.started() + Duration::from_secs(30);
        for _ in 0..ROUND {
            let sender = sender.clone();
            // As a request comes: scanned, and read no further.
            let document = Document::from_scanned(&scanned, scanned.text());
            let input = Input {
                object: Arc::new(document.tree().unwrap()),
                ..input.clone()
            };
            pool.submit(input, deadline, move |e| {
                let _ = sender.send(e.is_ok_and(|e| e.denial().is_none()));
            })
            .unwrap();
        }
        let fine = receiver.iter().take(ROUND as usize).all(|fine| fine);
        assert!(fine, "{name}");
        least_wall = least_wall.min(watch.elapsed().as_secs_f64() / f64::from(ROUND));
        let used = cpu_time().zip(cpu).map(|(after, before)| after - before);
        least_cpu = least_cpu.min(used.unwrap_or(f64::NAN) / f64::from(ROUND));
    }
    println!(
        "  {name:34} {:8.1} us {:8.1} us",
        least_cpu * 1e6,
        least_wall * 1e6
    );
}
