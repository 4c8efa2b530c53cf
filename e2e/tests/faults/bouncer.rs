//! pgbouncer in transaction mode: every transaction of a client may get another connection to the server.

use std::fs;
use std::path::{Path, PathBuf};

use portcullis_e2e::{Process, until};
use portcullis_testing::{Postgres, free_port};

use crate::scene::PATIENCE;

/// Debian's; elsewhere it is in the path.
const PROGRAM: &str = "/usr/sbin/pgbouncer";
/// Connections to the server for all clients.
const POOL: usize = 3;

/// A pooler in front of a server.
#[derive(Debug)]
pub(crate) struct Bouncer<'a> {
    postgres: &'a Postgres,
    port: u16,
    process: Option<Process>,
}

impl<'a> Bouncer<'a> {
    /// Starts one.
    pub(crate) fn start(postgres: &'a Postgres) -> Self {
        let port = free_port();
        let users = "\"portcullis\" \"\"\n";
        let settings = format!(
            "[databases]\n\
             postgres = host=127.0.0.1 port={} dbname=postgres\n\
             [pgbouncer]\n\
             listen_addr = 127.0.0.1\n\
             listen_port = {port}\n\
             unix_socket_dir =\n\
             auth_type = trust\n\
             auth_file = users.txt\n\
             pool_mode = transaction\n\
             default_pool_size = {POOL}\n\
             max_client_conn = 200\n",
            postgres.port()
        );
        for (name, text) in [("users.txt", users), ("pgbouncer.ini", &settings)] {
            fs::write(postgres.folder().join(name), text).unwrap();
        }
        let mut bouncer = Self {
            postgres,
            port,
            process: None,
        };
        bouncer.begin();
        bouncer
    }

    /// Starts it again.
    pub(crate) fn begin(&mut self) {
        let mut command = self.postgres.command(&program().display().to_string());
        command.arg("pgbouncer.ini");
        let log = self.postgres.folder().join("pgbouncer.log");
        let mut process = Process::start("pgbouncer", &mut command, &log);
        until("pgbouncer listens", PATIENCE, || {
            process.must_run();
            std::net::TcpStream::connect(("127.0.0.1", self.port)).is_ok()
        });
        self.process = Some(process);
    }

    /// Kills it: all connections through it are gone.
    pub(crate) fn kill(&mut self) {
        self.process.take().expect("pgbouncer is running").kill();
    }

    /// The address of the database through it.
    pub(crate) fn url(&self) -> String {
        format!("postgres://portcullis@127.0.0.1:{}/postgres", self.port)
    }
}

fn program() -> PathBuf {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut found = std::env::split_paths(&path).map(|folder| folder.join("pgbouncer"));
    let found = found.find(|program| program.exists());
    let program = found.unwrap_or_else(|| Path::new(PROGRAM).to_owned());
    assert!(
        program.exists(),
        "these tests need pgbouncer, in the path or at {PROGRAM}: run scripts/setup"
    );
    program
}
