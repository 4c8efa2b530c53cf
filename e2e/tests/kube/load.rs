//! Requests to the API server, one after the other by several clients, while something happens.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use portcullis_e2e::{Connection, until};

use crate::manifests::config_map;
use crate::suite::{OnDrop, Space};

/// Requests under way.
const CLIENTS: usize = 8;
/// Answered requests between two things that happen, so that each happens under load.
const BETWEEN: usize = 200;

/// How often each outcome was seen.
pub(crate) type Outcomes = BTreeMap<String, usize>;

/// Requests that are being asked.
pub(crate) struct Load {
    answered: AtomicUsize,
    over: AtomicBool,
}

impl Load {
    /// Waits until many more requests are answered.
    pub(crate) fn wait_for_more(&self) {
        let wanted = self.answered.load(Ordering::Relaxed) + BETWEEN;
        until("requests to be answered", Duration::from_secs(60), || {
            self.answered.load(Ordering::Relaxed) >= wanted
        });
    }
}

/// Asks as long as this takes; the outcomes of all requests.
pub(crate) fn under_load(space: &Space, happens: impl FnOnce(&Load)) -> Outcomes {
    let proxy = space.suite.cluster.proxy();
    let load = Load {
        answered: AtomicUsize::new(0),
        over: AtomicBool::new(false),
    };
    thread::scope(|scope| {
        let clients: Vec<_> = (0..CLIENTS)
            .map(|client| {
                let connection = proxy.connection();
                let load = &load;
                scope.spawn(move || ask(space.name, client, connection, load))
            })
            .collect();
        let _guard = OnDrop(&load.over);
        happens(&load);
        load.over.store(true, Ordering::Relaxed);
        let mut outcomes = Outcomes::new();
        for client in clients {
            for outcome in client.join().unwrap() {
                *outcomes.entry(outcome).or_insert(0) += 1;
            }
        }
        outcomes
    })
}

/// Asks until it is over; the outcome of each request.
fn ask(namespace: &str, client: usize, mut connection: Connection, load: &Load) -> Vec<String> {
    let path = format!("/api/v1/namespaces/{namespace}/configmaps?dryRun=All");
    let mut outcomes = Vec::new();
    while !load.over.load(Ordering::Relaxed) {
        let map = config_map(&format!("map-{client}-{}", outcomes.len()));
        outcomes.push(match connection.post(&path, &map) {
            Ok((201, _)) => "201".to_owned(),
            Ok((status, answer)) => format!("{status}: {}", answer["message"]),
            Err(error) => error.to_string(),
        });
        load.answered.fetch_add(1, Ordering::Relaxed);
    }
    outcomes
}
