//! Prints what evaluations cost: `cargo run --release -p portcullis-js --example cost`.
#![allow(
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a tool for people at a terminal"
)]

use std::sync::Arc;
use std::time::Duration;

use portcullis_core::clock::Stopwatch;
use portcullis_js::{GlobalContext, Input, Limits, PolicySet, PolicySource, Pool, PoolOptions};
use serde_json::{Value, json};

const NAME: &str = "if (object.metadata.name === 'bad') return 'bad name';";
const IMAGES: &str = r"for (const c of [...(object.spec.initContainers || []), ...object.spec.containers]) {
    if (!/^(registry\.example\.com|ghcr\.io)\//.test(c.image)) return 'image ' + c.image + ' not allowed';
}";
const CHANGE: &str = "object.metadata.labels = { ...object.metadata.labels, seen: 'yes' };";

fn main() {
    let path = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../benches/fixtures/pod.json"
    );
    let pod: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    let mut large = pod.clone();
    if let Some(metadata) = large.get_mut("metadata").and_then(Value::as_object_mut) {
        let data: Vec<Value> = (0..2000)
            .map(|i| json!({"key": i, "value": "x".repeat(60)}))
            .collect();
        metadata.insert("data".to_owned(), Value::Array(data));
    }
    let watch = Stopwatch::start();
    let pool = start(&[NAME]);
    pool.evaluate(Input::new(Value::Null)).unwrap();
    println!(
        "start to first answer                {:8.0} us",
        watch.elapsed().as_secs_f64() * 1e6
    );
    for (what, object) in [("pod", pod), ("large object", large)] {
        println!("{what}: {} bytes", object.to_string().len());
        let object = Arc::new(object);
        for (name, codes) in [
            ("nothing", &[""][..]),
            ("name check", &[NAME]),
            ("image allow-list", &[IMAGES]),
            ("both", &[NAME, IMAGES]),
            ("both, and a change", &[NAME, IMAGES, CHANGE]),
        ] {
            measure(name, &start(codes), &object);
        }
    }
}

fn start(codes: &[&str]) -> Pool {
    let policies: Vec<_> = codes
        .iter()
        .enumerate()
        .map(|(i, code)| PolicySource {
            name: format!("policy-{i}"),
            code: (*code).to_owned(),
        })
        .collect();
    let set = PolicySet::compile("", &policies).unwrap();
    let options = PoolOptions {
        threads: 1,
        queue: 1024,
    };
    Pool::start(set, Limits::default(), options, GlobalContext::new(1 << 20)).unwrap()
}

/// Keeps one thread busy, so that waking it is not counted.
fn measure(name: &str, pool: &Pool, object: &Arc<Value>) {
    const ROUND: u32 = 500;
    let input = Input {
        object: Arc::clone(object),
        ..Input::new(Value::Null)
    };
    let mut best = f64::MAX;
    for _ in 0..8 {
        let (sender, receiver) = std::sync::mpsc::sync_channel(1024);
        let watch = Stopwatch::start();
        let deadline = watch.started() + Duration::from_secs(30);
        for _ in 0..ROUND {
            let sender = sender.clone();
            pool.submit(input.clone(), deadline, move |e| {
                let _ = sender.send(e.is_ok_and(|e| e.denial().is_none()));
            })
            .unwrap();
        }
        let fine = receiver.iter().take(ROUND as usize).all(|fine| fine);
        assert!(fine, "{name}");
        best = best.min(watch.elapsed().as_secs_f64() / f64::from(ROUND));
    }
    println!("  {name:34} {:8.1} us", best * 1e6);
}
