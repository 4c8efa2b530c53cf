//! Decisions of a busy server.

use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use portcullis_core::{Door, clock};
use portcullis_record::{Answer, Summary};
use portcullis_store::{Entry, Location, Mode, Store};
use serde_json::json;
use ulid::Ulid;

use crate::failure::{Context, Result};
use crate::graph::Random;

/// Decisions that are stored together.
const BATCH: u32 = 1000;

const KINDS: [&str; 8] = [
    "Pod",
    "Pod",
    "Pod",
    "Deployment",
    "Service",
    "ConfigMap",
    "Secret",
    "Job",
];
const NAMESPACES: [&str; 6] = [
    "default",
    "shop",
    "pay",
    "data",
    "kube-system",
    "monitoring",
];
const POLICIES: [&str; 5] = [
    "pinned-images",
    "team-label",
    "spare-replica",
    "internal-services",
    "no-host-path",
];

/// One in so many has a rare name.
const RARE: u32 = 20_000;

/// Stores so many decisions, made over so many hours until now.
pub(super) fn store(dir: &Path, count: u32, hours: u32) -> Result<()> {
    portcullis_files::prepare_directory(dir).context(dir.display())?;
    let mut store =
        Store::open(&Location::in_directory(dir), Mode::ReadWrite).context("the store")?;
    let end = clock::wall()
        .duration_since(UNIX_EPOCH)
        .context("the clock")?;
    let span = Duration::from_secs(3600) * hours;
    let start = end.saturating_sub(span);
    let mut random = Random::new(1);
    for first in (0..count).step_by(BATCH as usize) {
        let these = first..count.min(first.saturating_add(BATCH));
        let summaries = these.map(|number| {
            let since = span.as_millis() * u128::from(number) / u128::from(count);
            let since = Duration::from_millis(u64::try_from(since).unwrap_or(u64::MAX));
            summary(number, start + since, &mut random)
        });
        let summaries: Vec<Summary> = summaries.collect();
        let lines: Vec<String> = summaries.iter().map(line).collect::<Result<_>>()?;
        let both = summaries.iter().zip(&lines);
        let entries: Vec<Entry<'_>> = both
            .map(|(summary, line)| Entry { summary, line })
            .collect();
        store.append(&entries).context("the store")?;
    }
    Ok(())
}

fn summary(number: u32, at: Duration, random: &mut Random) -> Summary {
    let is_rare = number % RARE == RARE / 2;
    let door = match random.below(50) {
        0 => Door::Api,
        1 | 2 => Door::Ci,
        3 | 4 => Door::Authorization,
        _ => Door::Kubernetes,
    };
    let denied = random.below(8) == 0;
    let policy = POLICIES.get(random.below(POLICIES.len())).copied();
    let policy = if is_rare { Some("rarely") } else { policy };
    let policy = policy.filter(|_| denied || is_rare).map(str::to_owned);
    let kind = KINDS
        .get(random.below(KINDS.len()))
        .copied()
        .unwrap_or("Pod");
    let namespace = NAMESPACES.get(random.below(NAMESPACES.len())).copied();
    let random_part = u128::from(random.next()) << 16;
    let milliseconds = u64::try_from(at.as_millis()).unwrap_or(u64::MAX);
    let id = Ulid::from_parts(milliseconds, random_part & ((1 << 80) - 1)).to_string();
    let time: SystemTime = UNIX_EPOCH + at;
    Summary {
        id,
        time: portcullis_jobs::Timestamp::from(time).to_string(),
        door,
        operation: ["CREATE", "UPDATE", "DELETE"]
            .get(random.below(3))
            .copied()
            .unwrap_or("CREATE")
            .to_owned(),
        kind: if is_rare { "Lease" } else { kind }.to_owned(),
        namespace: namespace.unwrap_or_default().to_owned(),
        name: format!("web-{:06x}", random.next() & 0xff_ffff),
        user: match is_rare {
            true => "rare".to_owned(),
            false => format!("user-{}", random.below(200)),
        },
        verdict: if denied { Answer::Deny } else { Answer::Allow },
        mutated: !denied && random.below(4) == 0,
        message: match (&policy, denied) {
            (Some(policy), true) => format!("{policy}: not allowed here"),
            _ => String::new(),
        },
        plugin: policy.is_some().then(|| "Policies".to_owned()),
        concerned: policy
            .iter()
            .map(|name| format!("Policies/{name}"))
            .collect(),
        policy,
        digest: None,
        gate: Some("sha256:5c5c".to_owned()),
        duration_us: 80
            + u64::try_from(random.below(400)).unwrap_or_default()
                * (1 + u64::from(number.is_multiple_of(97)) * 20),
        warnings: Vec::new(),
        traceparent: None,
    }
}

/// All of a decision: what lists show, a step of the trace, and what was asked.
fn line(summary: &Summary) -> Result<String> {
    let mut whole = serde_json::to_value(summary).context("a decision")?;
    let object = whole.as_object_mut().context("a decision is an object")?;
    let outcome = if summary.verdict == Answer::Deny {
        "denied"
    } else {
        "passed"
    };
    let step = json!({"plugin": "Policies", "phase": "validate", "outcome": outcome, "duration_us": summary.duration_us});
    object.insert("patch".to_owned(), json!([]));
    object.insert("trace".to_owned(), json!([step]));
    let asked = json!({"review": {
        "apiVersion": "admission.k8s.io/v1",
        "kind": "AdmissionReview",
        "request": {
            "uid": summary.id,
            "operation": summary.operation,
            "name": summary.name,
            "namespace": summary.namespace,
            "userInfo": {"username": summary.user},
            "object": {
                "kind": summary.kind,
                "metadata": {"name": summary.name, "namespace": summary.namespace, "labels": {"app": "web"}},
                "spec": {"containers": [{"name": "app", "image": "registry.example/shop/web:1.4.2"}]},
            },
        },
    }});
    object.insert("input".to_owned(), asked);
    Ok(whole.to_string())
}
