//! One decision: the verdict and its sentence first, then what was considered, changed and asked.

mod story;

use serde::Deserialize;
use serde_json::Value;

use super::decisions::Summary;
use crate::backend::{Pending, Problem};
use crate::diff::{Change, Operation, changes_of};
use crate::frame::Frame;
use crate::query::{Query, segment};
use crate::reply::{Reply, page};
use crate::request::Request;
use crate::route::Route;
use crate::script::Script;
use crate::shown::{pretty, safe_link};

pub(super) const ROUTES: &[Route] = &[Route::page("/decisions/*", show)];

/// The whole record.
#[derive(Debug, Deserialize)]
struct Record {
    #[serde(flatten)]
    summary: Summary,
    #[serde(default)]
    patch: Vec<Operation>,
    #[serde(default)]
    trace: Vec<Step>,
    #[serde(default)]
    input: Value,
}

/// One that was asked.
#[derive(Debug, Deserialize)]
struct Step {
    plugin: String,
    #[serde(default)]
    phase: String,
    outcome: String,
    #[serde(default)]
    detail: String,
    #[serde(default)]
    duration_us: u64,
    #[serde(default)]
    policies: Vec<PolicyStep>,
    #[serde(default)]
    host_calls: Vec<HostCall>,
}

#[derive(Debug, Deserialize)]
struct PolicyStep {
    name: String,
    #[serde(default)]
    mode: String,
    outcome: String,
    #[serde(default)]
    changed: bool,
    #[serde(default)]
    message: String,
    #[serde(default)]
    source: Option<String>,
    #[serde(default)]
    line: Option<u64>,
    #[serde(default)]
    limit: Option<String>,
    severity: Option<String>,
    link: Option<String>,
    #[serde(default)]
    duration_us: Option<u64>,
}

impl PolicyStep {
    /// Only pages of the web: a link could be a script.
    fn safe_link(&self) -> Option<&str> {
        safe_link(self.link.as_deref())
    }

    /// What it said, and that it changed the object.
    fn said(&self) -> String {
        match (self.changed, self.outcome.as_str()) {
            (false, outcome) => outcome.to_owned(),
            (true, "pass") => "changed".to_owned(),
            (true, outcome) => format!("{outcome}, changed"),
        }
    }
}

/// What a policy or plug-in asked another server.
#[derive(Debug, Deserialize)]
struct HostCall {
    policy: String,
    function: String,
    #[serde(default)]
    arguments: Vec<Value>,
    #[serde(default)]
    result: Value,
    error: Option<String>,
    #[serde(default)]
    duration_us: u64,
}

/// The most characters of an argument or an answer.
const LONGEST: usize = 300;

impl HostCall {
    fn call(&self) -> String {
        let arguments = self.arguments.iter().map(short).collect::<Vec<_>>();
        format!("{}({})", self.function, arguments.join(", "))
    }

    fn answer(&self) -> String {
        short(&self.result)
    }
}

fn short(value: &Value) -> String {
    let text = value.to_string();
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}...", text.get(..end).unwrap_or_default()),
        None => text,
    }
}

#[derive(Debug, askama::Template)]
#[template(path = "decision.html")]
struct DecisionPage {
    frame: Frame,
    one: Summary,
    sentence: String,
    near: Vec<String>,
    same_user: String,
    policy: Option<(String, String)>,
    changes: Vec<Change>,
    steps: Vec<Step>,
    input: String,
    /// Where it is decided again; nothing where that makes no sense.
    replay: Option<String>,
    test: TestCase,
}

/// The decision as a test case.
#[derive(Debug)]
enum TestCase {
    /// Its text.
    Text(String),
    /// Why there is none.
    Impossible(String),
    /// It is not about policies.
    None,
}

fn show(request: Request<'_>) -> Pending<'_, Result<Reply, Problem>> {
    Box::pin(async move {
        let path = format!("/api/v1/decisions/{}", segment(request.value(0)));
        let record: Record = request.backend.get(&path).await?;
        let one = record.summary;
        let word = match one.verdict.as_str() {
            "deny" => "Denied",
            _ => "Allowed",
        };
        let title = format!("{word}: {} {} {}", one.operation, one.kind, one.place());
        let same_user = Query::default().with("user", &one.user).of("/decisions");
        // Only policies have a page of their own; the API names a role here.
        let policy = one.policy.clone().filter(|_| one.door != "api");
        let policy = policy.map(|name| (format!("/policies/{}", segment(&name)), name));
        let is_judged = matches!(one.door.as_str(), "kubernetes" | "ci");
        let test = match is_judged {
            true => test_case(&request, &path).await?,
            false => TestCase::None,
        };
        // An object that was too large to keep has no values from before.
        let object = record.input.pointer("/review/request/object");
        let object = object.unwrap_or(&Value::Null);
        let sentence = story::sentence(&one, &record.trace);
        let near = story::near_misses(&one, &record.trace);
        let replay = format!("/decisions/{}/replay", segment(&one.id));
        page(&DecisionPage {
            frame: request.frame(title.trim()).with_script(Script::Copy),
            sentence,
            near,
            same_user,
            policy,
            changes: changes_of(object, record.patch),
            steps: record.trace,
            input: pretty(&record.input),
            replay: (one.door != "api").then_some(replay),
            test,
            one,
        })
    })
}

/// The test case, or why there is none.
async fn test_case(request: &Request<'_>, path: &str) -> Result<TestCase, Problem> {
    let path = format!("{path}/test");
    let text = request.backend.get::<String>(&path).await;
    match text {
        Ok(text) => Ok(TestCase::Text(text)),
        Err(problem) if problem.status == 409 => Ok(TestCase::Impossible(problem.message)),
        // It was deleted meanwhile.
        Err(problem) if problem.status == 404 => Ok(TestCase::None),
        Err(problem) => Err(problem),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use crate::testing::Fake;

    fn record(door: &str) -> Value {
        json!({"id": "01K", "time": "2026-11-18T12:30:05Z", "door": door, "operation": "CREATE", "kind": "Pod",
            "namespace": "shop", "name": "web", "user": "eve", "verdict": "deny", "mutated": false, "message": "no",
            "plugin": "Policies", "policy": "pin", "digest": null, "duration_us": 5, "warnings": [],
            "patch": [], "trace": [], "input": {}})
    }

    #[test]
    fn it_leads_to_the_replay_and_shows_the_test_case() {
        let fake = Fake::new()
            .with("/api/v1/decisions/01K", record("kubernetes"))
            .with("/api/v1/decisions/01K/test", json!("tests:\n- name: <b>\n"));
        let html = fake.page_with("/decisions/01K", 200);
        assert!(html.contains("href=\"/decisions/01K/replay\""), "{html}");
        assert!(
            html.contains("<pre id=\"test-case\"") && html.contains("name: &#60;b&#62;"),
            "{html}"
        );
    }

    #[test]
    fn policies_say_how_much_it_matters_and_where_more_is_said() {
        let mut record = record("api");
        let policy = |link: &str| json!({"name": "pin", "outcome": "deny", "severity": "high", "link": link});
        let policies = [
            policy("https://example.org/pin"),
            policy("javascript:alert(1)"),
        ];
        record["trace"] =
            json!([{"plugin": "Policies", "outcome": "denied", "policies": policies}]);
        let html = Fake::new()
            .with("/api/v1/decisions/01K", record)
            .page_with("/decisions/01K", 200);
        assert!(html.contains("severity high"), "{html}");
        assert!(html.contains("href=\"https://example.org/pin\""), "{html}");
        assert!(!html.contains("javascript:"), "{html}");
    }

    #[test]
    fn it_says_as_much_as_explain() {
        let mut record = record("kubernetes");
        record["verdict"] = json!("allow");
        record["mutated"] = json!(true);
        record["message"] = json!("");
        record["policy"] = json!(null);
        record["gate"] = json!("sha256:00aa");
        record["trace"] = json!([{"plugin": "Policies", "phase": "admit", "outcome": "changed", "policies": [
            {"name": "pin", "mode": "dry-run", "outcome": "deny", "message": "<no> tag", "duration_us": 403},
            {"name": "team-label", "mode": "enforce", "outcome": "pass", "changed": true},
        ], "host_calls": [{"policy": "pin", "function": "kube.get", "arguments": ["v1", "Node"], "result": {"a": 1},
            "duration_us": 1500}, {"policy": "pin", "function": "cosignVerify", "error": "no key", "duration_us": 2}]}]);
        let html = Fake::new()
            .with("/api/v1/decisions/01K", record)
            .with("/api/v1/decisions/01K/test", json!("tests: []"))
            .page_with("/decisions/01K", 200);
        for part in [
            "Allowed, changed by team-label.",
            "</a> (enforce): changed",
            "Policy pin, in mode dry-run, would have denied it: &#60;no&#62; tag",
            "403 µs",
            "kube.get(&#34;v1&#34;, &#34;Node&#34;)",
            "{&#34;a&#34;:1}",
            "1.5 ms",
            "failed: no key",
            "sha256:00aa",
        ] {
            assert!(html.contains(part), "{part}: {html}");
        }
    }

    #[test]
    fn what_nothing_denied_says_so() {
        let allowed = |trace: Value| {
            let mut record = record("kubernetes");
            record["verdict"] = json!("allow");
            record["message"] = json!("");
            record["policy"] = json!(null);
            record["trace"] = trace;
            Fake::new()
                .with("/api/v1/decisions/01K", record)
                .with("/api/v1/decisions/01K/test", json!("tests: []"))
                .page_with("/decisions/01K", 200)
        };
        let policies = json!([{"name": "pin", "mode": "enforce", "outcome": "pass"}]);
        let html =
            allowed(json!([{"plugin": "Policies", "outcome": "passed", "policies": policies}]));
        assert!(html.contains("Allowed: no policy denied it."), "{html}");
        assert!(
            !html.contains("Near misses") && !html.contains("Host calls"),
            "{html}"
        );
        assert!(allowed(json!([])).contains("Allowed: nothing denied it."));
    }

    #[test]
    fn it_says_why_there_is_no_test_case() {
        let fake = Fake::new()
            .with("/api/v1/decisions/01K", record("ci"))
            .failing("/api/v1/decisions/01K/test", 409, "a controller decided");
        let html = fake.page_with("/decisions/01K", 200);
        assert!(html.contains("a controller decided"), "{html}");
        let fake = Fake::new().with("/api/v1/decisions/01K", record("api"));
        let html = fake.page_with("/decisions/01K", 200);
        assert!(
            !html.contains("replay") && !html.contains("test-case"),
            "{html}"
        );
    }
}
