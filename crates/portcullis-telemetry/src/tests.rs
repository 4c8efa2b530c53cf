//! What is sent, seen by a receiver that answers as a test says.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use portcullis_core::{
    Attributes, Decision, DecisionId, Denial, Door, DoorContext, HostCallStep, HostFunction,
    Operation, Phase, PolicyLimit, PolicyMode, PolicyOutcome, PolicyStep, Step, StepOutcome,
    TraceContext, UserInfo, Verdict, clock,
};
use portcullis_testing::{PATIENCE, Reply, Request, Server, free_port};
use tokio::sync::mpsc;

use crate::settings::Settings;
use crate::wire::{Value, fields};
use crate::{Telemetry, Unstarted};

fn ok() -> Reply {
    Reply::Body(String::new())
}

/// A receiver on loopback: what came, and where.
struct Receiver {
    url: String,
    came: mpsc::Receiver<Request>,
    _server: Server,
}

impl Receiver {
    /// Answers with these, one after the other, and then well.
    fn start(answers: Vec<Reply>) -> Self {
        let (send, came) = mpsc::channel(64);
        let answers = Mutex::new(VecDeque::from(answers));
        let server = Server::http(move |request| {
            let answer = answers.lock().unwrap().pop_front();
            send.try_send(request.clone()).unwrap();
            answer.unwrap_or_else(ok)
        });
        Self {
            url: server.url(),
            came,
            _server: server,
        }
    }

    async fn next(&mut self) -> Request {
        let next = tokio::time::timeout(PATIENCE, self.came.recv());
        next.await.unwrap().unwrap()
    }
}

fn telemetry(url: &str, more: &[(&str, &str)]) -> (Telemetry, Unstarted) {
    let usual = [
        ("OTEL_EXPORTER_OTLP_LOGS_ENDPOINT", url),
        ("OTEL_BLRP_SCHEDULE_DELAY", "0"),
        ("OTEL_EXPORTER_OTLP_HEADERS", "x-key=s3cret"),
    ];
    let find = |name: &str| {
        let mut all = usual.iter().chain(more);
        all.rfind(|(known, _)| *known == name)
    };
    let settings = Settings::read(|name| find(name).map(|(_, value)| (*value).to_owned()));
    Telemetry::new(settings.unwrap().unwrap())
}

fn attributes(context: DoorContext) -> Attributes {
    Attributes {
        door: Door::Kubernetes,
        uid: "u".into(),
        operation: Operation::Create,
        kind: Default::default(),
        resource: Default::default(),
        subresource: String::new(),
        name: String::new(),
        namespace: String::new(),
        user: UserInfo::default(),
        object: None,
        old_object: None,
        options: None,
        dry_run: false,
        received: clock::monotonic(),
        deadline: None,
        context: Arc::new(context),
    }
}

fn verdict(decision: Decision) -> Verdict {
    Verdict {
        id: DecisionId::new(clock::wall()),
        decision,
        plugin: None,
        policy: None,
        warnings: Vec::new(),
        annotations: Default::default(),
        patch: Vec::new(),
        trace: Vec::new(),
        duration: Duration::ZERO,
    }
}

fn decide(telemetry: &Telemetry) {
    let attributes = attributes(DoorContext::default());
    telemetry.admission(&attributes, &verdict(Decision::Allow), 200);
}

fn lost(telemetry: &Telemetry) -> u64 {
    telemetry.dropped().map(|(_, count)| count).sum()
}

#[tokio::test]
async fn what_passes_is_tried_again_and_what_lasts_is_not() {
    let at_once = "Retry-After: 0\r\n";
    let mut receiver = Receiver::start(vec![
        Reply::Status(503, at_once, "later".to_owned()),
        Reply::Status(429, at_once, String::new()),
        ok(),
        Reply::Status(400, "", "no".to_owned()),
    ]);
    let url = format!("{}/v1/logs", receiver.url);
    let (telemetry, unstarted) = telemetry(&url, &[]);
    let running = unstarted.start();
    decide(&telemetry);
    let Request { head, body } = receiver.next().await;
    assert!(head.starts_with("POST /v1/logs HTTP/1.1\r\n"), "{head}");
    assert!(head.contains("content-type: application/x-protobuf\r\n"));
    assert!(head.contains("x-key: s3cret\r\n"));
    assert!(body.windows(16).any(|part| part == b"admission.review"));
    assert_eq!(receiver.next().await.body, body);
    assert_eq!(receiver.next().await.body, body);
    assert_eq!(lost(&telemetry), 0);
    decide(&telemetry);
    let refused = receiver.next().await.body;
    decide(&telemetry);
    assert_ne!(receiver.next().await.body, refused);
    assert_eq!(lost(&telemetry), 1);
    running.finish(Duration::from_secs(30)).await;
}

#[tokio::test]
async fn a_connection_that_ends_costs_nothing() {
    // The second request is read, but the connection ends without an answer.
    let mut receiver = Receiver::start(vec![ok(), Reply::Raw(Vec::new())]);
    let (telemetry, unstarted) = telemetry(&receiver.url, &[]);
    let running = unstarted.start();
    decide(&telemetry);
    receiver.next().await;
    decide(&telemetry);
    let second = receiver.next().await.body;
    assert_eq!(receiver.next().await.body, second);
    running.finish(Duration::from_secs(30)).await;
    assert_eq!(lost(&telemetry), 0);
}

#[tokio::test]
async fn what_a_receiver_refuses_of_a_batch_is_counted() {
    // A partial success: one rejected.
    let partial = "\u{a}\u{2}\u{8}\u{1}".to_owned();
    let mut receiver = Receiver::start(vec![Reply::Body(partial)]);
    let (telemetry, unstarted) = telemetry(&receiver.url, &[]);
    let running = unstarted.start();
    decide(&telemetry);
    receiver.next().await;
    running.finish(Duration::from_secs(30)).await;
    assert_eq!(lost(&telemetry), 1);
}

#[tokio::test]
async fn the_end_does_not_wait_for_somebody_who_is_not_there() {
    let url = format!("http://127.0.0.1:{}", free_port());
    let (telemetry, unstarted) = telemetry(&url, &[]);
    let running = unstarted.start();
    decide(&telemetry);
    running.finish(Duration::from_secs(3600)).await;
    assert_eq!(lost(&telemetry), 1);
}

/// A decision in which every text that a caller or policy can write is a secret.
fn full_of(secret: &str) -> (Attributes, Verdict) {
    let text = || secret.to_owned();
    let value = || serde_json::Value::String(text());
    let mut context = DoorContext {
        method: "POST".into(),
        uri: format!("/validate?x={secret}"),
        headers: vec![("authorization".into(), text())],
        ..DoorContext::default()
    };
    context.trace = TraceContext::parse(b"00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01");
    let mut attributes = attributes(context);
    attributes.uid = text();
    attributes.name = text();
    attributes.user.username = text();
    attributes.user.groups = vec![text()];
    let denial = Denial {
        reason: text().into(),
        ..Denial::forbidden(text())
    };
    let mut verdict = verdict(Decision::Deny(denial));
    verdict.warnings = vec![text()];
    verdict.annotations = [(text(), text())].into();
    let call = HostCallStep {
        policy: "P".into(),
        function: HostFunction::CosignVerify,
        arguments: vec![value()],
        result: Some(value()),
        error: Some(text()),
        started: None,
        duration: Duration::ZERO,
    };
    let policy = PolicyStep {
        name: "P".into(),
        changed: false,
        mode: PolicyMode::Enforce,
        outcome: PolicyOutcome::Error,
        message: Some(text()),
        source: Some(text()),
        line: None,
        column: None,
        limit: Some(PolicyLimit::Deadline),
        description: Some(text()),
        category: Some(text()),
        severity: None,
        link: Some(text()),
        started: None,
        duration: None,
    };
    let step = |outcome, policies, host_calls| Step {
        patch: Vec::new(),
        plugin: "Q".into(),
        phase: Phase::Admit,
        outcome,
        detail: Some(text().into()),
        failed_open: false,
        warnings: 1,
        policies,
        host_calls,
        duration: Duration::from_millis(1),
    };
    verdict.trace = vec![
        step(StepOutcome::Passed, Vec::new(), Vec::new()),
        step(StepOutcome::Timeout, vec![policy], vec![call]),
    ];
    verdict.duration = Duration::from_millis(2);
    (attributes, verdict)
}

#[tokio::test]
async fn no_text_that_somebody_wrote_is_sent() {
    let mut receiver = Receiver::start(Vec::new());
    let traces = [("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", receiver.url.as_str())];
    let (telemetry, unstarted) = telemetry(&receiver.url, &traces);
    let running = unstarted.start();
    let secret = "hunter2-planted";
    let (attributes, verdict) = full_of(secret);
    telemetry.admission(&attributes, &verdict, 200);
    running.finish(Duration::from_secs(30)).await;
    let mut sent = vec![receiver.next().await.body, receiver.next().await.body];
    for body in &sent {
        let is_secret = |part: &[u8]| part == secret.as_bytes();
        assert!(!body.windows(secret.len()).any(is_secret));
    }
    // The spans: the request, the plug-in, the policy, its call.
    sent.sort_by_key(Vec::len);
    let inside = |message: &[u8], field: u32| -> Vec<Vec<u8>> {
        let found = fields(message).filter_map(|(number, value)| match value {
            Value::Bytes(bytes) if number == field => Some(bytes.to_vec()),
            _ => None,
        });
        found.collect()
    };
    let resource = inside(&sent[1], 1).remove(0);
    let spans = inside(&inside(&resource, 2)[0], 2);
    let names: Vec<_> = spans.iter().map(|span| inside(span, 5).remove(0)).collect();
    let expected = [
        "admission.review",
        "plugin.evaluate",
        "policy.evaluate",
        "host.call",
    ];
    assert_eq!(names, expected.map(|name| name.as_bytes().to_vec()));
    // Each names its parent, and the last three have their places below the first.
    let id = |span: &[u8]| inside(span, 2).remove(0);
    let parent = |span: &[u8]| inside(span, 4).first().cloned();
    assert_eq!(parent(&spans[1]), Some(id(&spans[0])));
    assert_eq!(parent(&spans[2]), Some(id(&spans[0])));
    assert_eq!(parent(&spans[3]), Some(id(&spans[2])));
    // What failed says so.
    let failed = |span: &[u8]| inside(span, 15) == [vec![0x18, 2]];
    assert!(!failed(&spans[1]) && failed(&spans[0]) && failed(&spans[2]) && failed(&spans[3]));
}

#[test]
fn a_trace_that_nobody_exports_stays_the_callers() {
    let caller = TraceContext::parse(b"00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01");
    let (telemetry, _) = telemetry("http://127.0.0.1:1", &[]);
    assert_eq!(telemetry.begin(caller.clone()), caller);
    assert_eq!(telemetry.begin(None), None);
}
