//! A server that admits CI jobs, and the few calls that set it up.

use std::net::SocketAddr;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use serde_json::{Value, json};

use super::case::{Admission, DecisionLog};
use super::hook::Hook;
use super::requests::POLICY;
use crate::asker::request;
use crate::failure::{Context, Failure, Result};
use crate::plain;
use crate::server::{self, Server};
use crate::transport::Places;

/// More than ever wait: what is measured is not how fast submissions are rejected.
const MOST_WAITING: u32 = 1_000_000_000;
const SECRET: &str = "0123456789abcdef0123456789abcdef0123456789abcdef";

/// How a server is configured.
#[derive(Debug, Clone, Copy)]
pub(super) struct Setting<'a> {
    /// The program.
    pub(super) program: &'a Path,
    /// Its directory; the default store is in `data` there.
    pub(super) dir: &'a Path,
    /// The address of another store.
    pub(super) store: Option<&'a str>,
    pub(super) admission: Admission,
    pub(super) log: DecisionLog,
    pub(super) hook: &'a Hook,
    /// The most connections.
    pub(super) connections: usize,
}

/// The server at work.
pub(super) struct Gate {
    server: Server,
    pub(super) places: Places,
    /// The header with the token.
    pub(super) header: String,
    /// From its start until it was ready.
    pub(super) ready: Duration,
    controller: Option<u64>,
}

impl Gate {
    /// Starts it, with its controller.
    pub(super) fn start(setting: &Setting<'_>) -> Result<Self> {
        let data = setting.dir.join("data");
        std::fs::create_dir_all(&data).context(data.display())?;
        let places = Places::free(setting.dir)?;
        let file = setting.dir.join("portcullis.yaml");
        let text = configuration(setting, &places).to_string();
        std::fs::write(&file, text).context(file.display())?;
        let key = setting.dir.join("own.key");
        std::fs::write(&key, SECRET).context(key.display())?;
        let mode = std::fs::Permissions::from_mode(0o600);
        std::fs::set_permissions(&key, mode).context(key.display())?;
        let mut command = server::portcullis(setting.program, &file, &data);
        let mut server = Server::spawn(&mut command, setting.dir)?;
        let ready = server.wait_until_ready(places.tcp)?;
        let token = token(setting.program, &file)?;
        let mut gate = Self {
            server,
            places,
            header: format!("authorization: Bearer {token}\r\n"),
            ready,
            controller: None,
        };
        gate.controller = match controller(setting) {
            Some(body) => Some(gate.create_controller(&body)?),
            None => None,
        };
        Ok(gate)
    }

    /// Its process id.
    pub(super) fn pid(&self) -> u32 {
        self.server.pid()
    }

    /// Where its metrics are.
    pub(super) fn metrics(&self) -> SocketAddr {
        self.places.tcp
    }

    /// Removes its controller, and ends it with everything in its place.
    pub(super) fn stop(self) -> Result<()> {
        if let Some(id) = self.controller {
            self.call("DELETE", &format!("/api/v1/controllers/{id}"), None)?;
        }
        self.server.stop()
    }

    /// Calls the API; anything but a 2xx is a failure.
    pub(super) fn call(&self, method: &str, path: &str, body: Option<&Value>) -> Result<Value> {
        let body = body.map(Value::to_string).unwrap_or_default();
        let bytes = request(method, path, &self.header, &body);
        let answer = plain::ask(self.places.tcp, &bytes).context(path)?;
        let (status, body) = answer;
        match status {
            204 => Ok(Value::Null),
            200..=299 => serde_json::from_slice(&body).context(path),
            other => {
                let said: String = String::from_utf8_lossy(&body).chars().take(500).collect();
                Err(Failure::new(format!(
                    "{method} {path}: {other} with {said}"
                )))
            }
        }
    }

    fn create_controller(&self, body: &Value) -> Result<u64> {
        let created = self.call("POST", "/api/v1/controllers", Some(body))?;
        let id = created.get("id").and_then(Value::as_u64);
        id.context("a controller without an id")
    }
}

fn configuration(setting: &Setting<'_>, places: &Places) -> Value {
    let mut all = json!({
        "listeners": [
            {"name": "all", "tcp": places.tcp.to_string(), "serves": ["ci", "api", "health", "metrics"]},
        ],
        "limits": {
            "connections": setting.connections + 64,
            "connectionsPerAddress": setting.connections + 64,
        },
        "authenticators": [{
            "name": "own", "driver": "HS256", "issuer": "own", "audience": "portcullis", "realm": "own",
            "secretFile": "own.key", "allowAuthzOverride": true,
        }],
        "ci": {
            "deadline": "1h",
            "maxBacklog": MOST_WAITING,
            // Runners of this benchmark take jobs and say nothing more of them.
            "runners": {"lease": "1h"},
            "webhooks": {"allow": [setting.hook.address().to_string()]},
        },
    });
    if let Some(all) = all.as_object_mut() {
        all.extend(setting.log.settings());
        if let Some(url) = setting.store {
            all.insert("store".to_owned(), json!({"url": url}));
        }
        if setting.admission == Admission::Policy {
            let policy = json!({"name": "tags", "code": POLICY, "match": {"doors": ["ci"]}});
            all.insert("policies".to_owned(), json!([policy]));
            all.insert("defaultAction".to_owned(), json!("allow"));
        }
    }
    all
}

/// The controller of this kind of admission.
fn controller(setting: &Setting<'_>) -> Option<Value> {
    let how = match setting.admission {
        Admission::None | Admission::Policy => return None,
        Admission::Code => json!({"policy": {"code": POLICY}}),
        // As fast as it can: the limits that protect a controller would be what is measured.
        Admission::Webhook => json!({
            "url": format!("http://{}/admit", setting.hook.address()),
            "rate": 100_000, "concurrency": 64,
        }),
    };
    let mut body = json!({
        "name": "bench", "level": "instance", "kind": "both", "state": "enabled", "failure_policy": "closed",
    });
    if let (Some(body), Value::Object(how)) = (body.as_object_mut(), how) {
        body.extend(how);
    }
    Some(body)
}

/// A token of an admin.
fn token(program: &Path, configuration: &Path) -> Result<String> {
    let mut command = Command::new(program);
    command.args(["token", "create", "--authenticator", "own", "--subject"]);
    command.args(["alice", "--tenant", "*"]);
    command
        .args(["--expires-in", "12h", "--config"])
        .arg(configuration);
    let output = command.output().context("portcullis token create")?;
    let said = String::from_utf8_lossy(&output.stderr);
    match output.status.success() {
        true => Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned()),
        false => Err(Failure::new(format!("portcullis token create: {said}"))),
    }
}
