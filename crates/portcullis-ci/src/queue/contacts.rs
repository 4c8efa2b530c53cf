//! Managers that were heard of, and not written yet.
//!
//! Each is written once a minute at most, many together, and never on the way of a job.

use std::collections::HashMap;
use std::time::Duration;

use portcullis_core::clock::Stopwatch;
use portcullis_core::sync::Mutex;
use portcullis_jobs::RunnerId;
use portcullis_store::ManagerContact;
use serde_json::{Map, Value};

/// How often one is written, at most.
const PAUSE: Duration = Duration::from_secs(60);
/// Managers that are remembered, at most.
const MOST: usize = 50_000;
/// The longest name, and the longest text of what one says of itself.
const MOST_NAME_BYTES: usize = 255;
const MOST_TEXT_BYTES: usize = 255;
/// What is kept of what a manager says of itself.
const KEPT: [&str; 7] = [
    "name",
    "version",
    "revision",
    "platform",
    "architecture",
    "executor",
    "shell",
];

/// Managers that were heard of.
#[derive(Debug, Default)]
pub(crate) struct Contacts(Mutex<Known>);

#[derive(Debug, Default)]
struct Known {
    written: HashMap<(RunnerId, String), Stopwatch>,
    new: Vec<ManagerContact>,
}

impl Contacts {
    /// A manager was heard of. One whose name is too long is not remembered.
    pub(crate) fn note(&self, contact: ManagerContact) {
        if contact.system_id.len() > MOST_NAME_BYTES {
            return;
        }
        let key = (contact.runner, contact.system_id.clone());
        let mut known = self.0.lock();
        let is_recent = |written: &Stopwatch| written.elapsed() < PAUSE;
        if known.written.get(&key).is_some_and(is_recent) {
            return;
        }
        if known.written.len() >= MOST {
            known.written.retain(|_, written| is_recent(written));
        }
        if known.written.len() < MOST {
            known.written.insert(key, Stopwatch::start());
            known.new.push(contact);
        }
    }

    /// Those that are to be written.
    pub(crate) fn take(&self) -> Vec<ManagerContact> {
        std::mem::take(&mut self.0.lock().new)
    }

    /// A manager was deleted: it is written the next time it is heard of.
    pub(crate) fn forget(&self, runner: RunnerId, system_id: &str) {
        let key = (runner, system_id.to_owned());
        self.0.lock().written.remove(&key);
    }
}

/// What is kept of what a manager says of itself.
pub(crate) fn summary(info: &Value) -> Value {
    let kept = KEPT.into_iter().filter_map(|key| {
        let text = info.get(key)?.as_str()?;
        let is_short = text.len() <= MOST_TEXT_BYTES;
        is_short.then(|| (key.to_owned(), Value::from(text)))
    });
    Value::Object(kept.collect::<Map<_, _>>())
}
