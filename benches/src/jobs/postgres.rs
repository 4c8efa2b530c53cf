//! A PostgreSQL of this run: in a folder of its own, on loopback, with its default durability; removed with it.

use std::fs;
use std::io::Write;
use std::os::unix::fs::chown;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use crate::failure::{Context, Failure, Result};
use crate::transport::Places;

/// What is needed of it.
const PROGRAMS: [&str; 5] = ["initdb", "pg_ctl", "createdb", "dropdb", "psql"];

/// Ends the server and removes its folder as soon as its input closes.
const WATCHDOG: &str = r#"read -r _; "$1/pg_ctl" stop -s -m immediate -D "$2/data"; rm -rf "$2""#;

/// The server at work, until it is dropped or this program ends, however it does.
#[derive(Debug)]
pub(super) struct Postgres {
    binaries: PathBuf,
    folder: PathBuf,
    owner: Option<(u32, u32)>,
    port: u16,
    watchdog: Child,
    databases: u32,
}

impl Postgres {
    /// Starts it.
    pub(super) fn start() -> Result<Self> {
        let binaries = binaries()?;
        let owner = owner()?;
        let folder = tempfile::Builder::new()
            .prefix("portcullis-bench-pg-")
            .tempdir();
        let folder = folder.context("no directory for PostgreSQL")?.keep();
        if let Some((user, group)) = owner {
            chown(&folder, Some(user), Some(group)).context(folder.display())?;
        }
        let port = Places::free(&folder)?.tcp.port();
        let mut server = Self {
            watchdog: watchdog(&binaries, &folder, owner)?,
            binaries,
            folder,
            owner,
            port,
            databases: 0,
        };
        server.begin()?;
        Ok(server)
    }

    fn begin(&mut self) -> Result<()> {
        let data = self.data();
        let mut initdb = self.command("initdb");
        initdb.args(["-N", "-A", "trust", "-U", "portcullis", "-E", "UTF8"]);
        run(initdb.arg("--locale=C").arg("-D").arg(&data))?;
        let file = data.join("postgresql.conf");
        let opened = fs::OpenOptions::new().append(true).open(&file);
        let mut settings = opened.context(file.display())?;
        let sockets = self.folder.display();
        // Everything about durability stays as it is: `fsync` and `synchronous_commit` are on.
        let text = format!(
            "listen_addresses = '127.0.0.1'\nunix_socket_directories = '{sockets}'\nmax_connections = 200\n"
        );
        settings
            .write_all(text.as_bytes())
            .context(file.display())?;
        drop(settings);
        let mut start = self.command("pg_ctl");
        start.args(["start", "-w", "-t", "60", "-s", "-l"]);
        start.arg(self.folder.join("log")).arg("-D").arg(&data);
        // What it starts keeps standard error: nothing may wait for its end.
        start
            .arg("-o")
            .arg(format!("-p {}", self.port))
            .stderr(Stdio::null());
        let status = start.status().context("pg_ctl")?;
        let log = || fs::read_to_string(self.folder.join("log")).unwrap_or_default();
        match status.success() {
            true => Ok(()),
            false => Err(Failure::new(format!(
                "PostgreSQL does not start: {}",
                log()
            ))),
        }
    }

    /// The process id of the server that all others are children of.
    pub(super) fn pid(&self) -> Result<u32> {
        let file = self.data().join("postmaster.pid");
        let text = fs::read_to_string(&file).context(file.display())?;
        let first = text
            .lines()
            .next()
            .and_then(|line| line.trim().parse().ok());
        first.context(format!("{}: not understood", file.display()))
    }

    /// A new, empty database; its name.
    pub(super) fn create(&mut self) -> Result<String> {
        self.databases += 1;
        let name = format!("bench{}", self.databases);
        run(self.client("createdb").arg(&name))?;
        Ok(name)
    }

    /// Removes a database.
    pub(super) fn drop_database(&self, name: &str) -> Result<()> {
        run(self.client("dropdb").arg(name))
    }

    /// Writes what was changed to its place, so that nobody is charged for it later.
    pub(super) fn checkpoint(&self) -> Result<()> {
        self.sql("postgres", "CHECKPOINT")
    }

    /// Gathers the statistics that autovacuum would gather within a minute.
    pub(super) fn analyze(&self, database: &str) -> Result<()> {
        self.sql(database, "VACUUM ANALYZE")
    }

    fn sql(&self, database: &str, sql: &str) -> Result<()> {
        run(self.client("psql").args(["-q", "-d", database, "-c", sql]))
    }

    /// The address of a database.
    pub(super) fn url(&self, database: &str) -> String {
        format!("postgres://portcullis@127.0.0.1:{}/{database}", self.port)
    }

    fn data(&self) -> PathBuf {
        self.folder.join("data")
    }

    fn client(&self, program: &str) -> Command {
        let mut command = self.command(program);
        let port = self.port.to_string();
        command.args(["-h", "127.0.0.1", "-U", "portcullis", "-p", &port]);
        command
    }

    fn command(&self, program: &str) -> Command {
        let mut command = Command::new(self.binaries.join(program));
        if let Some((user, group)) = self.owner {
            command.uid(user).gid(group);
        }
        command
            .current_dir(&self.folder)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .env_remove("PGPORT")
            .env_remove("PGHOST");
        command
    }
}

impl Drop for Postgres {
    fn drop(&mut self) {
        drop(self.watchdog.stdin.take());
        let _ = self.watchdog.wait();
    }
}

fn run(command: &mut Command) -> Result<()> {
    let program = command.get_program().to_string_lossy().into_owned();
    let output = command.stderr(Stdio::piped()).output().context(&program)?;
    let said = String::from_utf8_lossy(&output.stderr);
    match output.status.success() {
        true => Ok(()),
        false => Err(Failure::new(format!("{program}: {said}"))),
    }
}

fn watchdog(binaries: &Path, folder: &Path, owner: Option<(u32, u32)>) -> Result<Child> {
    let mut command = Command::new("/bin/sh");
    command
        .args(["-c", WATCHDOG, "sh"])
        .arg(binaries)
        .arg(folder);
    if let Some((user, group)) = owner {
        command.uid(user).gid(group);
    }
    // A group of its own: an interrupt from the keyboard ends the benchmark, not what cleans up after it.
    command
        .process_group(0)
        .current_dir("/")
        .stdin(Stdio::piped());
    let command = command.stdout(Stdio::null()).stderr(Stdio::null());
    command.spawn().context("/bin/sh")
}

/// Where the programs are: Debian keeps them out of the path.
fn binaries() -> Result<PathBuf> {
    let versions = fs::read_dir("/usr/lib/postgresql").into_iter().flatten();
    let mut found: Vec<PathBuf> = versions
        .flatten()
        .map(|one| one.path().join("bin"))
        .collect();
    found.sort();
    let path = std::env::var_os("PATH").unwrap_or_default();
    found.extend(std::env::split_paths(&path));
    let has_it = |folder: &PathBuf| PROGRAMS.iter().all(|name| folder.join(name).exists());
    found.into_iter().rfind(has_it).context(
        "PostgreSQL's programs are neither in the path nor in /usr/lib/postgresql: install PostgreSQL, or pass \
         `--database sqlite`",
    )
}

/// Who runs it: PostgreSQL does not run as root.
fn owner() -> Result<Option<(u32, u32)>> {
    if id(&["-u"]) != Some(0) {
        return Ok(None);
    }
    let mut users = ["postgres", "nobody"].into_iter();
    let user = users.find_map(|name| Some((id(&["-u", name])?, id(&["-g", name])?)));
    user.map(Some)
        .context("running as root needs a user `postgres` or `nobody` for PostgreSQL")
}

fn id(arguments: &[&str]) -> Option<u32> {
    let output = Command::new("id").args(arguments).output().ok()?;
    String::from_utf8(output.stdout).ok()?.trim().parse().ok()
}
