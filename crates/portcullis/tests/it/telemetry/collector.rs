//! A running OpenTelemetry Collector, and what it received.

use std::net::{Ipv4Addr, TcpStream};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};

use crate::harness::{Folder, Pki, eventually, free_port, repository, until};

/// What the build script makes; none, with a word about it, where it is missing.
pub(super) fn program() -> Option<PathBuf> {
    let cache = std::env::var_os("PORTCULLIS_CACHE").map(PathBuf::from);
    let cache = cache.unwrap_or_else(|| repository().join(".cache"));
    let path = cache.join("tools/bin/collector");
    if path.exists() {
        return Some(path);
    }
    let word = format!("{} is missing: run scripts/build-collector", path.display());
    let needed = std::env::var_os("PORTCULLIS_REQUIRE_COLLECTOR").is_some_and(|v| v == "1");
    assert!(!needed, "{word}");
    eprintln!("SKIPPED: {word}");
    None
}

/// Where a collector is to be, before it runs.
#[derive(Debug)]
pub(super) struct Plan {
    program: PathBuf,
    folder: Folder,
    pub(super) http: u16,
    pub(super) grpc: u16,
}

/// A collector that writes what it receives into files; ended when it goes.
#[derive(Debug)]
pub(super) struct Collector {
    pub(super) plan: Plan,
    child: Child,
}

impl Plan {
    pub(super) fn new() -> Option<Self> {
        Self::at(free_port())
    }

    /// One that takes OTLP over HTTP at this port.
    pub(super) fn at(http: u16) -> Option<Self> {
        Some(Self {
            program: program()?,
            folder: Folder::new(),
            http,
            grpc: free_port(),
        })
    }

    /// Runs it, with TLS if there is a certificate for it.
    #[track_caller]
    pub(super) fn start(self, pki: Option<&Pki>) -> Collector {
        let folder = &self.folder;
        let place = |port: u16| {
            let mut place = json!({"endpoint": format!("127.0.0.1:{port}")});
            if pki.is_some() {
                let (certificate, key) = (folder.text("tls.crt"), folder.text("tls.key"));
                place["tls"] = json!({"cert_file": certificate, "key_file": key});
            }
            place
        };
        if let Some(pki) = pki {
            folder.write("tls.crt", &pki.server.certificate_pem);
            folder.write("tls.key", &pki.server.key_pem);
        }
        let file = |name: &str| json!({"path": folder.text(name), "flush_interval": "20ms"});
        let pipeline = |name: &str| json!({"receivers": ["otlp"], "exporters": [name]});
        let config = json!({
            "receivers": {"otlp": {"protocols": {
                "http": place(self.http), "grpc": place(self.grpc),
            }}},
            "exporters": {"file/traces": file("traces"), "file/logs": file("logs")},
            "service": {
                "telemetry": {"metrics": {"level": "none"}},
                "pipelines": {"traces": pipeline("file/traces"), "logs": pipeline("file/logs")},
            },
        });
        folder.write("collector.yaml", config.to_string());
        let child = Command::new(&self.program)
            .args(["--config", &folder.text("collector.yaml")])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(std::fs::File::create(folder.path("log")).unwrap())
            .spawn()
            .unwrap();
        let collector = Collector { plan: self, child };
        for port in [collector.plan.http, collector.plan.grpc] {
            until("the collector listens", || {
                TcpStream::connect((Ipv4Addr::LOCALHOST, port)).is_ok()
            });
        }
        collector
    }
}

impl Collector {
    pub(super) fn start() -> Option<Self> {
        Some(Plan::new()?.start(None))
    }

    /// Where it takes OTLP over HTTP.
    pub(super) fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.plan.http)
    }

    /// Everything it received, as it wrote it down.
    pub(super) fn text(&self) -> String {
        let read = |name| std::fs::read_to_string(self.plan.folder.path(name));
        let (traces, logs) = (read("traces"), read("logs"));
        traces.unwrap_or_default() + &logs.unwrap_or_default()
    }

    fn items(&self, file: &str, of: [&str; 3]) -> Vec<Item> {
        let text = std::fs::read_to_string(self.plan.folder.path(file));
        let text = text.unwrap_or_default();
        // The last line may still be in the making.
        let lines = text.split_inclusive('\n').filter(|l| l.ends_with('\n'));
        let list = |value: &Value, key: &str| value[key].as_array().cloned().unwrap_or_default();
        let mut found = Vec::new();
        for line in lines {
            let line: Value = serde_json::from_str(line).unwrap();
            for resource in list(&line, of[0]) {
                for scope in list(&resource, of[1]) {
                    for item in list(&scope, of[2]) {
                        let resource = resource["resource"].clone();
                        found.push(Item { resource, item });
                    }
                }
            }
        }
        found
    }

    pub(super) fn spans(&self) -> Vec<Item> {
        self.items("traces", ["resourceSpans", "scopeSpans", "spans"])
    }

    pub(super) fn logs(&self) -> Vec<Item> {
        self.items("logs", ["resourceLogs", "scopeLogs", "logRecords"])
    }

    /// The span of this decision, once it is there.
    #[track_caller]
    pub(super) fn span_of(&self, decision: &str) -> Item {
        let is_it = |item: &Item| item.attribute("portcullis.decision.id") == decision;
        eventually("a span arrives", || self.spans().into_iter().find(is_it))
    }

    /// The log record of this decision, once it is there.
    #[track_caller]
    pub(super) fn log_of(&self, decision: &str) -> Item {
        let is_it = |item: &Item| item.attribute("portcullis.decision.id") == decision;
        eventually("a record arrives", || self.logs().into_iter().find(is_it))
    }

    /// The spans below this one.
    pub(super) fn children(&self, parent: &Item) -> Vec<Item> {
        let (trace, span) = (&parent.item["traceId"], &parent.item["spanId"]);
        let is_child = |i: &Item| i.item["traceId"] == *trace && i.item["parentSpanId"] == *span;
        self.spans().into_iter().filter(is_child).collect()
    }
}

impl Drop for Collector {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        if std::thread::panicking() {
            let log = std::fs::read_to_string(self.plan.folder.path("log"));
            eprintln!(
                "--- the collector's log ---\n{}---",
                log.unwrap_or_default()
            );
            eprintln!("--- what it received ---\n{}---", self.text());
        }
    }
}

/// A span or a log record, and who sent it.
#[derive(Debug, Clone)]
pub(super) struct Item {
    resource: Value,
    pub(super) item: Value,
}

fn value_of(attributes: &Value, key: &str) -> Value {
    let list = attributes.as_array().map_or(&[][..], Vec::as_slice);
    let found = list.iter().find(|pair| pair["key"] == key);
    let value = found.and_then(|pair| pair["value"].as_object()?.values().next().cloned());
    value.unwrap_or_default()
}

impl Item {
    pub(super) fn attribute(&self, key: &str) -> Value {
        value_of(&self.item["attributes"], key)
    }

    pub(super) fn resource(&self, key: &str) -> Value {
        value_of(&self.resource["attributes"], key)
    }

    pub(super) fn name(&self) -> &str {
        self.item["name"].as_str().unwrap()
    }

    /// Start and end, in nanoseconds since 1970.
    pub(super) fn times(&self) -> (u128, u128) {
        let time = |key: &str| self.item[key].as_str().unwrap().parse().unwrap();
        (time("startTimeUnixNano"), time("endTimeUnixNano"))
    }
}
