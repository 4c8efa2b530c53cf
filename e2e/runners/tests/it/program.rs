//! GitLab's own runner, with its shell executor, where the environment variable `GITLAB_RUNNER` names it.

use std::env;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use serde_json::json;

use crate::server::{Server, until};

/// The program, while it runs.
struct Program(Child);

impl Drop for Program {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn start(program: &PathBuf, server: &Server, token: &str) -> Program {
    let config = format!(
        "concurrent = 1\ncheck_interval = 1\n\n[[runners]]\n  name = \"e2e\"\n  url = \"{}\"\n  token = \"{token}\"\n  \
         executor = \"shell\"\n  shell = \"bash\"\n",
        server.url
    );
    let file = server.folder.path().join("config.toml");
    std::fs::write(&file, config).unwrap();
    let log = std::fs::File::create(server.folder.path().join("runner.log")).unwrap();
    let child = Command::new(program)
        .args(["run", "--config"])
        .arg(&file)
        .arg("--working-directory")
        .arg(server.folder.path())
        .stderr(log)
        .stdout(Stdio::null())
        .spawn();
    Program(child.unwrap())
}

#[test]
fn the_program_runs_jobs_uploads_artifacts_and_stops_when_canceled() {
    let Some(program) = env::var_os("GITLAB_RUNNER").map(PathBuf::from) else {
        eprintln!("skipped: GITLAB_RUNNER does not name a gitlab-runner program");
        return;
    };
    let server = Server::start();
    let token = server.runner(&["shell"]);
    let _running = start(&program, &server, &token);
    let job = |keys: serde_json::Value| {
        let mut all = json!({"tags": ["shell"], "variables": {"GIT_STRATEGY": "none"}});
        all.as_object_mut()
            .unwrap()
            .extend(keys.as_object().unwrap().clone());
        server.submit(&all)
    };
    let good = job(json!({"script": ["echo one $((1 + 1))", "echo $CI_PROJECT_PATH"]}));
    server.when(good, "success");
    let trace = server.trace(good);
    assert!(
        trace.contains("one 2") && trace.contains("shop/web"),
        "{trace}"
    );

    let bad = job(json!({"script": ["echo before; exit 7"], "allow_failure": {"exit_codes": [7]}}));
    let failed = server.when(bad, "failed");
    assert_eq!(failed["failure_reason"], "script_failure");

    let left = job(
        json!({"script": ["mkdir -p out; echo left > out/file"], "artifacts": {"paths": ["out/"]}}),
    );
    server.when(left, "success");
    assert!(server.trace(left).contains("201"), "{}", server.trace(left));

    let endless = job(json!({"script": ["echo begun; sleep 600"]}));
    until("it has begun", || {
        server.trace(endless).contains("begun").then_some(())
    });
    server.post(&format!("/api/v1/jobs/{endless}/cancel"), &json!({}));
    // The next job begins only once the runner has stopped this one.
    let next = job(json!({"script": ["echo next"]}));
    server.when(next, "success");
    assert_eq!(server.job(endless)["status"], "canceled");
}
