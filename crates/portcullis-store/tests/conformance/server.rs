//! A PostgreSQL for these tests: in a folder of its own, on loopback, removed with the tests.

use std::fs;
use std::io::Write;
use std::os::unix::fs::{PermissionsExt, chown};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

use portcullis_testing::free_port;

/// A running server.
pub(crate) struct Server {
    binaries: PathBuf,
    folder: PathBuf,
    owner: Option<(u32, u32)>,
    pub(crate) port: u16,
    /// Ends the server and removes its folder as soon as the pipe to it closes: when this is dropped,
    /// or when this process ends, however it does.
    watchdog: Child,
}

/// The server that tests share.
pub(crate) fn shared() -> &'static Server {
    static SERVER: OnceLock<Server> = OnceLock::new();
    SERVER.get_or_init(|| Server::start(&[]))
}

/// Where the programs are: Debian keeps them out of the path.
fn binaries() -> PathBuf {
    let mut found: Vec<PathBuf> = fs::read_dir("/usr/lib/postgresql")
        .into_iter()
        .flatten()
        .map(|version| version.unwrap().path().join("bin"))
        .filter(|folder| folder.join("initdb").exists())
        .collect();
    found.sort();
    let path = std::env::var_os("PATH").unwrap_or_default();
    found.extend(std::env::split_paths(&path).filter(|folder| folder.join("initdb").exists()));
    found.pop().expect(
        "these tests need PostgreSQL's `initdb` and `pg_ctl`, in the path or in \
         /usr/lib/postgresql: run scripts/setup",
    )
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

impl Server {
    /// Starts a server with these settings.
    pub(crate) fn start(settings: &[&str]) -> Self {
        Self::start_with(settings, &[])
    }

    /// Starts a server with these settings and these files in its folder.
    pub(crate) fn start_with(settings: &[&str], files: &[(&str, &[u8])]) -> Self {
        let folder = tempfile::Builder::new()
            .prefix("portcullis-pg")
            .tempdir()
            .unwrap()
            .keep();
        let owner = owner();
        if let Some((user, group)) = owner {
            chown(&folder, Some(user), Some(group)).unwrap();
        }
        let mut server = Self {
            binaries: binaries(),
            watchdog: watchdog(&binaries(), &folder, owner),
            folder,
            owner,
            port: 0,
        };
        let data = server.data();
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
        server.run(server.command("initdb").args(arguments).arg(&data));
        for (name, content) in files {
            let path = data.join(name);
            fs::write(&path, content).unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
            if let Some((user, group)) = owner {
                chown(&path, Some(user), Some(group)).unwrap();
            }
        }
        let mut configuration = fs::OpenOptions::new()
            .append(true)
            .open(data.join("postgresql.conf"))
            .unwrap();
        writeln!(configuration, "listen_addresses = '127.0.0.1'").unwrap();
        let sockets = server.folder.display();
        writeln!(configuration, "unix_socket_directories = '{sockets}'").unwrap();
        writeln!(configuration, "fsync = off\nmax_connections = 200").unwrap();
        writeln!(configuration, "shared_buffers = 16MB").unwrap();
        for setting in settings {
            writeln!(configuration, "{setting}").unwrap();
        }
        drop(configuration);
        // Another process may take the port between looking for one and using it.
        let started = (0..5).any(|_| {
            server.port = free_port();
            server.begin()
        });
        let log = fs::read_to_string(server.folder.join("log")).unwrap_or_default();
        assert!(started, "PostgreSQL doesn't start: {log}");
        server
    }

    fn data(&self) -> PathBuf {
        self.folder.join("data")
    }

    fn command(&self, program: &str) -> Command {
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

    /// Starts it again after [`Server::stop`]; says whether that worked.
    pub(crate) fn begin(&self) -> bool {
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
    pub(crate) fn stop(&self) {
        let mut command = self.command("pg_ctl");
        command
            .args(["stop", "-w", "-s", "-m", "fast", "-D"])
            .arg(self.data());
        self.run(&mut command);
    }

    /// Makes an empty database; gives its name.
    pub(crate) fn database(&self) -> String {
        static NEXT: AtomicU32 = AtomicU32::new(1);
        let name = format!("t{}", NEXT.fetch_add(1, Ordering::Relaxed));
        let url = self.url("postgres");
        let mut client = postgres::Client::connect(&url, postgres::NoTls).unwrap();
        client
            .batch_execute(&format!("CREATE DATABASE {name}"))
            .unwrap();
        name
    }

    /// The address of a database.
    pub(crate) fn url(&self, database: &str) -> String {
        format!("postgres://portcullis@127.0.0.1:{}/{database}", self.port)
    }

    /// The folder with its sockets.
    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }
}

/// Waits for the end of its input, then ends the server and removes its folder.
fn watchdog(binaries: &Path, folder: &Path, owner: Option<(u32, u32)>) -> Child {
    let script = r#"read -r _; "$1/pg_ctl" stop -s -m immediate -D "$2/data"; rm -rf "$2""#;
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

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.watchdog.stdin.take());
        let _ = self.watchdog.wait();
    }
}
