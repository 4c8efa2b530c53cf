//! The crate `gitlab-runner`, which others wrote for runners of their own: strict about what it reads.

use std::borrow::Cow;
use std::io::Read as _;
use std::sync::OnceLock;

use gitlab_runner::job::Job;
use gitlab_runner::{
    GitlabLayer, JobHandler, JobResult, Phase, Runner, RunnerBuilder, UploadableFile, outputln,
};
use serde_json::json;
use tracing_subscriber::Registry;
use tracing_subscriber::layer::SubscriberExt as _;
use url::Url;

use crate::server::Server;

/// A file that a job leaves.
struct Left(&'static str);

#[async_trait::async_trait]
impl UploadableFile for Left {
    type Data<'a> = &'a [u8];

    fn get_path(&self) -> Cow<'_, str> {
        "out/result.txt".into()
    }

    async fn get_data(&self) -> Result<&[u8], ()> {
        Ok(self.0.as_bytes())
    }
}

/// Does what the script says, in its own words.
struct Handler {
    job: Job,
}

#[async_trait::async_trait]
impl JobHandler<Left> for Handler {
    async fn step(&mut self, script: &[String], phase: Phase) -> JobResult {
        for line in script {
            outputln!("{phase:?}: {line}");
            match line.as_str() {
                "fail" => return Err(()),
                "wait" => loop {
                    outputln!("waiting");
                    tokio::time::sleep(std::time::Duration::from_millis(100)).await;
                },
                "show" => {
                    let variable = self.job.variable("GREETING").expect("the variable");
                    let token = self.job.variable("CI_JOB_TOKEN").expect("the token");
                    assert!(token.masked() && !token.public());
                    outputln!("greeting={} public={}", variable.value(), variable.public());
                }
                "read" => {
                    for dependency in self.job.dependencies() {
                        let name = dependency.name().to_owned();
                        let mut archive = dependency.download().await.unwrap().expect("an archive");
                        let mut text = String::new();
                        let mut file = archive.file("out/result.txt").expect("the file");
                        file.read_to_string(&mut text).unwrap();
                        outputln!("{name} left {text}");
                    }
                }
                _ => {}
            }
        }
        Ok(())
    }

    async fn get_uploadable_files(&mut self) -> Result<Box<dyn Iterator<Item = Left> + Send>, ()> {
        Ok(Box::new([Left("built")].into_iter()))
    }
}

/// One process has one subscriber, and all runners of it share its list of jobs. So there is one test.
async fn runner(server: &Server, token: String) -> Runner {
    static JOBS: OnceLock<()> = OnceLock::new();
    let (layer, jobs) = GitlabLayer::new();
    assert!(JOBS.set(()).is_ok(), "one runner for each process");
    tracing::subscriber::set_global_default(Registry::default().with(layer)).unwrap();
    let url = Url::parse(&server.url).unwrap();
    let builds = server.folder.path().join("builds");
    std::fs::create_dir(&builds).unwrap();
    RunnerBuilder::new(url, token, builds, jobs).build().await
}

/// Takes one job, and runs it to its end.
async fn run_one(runner: &mut Runner) {
    let is_given = runner
        .request_job(|job| async move { Ok(Handler { job }) })
        .await;
    assert!(is_given.unwrap(), "there is a job");
    runner.drain().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn jobs_run_to_success_and_failure_with_traces_and_artifacts_and_are_canceled() {
    let server = Server::start();
    let token = server.runner(&["linux"]);
    let mut runner = runner(&server, token).await;
    let nothing = runner
        .request_job(|job| async move { Ok(Handler { job }) })
        .await;
    assert!(!nothing.unwrap());

    let good = server.submit(&json!({"tags": ["linux"], "script": ["show"], "before_script": ["first"],
        "after_script": ["last"], "variables": {"GREETING": {"value": "hello", "protected": true}}}));
    run_one(&mut runner).await;
    let done = server.when(good, "success");
    assert_eq!(done["runner_id"], 1);
    let trace = server.trace(good);
    for line in [
        "Script: first",
        "Script: show",
        "greeting=hello public=false",
        "AfterScript: last",
    ] {
        assert!(trace.contains(line), "{line} in {trace}");
    }

    let bad = server.submit(&json!({"tags": ["linux"], "script": ["fail"]}));
    run_one(&mut runner).await;
    assert_eq!(
        server.when(bad, "failed")["failure_reason"],
        "script_failure"
    );
    assert!(server.trace(bad).contains("Script: fail"));

    let pipeline = server.post("/api/v1/pipelines", &json!({
        "project": "shop/web", "ref": "main", "source": "push", "user": {"id": 1, "username": "alice"},
        "stages": ["build", "test"],
        "jobs": [
            {"name": "make", "stage": "build", "tags": ["linux"], "script": ["x"], "artifacts": {"paths": ["out/"]}},
            {"name": "check", "stage": "test", "tags": ["linux"], "script": ["read"]},
        ],
    }));
    run_one(&mut runner).await;
    let jobs = pipeline["jobs"].as_array().unwrap();
    let (make, check) = (
        jobs[0]["id"].as_u64().unwrap(),
        jobs[1]["id"].as_u64().unwrap(),
    );
    server.when(make, "success");
    server.when(check, "pending");
    run_one(&mut runner).await;
    server.when(check, "success");
    assert!(
        server.trace(check).contains("make left built"),
        "{}",
        server.trace(check)
    );

    let endless = server.submit(&json!({"tags": ["linux"], "script": ["wait"]}));
    let given = runner
        .request_job(|job| async move { Ok(Handler { job }) })
        .await;
    assert!(given.unwrap());
    let waits = || server.trace(endless).contains("waiting").then_some(());
    tokio::task::block_in_place(|| crate::server::until("output", waits));
    server.post(&format!("/api/v1/jobs/{endless}/cancel"), &json!({}));
    // The runner is told with the next piece of the trace, and stops.
    runner.drain().await;
    assert_eq!(server.job(endless)["status"], "canceled");
}
