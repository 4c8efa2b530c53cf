//! What storing and reading decisions costs. `cargo run --release -p portcullis-store --example store_cost`.
//!
//! Arguments: `sqlite:PATH` or `postgres://…` of an empty store (a file in the folder for temporary
//! files by default), and how many decisions to read among (1,000,000 by default).

#![allow(
    clippy::print_stdout,
    clippy::indexing_slicing,
    reason = "it measures, and says what it found"
)]

use std::ops::ControlFlow;
use std::path::Path;
use std::time::{Duration, UNIX_EPOCH};

use portcullis_core::Door;
use portcullis_core::clock::Stopwatch;
use portcullis_record::{Answer, Summary};
use portcullis_store::{Entry, Filter, Location, Mode, Page, Store};
use ulid::Ulid;

/// Bytes of a line.
const LINE: usize = 8 << 10;

/// When the first decision was made.
const BASE: u64 = 1_750_000_000_000;

/// Numbers that look random, always the same.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }
}

/// The decision of this number: a pod of one of some users in one of some namespaces.
fn summary(place: u64, random: &mut Random) -> Summary {
    let denied = random.next().is_multiple_of(20);
    let policy = format!("policy-{}", random.next() % 20);
    Summary {
        // Ten each millisecond, in no order within one.
        id: Ulid::from_parts(BASE + place / 10, random.next().into()).to_string(),
        time: format!("2025-06-15T15:06:40.{:06}Z", place % 1_000_000),
        door: Door::Kubernetes,
        operation: "CREATE".into(),
        kind: ["Pod", "Deployment", "ConfigMap", "Job"][(random.next() % 4) as usize].into(),
        namespace: format!("team-{}", random.next() % 50),
        name: format!("web-{:010x}", random.next() & 0xff_ffff_ffff),
        user: format!(
            "system:serviceaccount:team-{}:deployer",
            random.next() % 500
        ),
        verdict: if denied { Answer::Deny } else { Answer::Allow },
        mutated: random.next().is_multiple_of(3),
        message: if denied {
            format!("{policy}: container \"app\" must set securityContext.runAsNonRoot")
        } else {
            String::new()
        },
        plugin: denied.then(|| "Policies".into()),
        policy: denied.then(|| policy.clone()),
        digest: denied.then(|| format!("sha256:{policy}{}", "0a".repeat(28))),
        gate: Some(format!("sha256:{}", "5c".repeat(32))),
        duration_us: random.next() % 1000,
        warnings: vec![],
        concerned: if denied {
            vec!["Policies".into(), policy]
        } else {
            vec![]
        },
        traceparent: None,
    }
}

/// A line that resembles others: a review with its object, where names and numbers differ.
fn alike(summary: &Summary, random: &mut Random) -> String {
    let mut line = serde_json::to_string(summary).unwrap_or_default();
    line.pop();
    line.push_str(&format!(
        ",\"patch\":[],\"trace\":[{{\"plugin\":\"PodSecurity\",\"phase\":\"validate\",\"outcome\":\
         \"passed\",\"duration_us\":{}}}],\"input\":{{\"review\":{{\"request\":{{\"uid\":\
         \"{:016x}-{:016x}\",\"object\":{{\"metadata\":{{\"name\":\"{}\",\"labels\":{{\"app\":\"web\",\
         \"pod-template-hash\":\"{:08x}\"}}}},\"spec\":{{\"containers\":[",
        random.next() % 100,
        random.next(),
        random.next(),
        summary.name,
        random.next() as u32,
    ));
    let mut container = 0;
    while line.len() < LINE - 40 {
        line.push_str(&format!(
            "{{\"name\":\"c{container}\",\"image\":\"registry.example.com/shop/web-{container}:v{}\",\
             \"resources\":{{\"limits\":{{\"cpu\":\"{}m\",\"memory\":\"512Mi\"}}}},\"env\":[{{\"name\":\
             \"LOG_LEVEL\",\"value\":\"***\"}},{{\"name\":\"SETTING_{container}\",\"value\":\"***\"}}],\
             \"securityContext\":{{\"allowPrivilegeEscalation\":false}}}},",
            random.next() % 100,
            100 * (random.next() % 10),
        ));
        container += 1;
    }
    line.push_str("{}]}}}}}}");
    line
}

/// A line that resembles no other.
fn unlike(random: &mut Random) -> String {
    let mut line = String::with_capacity(LINE + 16);
    while line.len() < LINE {
        line.push_str(&format!("{:016x}", random.next()));
    }
    line
}

fn entries<'a>(summaries: &'a [Summary], lines: &'a [String]) -> Vec<Entry<'a>> {
    let both = summaries.iter().zip(lines.iter().cycle());
    both.map(|(summary, line)| Entry { summary, line })
        .collect()
}

fn micros(time: Duration, count: usize) -> f64 {
    time.as_secs_f64() * 1e6 / count as f64
}

/// What compressing alone costs, by how hard it is tried.
fn compression() -> Result<(), Box<dyn std::error::Error>> {
    let mut random = Random(7);
    for kind in ["alike", "unlike"] {
        let lines: Vec<String> = (0..256)
            .map(|place| match kind {
                "alike" => alike(&summary(place, &mut random), &mut random),
                _ => unlike(&mut random),
            })
            .collect();
        let text = lines.join("\n");
        for level in [-5, -3, -1, 1, 2, 3] {
            let mut compressor = zstd::bulk::Compressor::new(level)?;
            let mut size = 0;
            let mut best = Duration::MAX;
            for _ in 0..20 {
                let watch = Stopwatch::start();
                size = compressor.compress(text.as_bytes())?.len();
                best = best.min(watch.elapsed());
            }
            println!(
                "{kind:<7} zstd {level:>2}: {:>6.2} us and {:>5} bytes each, of {}",
                micros(best, lines.len()),
                size / lines.len(),
                text.len() / lines.len(),
            );
        }
    }
    Ok(())
}

/// How long this thread has been running, where the system says so.
fn processor() -> Duration {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let nanoseconds = text.split(' ').next().and_then(|text| text.parse().ok());
    Duration::from_nanos(nanoseconds.unwrap_or_default())
}

/// Appends so many in batches of this size; gives the time that appending alone took, and how much of
/// it was computing.
fn append(
    store: &mut Store,
    from: u64,
    count: usize,
    batch: usize,
    line: &mut dyn FnMut(&Summary) -> String,
) -> Result<(Duration, Duration), Box<dyn std::error::Error>> {
    let mut random = Random(from + 88_172_645_463_325_252);
    let (mut taken, mut computing) = (Duration::ZERO, Duration::ZERO);
    let mut place = from;
    while place < from + count as u64 {
        let size = batch.min((from + count as u64 - place) as usize);
        let summaries: Vec<Summary> = (0..size as u64)
            .map(|offset| summary(place + offset, &mut random))
            .collect();
        let lines: Vec<String> = summaries.iter().map(&mut *line).collect();
        let entries = entries(&summaries, &lines);
        let (watch, before) = (Stopwatch::start(), processor());
        store.append(&entries)?;
        taken += watch.elapsed();
        computing += processor().saturating_sub(before);
        place += size as u64;
    }
    Ok((taken, computing))
}

fn timed<T>(name: &str, times: usize, mut work: impl FnMut(usize) -> T) {
    let mut taken: Vec<Duration> = (0..times)
        .map(|time| {
            let watch = Stopwatch::start();
            let _ = work(time);
            watch.elapsed()
        })
        .collect();
    taken.sort();
    let at = |share: usize| micros(taken[(times - 1) * share / 100], 1);
    println!(
        "{name:<48} median {:>10.0} us   99% {:>10.0} us",
        at(50),
        at(99)
    );
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let url = arguments.next().filter(|url| url != "-");
    let rows: usize = arguments
        .next()
        .map_or(Ok(1_000_000), |rows| rows.parse())?;
    let folder = std::env::temp_dir().join(format!("portcullis-cost-{}", std::process::id()));
    let open = |name: &str| -> Result<Store, Box<dyn std::error::Error>> {
        let location = match &url {
            Some(url) => Location::parse(url, Path::new("."))?,
            None => Location::in_directory(&folder.join(name)),
        };
        Ok(Store::open(&location, Mode::ReadWrite)?)
    };

    let mut random = Random(4_242);
    if url.is_none() {
        compression()?;
        for batch in [1, 16, 256, 500] {
            let count = if batch == 1 { 2_000 } else { 20_000 };
            for kind in ["alike", "unlike"] {
                let mut store = open(&format!("{kind}-{batch}"))?;
                let (taken, computing) =
                    append(&mut store, 0, count, batch, &mut |summary| match kind {
                        "alike" => alike(summary, &mut random),
                        _ => unlike(&mut random),
                    })?;
                store.prune(
                    &portcullis_store::Retention {
                        age: None,
                        size: Some(u64::MAX),
                    },
                    UNIX_EPOCH,
                )?;
                let size = |store: &mut Store| -> Result<f64, Box<dyn std::error::Error>> {
                    Ok(store.statistics()?.bytes as f64 / count as f64 * 10_000.0 / 1e6)
                };
                let before = size(&mut store)?;
                let watch = Stopwatch::start();
                let merged = store.consolidate(UNIX_EPOCH + Duration::from_millis(2 * BASE))?;
                let consolidating = watch.elapsed();
                store.prune(
                    &portcullis_store::Retention {
                        age: None,
                        size: Some(u64::MAX),
                    },
                    UNIX_EPOCH,
                )?;
                println!(
                    "{kind:<7} batches of {batch:>3}: {:>8.2} us each, computing {:>6.2}; {before:>6.2} MB per 10,000; \
                     merged {merged:>5} in {:>5.0} ms: {:>6.2} MB",
                    micros(taken, count),
                    micros(computing, count),
                    consolidating.as_secs_f64() * 1e3,
                    size(&mut store)?,
                );
            }
        }
    }

    let mut store = open("many")?;
    let mut random = Random(99);
    let (taken, computing) = append(&mut store, 0, rows, 256, &mut |summary| {
        alike(summary, &mut random)
    })?;
    println!(
        "{rows} decisions in batches of 256: {:.2} us each, computing {:.2}",
        micros(taken, rows),
        micros(computing, rows)
    );
    println!("{:?}", store.statistics()?);

    let page = |limit| Page { after: None, limit };
    let all = Filter::default;
    let user = |user: &str| Filter {
        user: Some(user.into()),
        ..all()
    };
    let denied = Filter {
        verdict: Some(Answer::Deny),
        ..all()
    };
    timed("list, 100 newest", 100, |_| store.list(&all(), &page(100)));
    timed("list, 100 refused", 100, |_| {
        store.list(&denied, &page(100))
    });
    let seldom = user("system:serviceaccount:team-77:deployer");
    timed("list, 100 of a user with 1 in 500", 20, |_| {
        store.list(&seldom, &page(100))
    });
    timed("list, of a user who never came", 5, |_| {
        store.list(&user("nobody"), &page(100))
    });
    let refused_nobody = Filter {
        verdict: Some(Answer::Deny),
        ..user("nobody")
    };
    timed("list, refused, of a user who never came", 5, |_| {
        store.list(&refused_nobody, &page(100))
    });
    let policy = Filter {
        policy: Some("policy-7".into()),
        ..all()
    };
    timed("list, 100 of a policy with 1 in 400", 20, |_| {
        store.list(&policy, &page(100))
    });
    let listed = store.list(&all(), &page(10_000))?.items;
    timed("get, among the newest 10,000", 500, |time| {
        store.get(&listed[time * 19 % listed.len()].id)
    });
    let middle = Some(UNIX_EPOCH + Duration::from_millis(BASE + rows as u64 / 20));
    timed("list, 100 before the middle", 100, |_| {
        store.list(
            &Filter {
                until: middle,
                ..all()
            },
            &page(100),
        )
    });
    timed("count, all", 5, |_| store.count(&all()));
    timed("count, refused", 5, |_| store.count(&denied));
    timed("statistics", 5, |_| store.statistics());
    timed("newest", 100, |_| store.newest());

    let mut lines = 0_usize;
    let watch = Stopwatch::start();
    store.scan(&all(), &mut |batch| {
        lines += batch.len();
        if lines < 200_000 {
            ControlFlow::Continue(())
        } else {
            ControlFlow::Break(())
        }
    })?;
    println!("scan: {:.2} us each", micros(watch.elapsed(), lines));

    let watch = Stopwatch::start();
    let age = Some(Duration::from_millis(rows as u64 / 20));
    let now = UNIX_EPOCH + Duration::from_millis(BASE + rows as u64 / 10);
    let pruned = store.prune(&portcullis_store::Retention { age, size: None }, now)?;
    println!(
        "prune: {} decisions, {:.2} us each",
        pruned.decisions,
        micros(watch.elapsed(), pruned.decisions.max(1) as usize)
    );
    println!("{:?}", store.statistics()?);
    if url.is_none() {
        std::fs::remove_dir_all(folder)?;
    }
    Ok(())
}
