//! A running `portcullis serve` with an acjs file, listening on a unix socket.

use std::fs::File;
use std::ops::Deref;
use std::path::PathBuf;
use std::process::Child;

use serde_json::{Value, json};

use super::{Answer, Client, Connection, Folder, Review, Verdict, acjs, program, request, until};

const SOCKET: &str = "acjs.sock";

/// What such a server is started with.
#[derive(Debug)]
pub(crate) struct AcjsSetup {
    folder: Folder,
    file: &'static str,
    path: Option<String>,
}

/// Such a server in a folder of its own, killed when it goes.
#[derive(Debug)]
pub(crate) struct Acjs {
    pub(crate) folder: Folder,
    client: Client,
    child: Child,
}

impl AcjsSetup {
    /// The listener on a socket is added unless there is one.
    pub(crate) fn new(config: Value) -> Self {
        Self::text(with_listener(config).to_string())
    }

    /// A whole file, whose listener must be the socket `acjs.sock`.
    pub(crate) fn text(text: String) -> Self {
        let folder = Folder::new();
        folder.write("acjs.yaml", text);
        Self::of(folder, "acjs.yaml")
    }

    /// A file that is in the folder already; its listener must be the socket `acjs.sock`.
    pub(crate) fn of(folder: Folder, file: &'static str) -> Self {
        Self {
            folder,
            file,
            path: None,
        }
    }

    /// A program in `bin`, which comes first in the server's PATH.
    pub(crate) fn tool(mut self, name: &str, script: &str) -> Self {
        self.folder.tool(name, script);
        self.path = Some(format!("{}:/usr/bin:/bin", self.folder.text("bin")));
        self
    }

    /// No program at all can be found.
    pub(crate) fn without_tools(mut self) -> Self {
        self.path = Some(self.folder.text("bin"));
        self
    }

    /// Starts the server and waits until it is ready.
    #[track_caller]
    pub(crate) fn start(self) -> Acjs {
        let Self { folder, file, path } = self;
        let mut command = program(folder.root());
        command.args(["serve", "-config-file", file, "--data-dir", "data"]);
        if let Some(path) = path {
            command.env("PATH", path);
        }
        let file = |name: &str| File::create(folder.path(name)).unwrap();
        let command = command.stdout(file("out")).stderr(file("log"));
        let child = command.spawn().unwrap();
        let socket = folder.path(SOCKET);
        let mut server = Acjs {
            folder,
            client: Client::new(move || Connection::unix(&socket)),
            child,
        };
        until("ready", || {
            if let Some(status) = server.child.try_wait().unwrap() {
                panic!("the server ended with {status}: {}", server.log());
            }
            server.is_ready()
        });
        server
    }
}

fn with_listener(mut config: Value) -> Value {
    if config.get("listener").is_none() {
        config["listener"] = json!({"path": {"socketPath": SOCKET}});
    }
    config
}

impl Acjs {
    #[track_caller]
    pub(crate) fn start(config: Value) -> Self {
        AcjsSetup::new(config).start()
    }

    /// A server with these policies, each a name and a text.
    #[track_caller]
    pub(crate) fn of(policies: &[(&str, &str)]) -> Self {
        Self::start(acjs(policies))
    }

    pub(crate) fn socket(&self) -> PathBuf {
        self.folder.path(SOCKET)
    }

    pub(crate) fn log(&self) -> String {
        String::from_utf8_lossy(&std::fs::read(self.folder.path("log")).unwrap()).into_owned()
    }

    // Asking.

    /// A review at the root, as acjs is asked.
    #[track_caller]
    pub(crate) fn ask(&self, review: &Review) -> Verdict {
        self.ask_at("/", review)
    }

    #[track_caller]
    pub(crate) fn ask_at(&self, path: &str, review: &Review) -> Verdict {
        self.client.ask(path, review)
    }

    /// Posts with these headers besides the usual ones.
    #[track_caller]
    pub(crate) fn send(&self, path: &str, headers: &[(&str, &str)], body: &[u8]) -> Answer {
        let answer = self.raw(&request("POST", path, headers, body));
        answer.expect("the connection was dropped")
    }
}

impl Deref for Acjs {
    type Target = Client;

    fn deref(&self) -> &Client {
        &self.client
    }
}

impl Drop for Acjs {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        if std::thread::panicking() {
            eprintln!("--- the server's log ---\n{}---", self.log());
        }
    }
}
