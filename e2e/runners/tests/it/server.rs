//! A running Portcullis.

use std::env;
use std::net::TcpListener;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use serde_json::{Value, json};
use tempfile::TempDir;

/// How often something is looked at, and how often at most.
const PAUSE: Duration = Duration::from_millis(100);
const PATIENCE: usize = 600;

/// A server on this machine, with a token that may do everything.
pub(crate) struct Server {
    pub(crate) folder: TempDir,
    pub(crate) url: String,
    token: String,
    process: Child,
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn program() -> PathBuf {
    let named = env::var_os("PORTCULLIS").map(PathBuf::from);
    named.expect("PORTCULLIS names the binary: run scripts/test-runners")
}

impl Server {
    pub(crate) fn start() -> Self {
        let folder = TempDir::new().unwrap();
        let port = TcpListener::bind("127.0.0.1:0")
            .unwrap()
            .local_addr()
            .unwrap()
            .port();
        let config = json!({
            "listeners": [{"name": "all", "tcp": format!("127.0.0.1:{port}"), "serves": ["ci", "api", "health"]}],
            "authenticators": [{"name": "own", "driver": "HS256", "issuer": "own", "audience": "portcullis",
                "realm": "own", "secretFile": "own.key", "allowAuthzOverride": true}],
            "ci": {"runners": {"longPoll": "2s"}},
        });
        let file = folder.path().join("portcullis.yaml");
        std::fs::write(&file, config.to_string()).unwrap();
        let key = folder.path().join("own.key");
        std::fs::write(&key, "a secret of this test, long enough for a key").unwrap();
        let private = std::os::unix::fs::PermissionsExt::from_mode(0o600);
        std::fs::set_permissions(&key, private).unwrap();
        let log = std::fs::File::create(folder.path().join("serve.log")).unwrap();
        let process = Command::new(program())
            .args(["serve", "--config", "portcullis.yaml", "--data-dir", "data"])
            .current_dir(folder.path())
            .stderr(log)
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        let token = Command::new(program())
            .args(["token", "create", "--subject", "admin", "--tenant", "*"])
            .current_dir(folder.path())
            .output()
            .unwrap();
        let server = Self {
            url: format!("http://127.0.0.1:{port}"),
            token: String::from_utf8(token.stdout).unwrap().trim().to_owned(),
            folder,
            process,
        };
        let ready = format!("{}/readyz", server.url);
        until("ready", || ureq::get(&ready).call().is_ok().then_some(()));
        server
    }

    pub(crate) fn post(&self, path: &str, body: &Value) -> Value {
        let bearer = format!("Bearer {}", self.token);
        let call = ureq::post(format!("{}{path}", self.url)).header("Authorization", bearer);
        let mut answer = call
            .send_json(body)
            .unwrap_or_else(|error| panic!("{path}: {error}"));
        answer.body_mut().read_json().unwrap()
    }

    fn read(&self, path: &str) -> ureq::http::Response<ureq::Body> {
        let bearer = format!("Bearer {}", self.token);
        let call = ureq::get(format!("{}{path}", self.url)).header("Authorization", bearer);
        call.call()
            .unwrap_or_else(|error| panic!("{path}: {error}"))
    }

    /// Registers an instance runner; gives its token.
    pub(crate) fn runner(&self, tags: &[&str]) -> String {
        let body = json!({"runner_type": "instance_type", "tag_list": tags, "description": "e2e"});
        let made = self.post("/api/v4/user/runners", &body);
        made["token"].as_str().unwrap().to_owned()
    }

    /// Submits a job with these keys; gives its number.
    pub(crate) fn submit(&self, keys: &Value) -> u64 {
        let mut job = json!({"project": "shop/web", "name": "build", "ref": "main", "ref_protected": true,
            "user": {"id": 1, "username": "alice"}, "script": ["true"]});
        for (key, value) in keys.as_object().unwrap() {
            job[key] = value.clone();
        }
        self.post("/api/v1/jobs", &job)["id"].as_u64().unwrap()
    }

    pub(crate) fn job(&self, id: u64) -> Value {
        let mut answer = self.read(&format!("/api/v1/jobs/{id}"));
        answer.body_mut().read_json().unwrap()
    }

    pub(crate) fn trace(&self, id: u64) -> String {
        let mut answer = self.read(&format!("/api/v1/jobs/{id}/trace"));
        answer.body_mut().read_to_string().unwrap()
    }

    /// The job once it has this status.
    pub(crate) fn when(&self, id: u64, status: &str) -> Value {
        until(&format!("job {id} is {status}"), || {
            let job = self.job(id);
            let is_finished = job["finished_at"].is_string();
            assert!(
                !is_finished || job["status"] == status,
                "not {status}: {job}"
            );
            Some(job).filter(|job| job["status"] == status)
        })
    }
}

/// Looks until there is something.
pub(crate) fn until<T>(what: &str, look: impl Fn() -> Option<T>) -> T {
    for _ in 0..PATIENCE {
        if let Some(found) = look() {
            return found;
        }
        std::thread::sleep(PAUSE);
    }
    panic!("never happened: {what}");
}
