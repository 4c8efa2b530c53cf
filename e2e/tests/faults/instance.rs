//! A server that can be killed and started again.

use std::path::{Path, PathBuf};
use std::process::Command;

use portcullis_e2e::{Portcullis, Process, until};
use portcullis_testing::{api_files, free_port};
use serde_json::{Value, json};

use crate::client::Client;
use crate::scene::PATIENCE;

/// What a server is started with.
#[derive(Debug, Clone)]
pub(crate) struct Settings {
    /// The address of the store; by default an SQLite file in its data directory.
    pub(crate) store: Option<String>,
    /// The host and port of webhooks.
    pub(crate) webhooks: String,
}

/// A server, or the place where one was and can be again.
#[derive(Debug)]
pub(crate) struct Instance {
    directory: PathBuf,
    port: u16,
    process: Option<Process>,
}

impl Instance {
    /// Prepares one, with its files.
    pub(crate) fn prepare(directory: &Path) -> Self {
        std::fs::create_dir_all(directory).unwrap();
        Self {
            directory: directory.to_owned(),
            port: free_port(),
            process: None,
        }
    }

    /// Writes its configuration. An admission may take until the deadline.
    pub(crate) fn configure(&self, settings: &Settings, deadline: &str) {
        let address = format!("127.0.0.1:{}", self.port);
        let (mut config, files) = api_files(&address, None);
        config["listeners"] = json!([
            {"name": "all", "tcp": address, "serves": ["ci", "api", "health"]},
        ]);
        config["ci"] = json!({
            "deadline": deadline,
            "webhooks": {"allow": [settings.webhooks]},
        });
        if let Some(url) = &settings.store {
            config["store"] = json!({"url": url});
        }
        for (name, text) in files {
            self.write(&name, &text);
        }
        self.write("portcullis.yaml", &config.to_string());
    }

    fn write(&self, name: &str, text: &str) {
        use std::os::unix::fs::PermissionsExt;
        let path = self.directory.join(name);
        std::fs::write(&path, text).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).unwrap();
    }

    /// Its port.
    pub(crate) fn port(&self) -> u16 {
        self.port
    }

    /// Starts it, and waits until it is ready.
    pub(crate) fn start(&mut self) {
        let program = Portcullis::program().unwrap();
        let mut command = Command::new(program);
        command.current_dir(&self.directory);
        command.args(["serve", "--config", "portcullis.yaml", "--data-dir", "data"]);
        let log = self.directory.join("portcullis.log");
        let mut process = Process::start("portcullis", &mut command, &log);
        let mut client = Client::new(self.port);
        until("the server is ready", PATIENCE, || {
            process.must_run();
            let answer = client.call("GET", "/readyz", &Value::Null);
            answer.is_ok_and(|answer| answer.status == 200)
        });
        self.process = Some(process);
    }

    /// Kills it, as a machine that goes away would.
    pub(crate) fn kill(&mut self) {
        self.process.take().expect("the server is running").kill();
    }

    /// Fails if it has ended by itself.
    pub(crate) fn must_run(&mut self) {
        if let Some(process) = &mut self.process {
            process.must_run();
        }
    }
}
