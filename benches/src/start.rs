//! How long a server takes to get ready, and what it needs at rest.

use std::path::Path;
use std::time::Duration;

use serde::Serialize;

use crate::certificate::Certificate;
use crate::failure::{Context, Result};
use crate::proc::{self, Memory};
use crate::scenario::Setup;
use crate::server::{self, Server};
use crate::statistics::{Summary, of_cost};
use crate::transport::Places;

/// What `portcullis serve` runs without a configuration.
const DEMONSTRATION: &str = include_str!("../../examples/demonstration/portcullis.yaml");

/// How long a server is left alone before its memory is looked at.
const REST: Duration = Duration::from_secs(2);

/// What one configuration costs before the first request.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Start {
    /// The configuration.
    pub(crate) name: &'static str,
    /// From the start of the process to the first 200 of `/readyz`, in milliseconds.
    pub(crate) ready_ms: Summary,
    /// The slowest of all starts.
    pub(crate) worst_ms: f64,
    /// Every start.
    pub(crate) all_ms: Vec<f64>,
    /// Memory two seconds after ready, without a request but those for `/readyz`.
    pub(crate) memory: Memory,
}

/// Starts each configuration so many times, in turns.
pub(crate) fn run(portcullis: &Path, times: usize) -> Result<Vec<Start>> {
    let dir = tempfile::Builder::new()
        .prefix("portcullis-bench-")
        .tempdir();
    let dir = dir.context("no directory for this run")?;
    let certificate = Certificate::make(dir.path())?;
    let mut all = [
        ("demonstration", Vec::new()),
        ("three listeners, TLS", Vec::new()),
    ];
    let begin = |name: &str| -> Result<(Server, Duration)> {
        let places = Places::free(dir.path())?;
        let file = match name {
            "demonstration" => demonstration(dir.path(), &places)?,
            _ => {
                server::write_configuration(Setup::AlwaysAdmit, dir.path(), &places, &certificate)?
            }
        };
        let mut server = Server::spawn(
            &mut server::portcullis(portcullis, &file, dir.path()),
            dir.path(),
        )?;
        let took = server.wait_until_ready(places.tcp)?;
        Ok((server, took))
    };
    for _ in 0..times.max(1) {
        for (name, took) in &mut all {
            took.push(begin(name)?.1.as_secs_f64() * 1e3);
        }
    }
    let mut starts = Vec::with_capacity(all.len());
    for (name, all_ms) in all {
        let (server, _) = begin(name)?;
        std::thread::sleep(REST);
        starts.push(Start {
            name,
            ready_ms: of_cost(&all_ms),
            worst_ms: all_ms.iter().copied().fold(0.0, f64::max),
            all_ms,
            memory: proc::memory(server.pid())?,
        });
    }
    Ok(starts)
}

/// The demonstration on ports that are free: others on this machine may run it too.
fn demonstration(dir: &Path, places: &Places) -> Result<std::path::PathBuf> {
    let text = DEMONSTRATION
        .replace("127.0.0.1:9090", &places.tcp.to_string())
        .replace("127.0.0.1:8080", &places.tls.to_string());
    let file = dir.join("demonstration.yaml");
    std::fs::write(&file, text).context(file.display())?;
    Ok(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_demonstration_gets_ports_of_its_own() {
        let dir = tempfile::tempdir().unwrap();
        let places = Places::free(dir.path()).unwrap();
        let text = std::fs::read_to_string(demonstration(dir.path(), &places).unwrap()).unwrap();
        assert!(text.contains(&places.tcp.to_string()) && text.contains(&places.tls.to_string()));
        assert!(
            !text.contains(":9090\"") && !text.contains(":8080\""),
            "{text}"
        );
    }
}
