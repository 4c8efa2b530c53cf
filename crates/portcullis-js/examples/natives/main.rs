//! Looks for built-in functions that a deadline can't stop:
//! `cargo run --release -p portcullis-js --example natives [PART OF A NAME]`.
//!
//! Every function that policies can reach is called with inputs that are slow for some of them. Calls
//! that took a while are made again with inputs of growing size. What runs on after the deadline, or
//! takes far more time for four times the input, is printed; the exit code is 1 if it is not in
//! `ACCEPTED`. Times are those of this machine: what is found is measured again before it is reported,
//! because other programs take time too, but run it where little else does. It takes a quarter of an hour.
#![allow(
    clippy::print_stdout,
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a tool for people at a terminal"
)]

use std::collections::HashMap;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use portcullis_core::clock::Stopwatch;
use portcullis_js::{
    Evaluation, GlobalContext, Input, Limits, NoHost, PolicySet, PolicySource, Pool, PoolOptions,
    Sources,
};
use serde_json::{Value, json};

const HARNESS: &str = include_str!("harness.js");

/// Functions that take long for their input, and why that is bounded. By what their name ends with.
const ACCEPTED: &[(&str, &str)] = &[
    ("BigInt prototype toString", "bounded by 2^20 bits"),
    ("BigInt prototype toLocaleString", "bounded by 2^20 bits"),
    ("AggregateError", "bounded by the list that memory can hold"),
    ("Array from", "bounded by the list that memory can hold"),
    ("JSON stringify", "bounded by the text that memory can hold"),
    (
        "RegExp",
        "compiles a pattern, of a length that policies choose",
    ),
];

/// Inputs that take long to be made a text or number, whatever is called with
/// them, and why that is bounded.
const ACCEPTED_INPUTS: &[(&str, &str)] =
    &[("big", "an integer of at most 2^20 bits is written out")];

const DEADLINE: Duration = Duration::from_millis(50);

/// How long after the deadline an evaluation may end.
const LATE: Duration = Duration::from_millis(250);

/// How long one is waited for.
const LONGEST: Duration = Duration::from_secs(20);

/// How often something is measured before it counts as slow.
const ATTEMPTS: usize = 4;

/// Sizes of inputs: characters, or sixteen times the number of keys.
const FIRST: u64 = 1 << 12;
const SIZES: [u64; 3] = [1 << 14, 1 << 16, 1 << 18];

/// Milliseconds from which a call is looked at more closely.
const SLOW: f64 = 0.2;

/// Four times the input may take so many times the time: a function whose time grows with the square takes sixteen
/// times, and one whose data no longer fits the caches up to eight.
const GROWTH: f64 = 10.0;

/// Milliseconds up to which nothing is slow, whatever its growth.
const FAST: f64 = 10.0;

fn pool(deadline: Duration) -> Pool {
    let sources = Sources {
        policies: vec![PolicySource::body("natives", HARNESS)],
        ..Sources::default()
    };
    let options = PoolOptions {
        threads: 1,
        queue: 1,
    };
    let limits = Limits {
        deadline,
        ..Limits::default()
    };
    let set = PolicySet::compile(&sources).unwrap();
    let context = GlobalContext::new(0);
    Pool::start(set, limits, options, context, Arc::new(NoHost)).unwrap()
}

/// What came of one evaluation.
enum Ran {
    /// What the harness says.
    Ended(String),
    /// A limit ended it in time, in the call of this number.
    Stopped(usize),
    /// It ran on after the deadline.
    Overran(Duration),
}

struct Bench {
    pool: Pool,
}

impl Bench {
    fn run(&mut self, object: &Value) -> Ran {
        let watch = Stopwatch::start();
        let evaluation: Evaluation = self.pool.evaluate(Input::new(object)).unwrap();
        if self.pool.abandoned() > 0 {
            while self.pool.abandoned() > 0 && watch.elapsed() < LONGEST {
                std::thread::sleep(Duration::from_millis(5));
            }
            let took = watch.elapsed();
            if took > DEADLINE + LATE {
                self.pool = pool(DEADLINE);
                return Ran::Overran(took);
            }
        }
        let denial = evaluation.denial().unwrap();
        let last = evaluation.warnings.last();
        let last = last.and_then(|text| text.rsplit(' ').next()?.parse().ok());
        match denial.limit {
            Some(_) => Ran::Stopped(last.unwrap_or(usize::MAX - 1)),
            None => Ran::Ended(
                denial
                    .denial
                    .message
                    .trim_start_matches("natives: ")
                    .to_owned(),
            ),
        }
    }

    /// The same, again as long as it runs on: only what runs on each time does so by itself.
    fn run_surely(&mut self, object: &Value) -> Ran {
        let mut ran = self.run(object);
        for _ in 1..ATTEMPTS {
            let Ran::Overran(_) = ran else {
                break;
            };
            ran = self.run(object);
        }
        ran
    }

    /// The arguments with which a function took a while, and how long it ran on if it did.
    fn suspects(&mut self, path: &str, own: &str) -> (Vec<Vec<String>>, Option<Duration>) {
        let mut found = Vec::new();
        let mut from = 0;
        loop {
            let all =
                json!({"path": path, "self": own, "n": FIRST, "threshold": SLOW, "from": from});
            match self.run_surely(&all) {
                Ran::Ended(text) => {
                    found.extend(slow_ones(&text).into_iter().map(|(args, _)| args));
                    return (found, None);
                }
                // That one could be stopped: on with the next.
                Ran::Stopped(at) => from = at + 1,
                Ran::Overran(took) => return (found, Some(took)),
            }
        }
    }
}

/// What the harness lists.
fn list(object: &Value) -> Vec<String> {
    let evaluation = pool(LONGEST).evaluate(Input::new(object)).unwrap();
    let text = &evaluation.denial().unwrap().denial.message;
    let text = text.trim_start_matches("natives: ");
    text.lines().map(str::to_owned).collect()
}

/// What took a while: arguments, milliseconds.
fn slow_ones(text: &str) -> Vec<(Vec<String>, f64)> {
    let found: Vec<(String, f64)> = serde_json::from_str(text).unwrap_or_default();
    let split = |args: &str| {
        args.split(',')
            .filter(|a| !a.is_empty())
            .map(str::to_owned)
            .collect()
    };
    found
        .into_iter()
        .map(|(args, ms)| (split(&args), ms))
        .collect()
}

/// What of an input is slow for every function, if it is accepted.
fn accepted_input(own: &str, args: &[String]) -> Option<&'static (&'static str, &'static str)> {
    let is_met = |(input, _): &&(&str, &str)| own == *input || args.iter().any(|a| a == input);
    ACCEPTED_INPUTS.iter().find(is_met)
}

fn main() -> ExitCode {
    let part = std::env::args().nth(1).unwrap_or_default();
    let mut bench = Bench {
        pool: pool(DEADLINE),
    };
    let mut paths = list(&json!({}));
    paths.retain(|path| path.contains(&part));
    let kinds = list(&json!({"path": "kinds"}));
    println!("{} functions, {} kinds of input", paths.len(), kinds.len());
    let (mut accepted, mut unknown) = (0, 0);
    let mut overruns = HashMap::new();
    for (path, own) in paths.iter().flat_map(|p| kinds.iter().map(move |k| (p, k))) {
        // What belongs to no prototype doesn't use `this`.
        let has_this = path.contains("prototype") || path.contains("__proto__");
        if (!has_this && own != "nothing") || overruns.get(path) == Some(&2) {
            continue;
        }
        let mut report = |args: &[String], what: String| {
            let by_function = ACCEPTED.iter().find(|(end, _)| path.ends_with(end));
            let reason = by_function.or_else(|| accepted_input(own, args));
            match reason {
                Some(_) => accepted += 1,
                None => unknown += 1,
            }
            let why = reason.map_or("", |(_, why)| why);
            println!("{path:45} {own:14} {what}  {why}");
        };
        let (suspects, overran) = bench.suspects(path, own);
        if let Some(took) = overran {
            *overruns.entry(path).or_insert(0) += 1;
            report(&[], format!("runs on for {took:.1?} with n={FIRST}"));
        }
        // What is accepted whatever is called needs no closer look.
        let is_closer = |args: &Vec<String>| accepted_input(own, args).is_none();
        for args in suspects.into_iter().filter(is_closer) {
            let mut times = Vec::new();
            'sizes: for n in SIZES {
                let one = json!({"path": path, "self": own, "n": n, "threshold": -1, "args": args});
                // The best of some.
                let mut best = f64::MAX;
                for _ in 0..ATTEMPTS {
                    match bench.run_surely(&one) {
                        Ran::Ended(text) => {
                            let took = slow_ones(&text).first().map_or(0.0, |s| s.1);
                            best = best.min(took);
                        }
                        // A call that was begun can be stopped, however long it takes.
                        Ran::Stopped(0) => {
                            times.clear();
                            break 'sizes;
                        }
                        Ran::Stopped(_) => break 'sizes,
                        Ran::Overran(took) => {
                            let shown = args.join(", ");
                            report(
                                &args,
                                format!("({shown}) runs on for {took:.1?} with n={n}"),
                            );
                            break 'sizes;
                        }
                    }
                }
                times.push(best);
            }
            let grows = |pair: &[f64]| pair[1] > FAST && pair[1] > GROWTH * pair[0];
            if times.windows(2).any(grows) {
                let shown: Vec<String> = times.iter().map(|ms| format!("{ms:.1}")).collect();
                let text = format!("({}) takes {} ms", args.join(", "), shown.join(", "));
                report(&args, text);
            }
        }
    }
    // Without this line the tool was ended before its time.
    println!("all functions were called; {accepted} findings are accepted, {unknown} are not");
    match unknown {
        0 => ExitCode::SUCCESS,
        _ => ExitCode::FAILURE,
    }
}
