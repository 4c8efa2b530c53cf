//! A PostgreSQL for tests: in a folder of its own, on loopback, removed with its value. It can be stopped and started,
//! killed, held still, and have a standby.

mod processes;

use std::fs;
use std::io::Write;
use std::os::unix::fs::{PermissionsExt, chown};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

use crate::free_port;

/// A PostgreSQL server, gone with this value.
#[derive(Debug)]
pub struct Postgres {
    binaries: PathBuf,
    folder: PathBuf,
    owner: Option<(u32, u32)>,
    port: u16,
    /// Ends the server and removes its folder as soon as the pipe to it closes: when this is dropped,
    /// or when this process ends, however it does.
    watchdog: Child,
}

/// What is needed of PostgreSQL.
const PROGRAMS: &[&str] = &["initdb", "pg_ctl", "pg_basebackup", "psql"];

/// Where the programs are: Debian keeps them out of the path.
fn binaries() -> PathBuf {
    let has_all = |folder: &PathBuf| {
        let mut programs = PROGRAMS.iter();
        programs.all(|program| folder.join(program).exists())
    };
    let mut found: Vec<PathBuf> = fs::read_dir("/usr/lib/postgresql")
        .into_iter()
        .flatten()
        .map(|version| version.unwrap().path().join("bin"))
        .filter(has_all)
        .collect();
    found.sort();
    let path = std::env::var_os("PATH").unwrap_or_default();
    found.extend(std::env::split_paths(&path).filter(has_all));
    found.pop().unwrap_or_else(|| {
        panic!(
            "these tests need {} of PostgreSQL, in the path or in /usr/lib/postgresql: run \
             scripts/setup",
            PROGRAMS.join(", ")
        )
    })
}

fn id(arguments: &[&str]) -> Option<u32> {
    let output = Command::new("id").args(arguments).output().ok()?;
    String::from_utf8(output.stdout).ok()?.trim().parse().ok()
}

/// PostgreSQL refuses to run as root, so then another user runs it.
fn owner() -> Option<(u32, u32)> {
    if id(&["-u"]) != Some(0) {
        return None;
    }
    let user = ["postgres", "nobody"]
        .into_iter()
        .find_map(|name| Some((id(&["-u", name])?, id(&["-g", name])?)));
    Some(user.expect("running as root, these tests need a user `postgres` or `nobody`"))
}

impl Postgres {
    /// The server that the tests of one process share. Each takes a database of its own.
    pub fn shared() -> &'static Self {
        static SERVER: OnceLock<Postgres> = OnceLock::new();
        SERVER.get_or_init(|| Self::start(&[]))
    }

    /// Starts a server with these settings.
    #[must_use]
    pub fn start(settings: &[&str]) -> Self {
        Self::start_with(settings, &[])
    }

    /// Starts a server with these settings and these files in its folder.
    #[must_use]
    pub fn start_with(settings: &[&str], files: &[(&str, &[u8])]) -> Self {
        let mut server = Self::place();
        server.create(settings, files);
        server.begin_anywhere();
        server
    }

    /// Starts a standby that follows this server, from a copy of it. Every commit waits for the standby from now on.
    #[must_use]
    pub fn standby(&self) -> Self {
        let mut standby = Self::place();
        let mut copy = standby.command("pg_basebackup");
        copy.args(["--checkpoint=fast", "--wal-method=stream"]);
        copy.args(["--write-recovery-conf", "-D"])
            .arg(standby.data());
        copy.arg("-d").arg(self.url("postgres"));
        standby.run(&mut copy);
        let configuration = standby.data().join("postgresql.conf");
        let sockets = standby.folder.display();
        let setting = format!("unix_socket_directories = '{sockets}'\n");
        let text = fs::read_to_string(&configuration).unwrap();
        fs::write(&configuration, text + &setting).unwrap();
        standby.begin_anywhere();
        for sql in [
            "ALTER SYSTEM SET synchronous_standby_names = '*'",
            "SELECT pg_reload_conf()",
        ] {
            self.sql("postgres", sql);
        }
        crate::until("the standby follows", || {
            self.sql("postgres", "SELECT sync_state FROM pg_stat_replication") == "sync"
        });
        standby
    }

    /// Makes a standby a server of its own.
    pub fn promote(&self) {
        let mut command = self.command("pg_ctl");
        command
            .args(["promote", "-w", "-t", "60", "-s", "-D"])
            .arg(self.data());
        self.run(&mut command);
    }

    /// An empty folder with a watchdog, and no server yet.
    fn place() -> Self {
        let folder = tempfile::Builder::new()
            .prefix("portcullis-pg")
            .tempdir()
            .unwrap()
            .keep();
        let owner = owner();
        if let Some((user, group)) = owner {
            chown(&folder, Some(user), Some(group)).unwrap();
        }
        Self {
            binaries: binaries(),
            watchdog: watchdog(&binaries(), &folder, owner),
            folder,
            owner,
            port: 0,
        }
    }

    fn create(&self, settings: &[&str], files: &[(&str, &[u8])]) {
        let data = self.data();
        let arguments = [
            "-N",
            "-A",
            "trust",
            "-U",
            "portcullis",
            "-E",
            "UTF8",
            "--locale=C",
            "-D",
        ];
        self.run(self.command("initdb").args(arguments).arg(&data));
        for (name, content) in files {
            let path = data.join(name);
            fs::write(&path, content).unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
            if let Some((user, group)) = self.owner {
                chown(&path, Some(user), Some(group)).unwrap();
            }
        }
        let mut configuration = fs::OpenOptions::new()
            .append(true)
            .open(data.join("postgresql.conf"))
            .unwrap();
        writeln!(configuration, "listen_addresses = '127.0.0.1'").unwrap();
        let sockets = self.folder.display();
        writeln!(configuration, "unix_socket_directories = '{sockets}'").unwrap();
        writeln!(configuration, "fsync = off\nmax_connections = 200").unwrap();
        writeln!(configuration, "shared_buffers = 16MB").unwrap();
        for setting in settings {
            writeln!(configuration, "{setting}").unwrap();
        }
    }

    fn begin_anywhere(&mut self) {
        // Another process may take the port between looking for one and using it.
        let started = (0..5).any(|_| {
            self.port = free_port();
            self.begin()
        });
        let log = fs::read_to_string(self.folder.join("log")).unwrap_or_default();
        assert!(started, "PostgreSQL doesn't start: {log}");
    }

    fn data(&self) -> PathBuf {
        self.folder.join("data")
    }

    /// A command that runs as the user of the server, in its folder. A program of PostgreSQL is found by its name,
    /// others by their path.
    #[must_use]
    pub fn command(&self, program: &str) -> Command {
        let mut command = Command::new(self.binaries.join(program));
        if let Some((user, group)) = self.owner {
            command.uid(user).gid(group);
        }
        command
            .current_dir(&self.folder)
            .stdin(Stdio::null())
            .stdout(Stdio::null());
        command.env_remove("PGPORT").env_remove("PGHOST");
        command
    }

    fn run(&self, command: &mut Command) {
        let output = command.stderr(Stdio::piped()).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{command:?}: {said}");
    }

    /// Starts it again after [`Postgres::stop`]; says whether that worked.
    #[must_use]
    pub fn begin(&self) -> bool {
        let mut command = self.command("pg_ctl");
        command
            .args(["start", "-w", "-t", "60", "-s", "-l"])
            .arg(self.folder.join("log"));
        command
            .arg("-D")
            .arg(self.data())
            .arg("-o")
            .arg(format!("-p {}", self.port));
        command.stderr(Stdio::null()).status().unwrap().success()
    }

    /// Stops it, ending all connections.
    pub fn stop(&self) {
        let mut command = self.command("pg_ctl");
        command
            .args(["stop", "-w", "-s", "-m", "fast", "-D"])
            .arg(self.data());
        self.run(&mut command);
    }

    /// Makes an empty database; gives its name.
    #[must_use]
    pub fn database(&self) -> String {
        static NEXT: AtomicU32 = AtomicU32::new(1);
        let name = format!("t{}", NEXT.fetch_add(1, Ordering::Relaxed));
        self.sql("postgres", &format!("CREATE DATABASE {name}"));
        name
    }

    /// Runs a statement, and returns what it selects: a line for each row.
    #[track_caller]
    pub fn sql(&self, database: &str, statement: &str) -> String {
        let mut command = self.command("psql");
        command.args(["-XAtq", "-v", "ON_ERROR_STOP=1", "-c", statement]);
        command.arg("-d").arg(self.url(database));
        let output = command
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{statement}: {said}");
        String::from_utf8(output.stdout)
            .unwrap()
            .trim_end()
            .to_owned()
    }

    /// Its port.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.port
    }

    /// The address of a database.
    #[must_use]
    pub fn url(&self, database: &str) -> String {
        format!("postgres://portcullis@127.0.0.1:{}/{database}", self.port)
    }

    /// The folder with its sockets.
    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.folder
    }
}

/// Waits for the end of its input, then ends the server and removes its folder.
fn watchdog(binaries: &Path, folder: &Path, owner: Option<(u32, u32)>) -> Child {
    // One that is held still would wait for the signal to end.
    let script = r#"read -r _; kill -CONT "$(head -n 1 "$2/data/postmaster.pid")"; "$1/pg_ctl" stop -s -m immediate -D "$2/data"; rm -rf "$2""#;
    let mut command = Command::new("/bin/sh");
    command.args(["-c", script, "sh"]).arg(binaries).arg(folder);
    if let Some((user, group)) = owner {
        command.uid(user).gid(group);
    }
    // A group of its own: an interrupt from the keyboard ends the tests, not what cleans up after them.
    command
        .process_group(0)
        .current_dir("/")
        .stdin(Stdio::piped());
    command
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

impl Drop for Postgres {
    fn drop(&mut self) {
        drop(self.watchdog.stdin.take());
        let _ = self.watchdog.wait();
    }
}
