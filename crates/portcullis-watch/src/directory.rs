//! A directory of manifests as the source of objects, polled regularly.
//!
//! Every poll compares the files with their previous state, as the server does with its
//! configuration: that sees every way to change a file, on every file system. What changed is read once
//! it has stopped changing. An object is replaced or, after everything else, deleted; so a file that is
//! renamed, written over or moved to another folder never makes an object disappear in between.
//!
//! A file that can't be used keeps the objects it had, and is reported. One that had none yet gives those of
//! its documents that can be used.

mod documents;
mod follower;
mod index;
mod report;
mod sink;
#[cfg(test)]
mod tests;
mod walk;

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};
use std::{fmt, fs, thread};

use portcullis_core::clock;
use portcullis_document::Fault;
use portcullis_graph::{Applied, check_name, check_namespace};
use serde_json::{Map, Value};

use documents::{Contents, Object, beginning};
use index::{Index, Key, Standing};
use sink::Sink;
use walk::{Print, Walk};

pub use follower::Follower;
pub use report::Report;

/// Larger files are not read.
const MAX_BYTES: u64 = 64 * 1024 * 1024;
/// A file that is still being written changes again soon.
const SETTLE: Duration = Duration::from_millis(150);
const SETTLE_AT_MOST: u32 = 5;
/// A file that never stops changing is read all the same, after so many looks.
const PATIENCE: u32 = 3;
/// Clocks of file systems are coarse: a file that changed so recently may change again unseen.
const RECENT_SECONDS: i64 = 3;
/// How many faults of one file are reported.
const MAX_FAULTS: usize = 5;
/// The namespace of objects that live in one and name none, as for `kubectl`.
const DEFAULT_NAMESPACE: &str = "default";

/// Why a directory can't be used.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// It is not there, or may not be read.
    #[error("the objects directory {} can't be read: {}", path.display(), words(source))]
    Unreadable {
        /// The directory.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// It is something else.
    #[error("the objects directory {} is not a directory", path.display())]
    NoDirectory {
        /// What was named.
        path: PathBuf,
    },
}

/// What is known of a file.
#[derive(Debug)]
struct KnownFile {
    /// How it was when it was read.
    seen: Print,
    /// Whether it must be read again in any case.
    again: bool,
    faults: Vec<Fault>,
}

/// What a look found, once nothing changed any more.
struct Scan {
    now: Walk,
    /// Files that are still changing: they stay as they were, for now.
    waiting: HashSet<PathBuf>,
}

/// A directory of manifests, and what is known of its files.
pub struct ObjectsDirectory {
    root: PathBuf,
    files: BTreeMap<Arc<Path>, KnownFile>,
    index: Index,
    /// For how many looks a file has been changing.
    restless: HashMap<PathBuf, u32>,
    told: Vec<Fault>,
    looked_before: bool,
    max_entries: usize,
    pause: Box<dyn FnMut() + Send>,
}

impl fmt::Debug for ObjectsDirectory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ObjectsDirectory")
            .field("root", &self.root)
            .field("files", &self.files.len())
            .finish_non_exhaustive()
    }
}

impl ObjectsDirectory {
    /// The directory at `path`. Nothing is read yet.
    ///
    /// # Errors
    ///
    /// When there is no such directory, or it can't be read.
    pub fn open(path: impl Into<PathBuf>) -> Result<Self, OpenError> {
        let root = path.into();
        match fs::read_dir(&root) {
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::NotADirectory => {
                return Err(OpenError::NoDirectory { path: root });
            }
            Err(source) => return Err(OpenError::Unreadable { path: root, source }),
        }
        Ok(Self {
            root,
            files: BTreeMap::new(),
            index: Index::default(),
            restless: HashMap::new(),
            told: Vec::new(),
            looked_before: false,
            max_entries: walk::MAX_ENTRIES,
            pause: Box::new(|| thread::sleep(SETTLE)),
        })
    }

    /// Looks at all files once, and reports what changed since the last look. After the first one the
    /// state is complete.
    ///
    /// Takes a moment if something changed: waits until it stops changing.
    pub fn sync(&mut self, sink: &impl Sink) -> Report {
        let Scan { now, waiting } = self.look();
        let mut changed = false;
        let gone = |file: &&Arc<Path>| {
            let there = now.files.contains_key(&***file) || waiting.contains(&***file);
            !there && !now.may_have(file)
        };
        let gone: Vec<_> = self.files.keys().filter(gone).cloned().collect();
        for file in gone {
            self.files.remove(&file);
            self.index.keep_only(&file, |_| false);
            changed = true;
        }
        // Later names first: what they have counts, whatever the others have.
        for (file, print) in now.files.iter().rev() {
            if !waiting.contains(file) {
                changed |= self.follow(file, *print, sink);
            }
        }
        for (key, value) in self.index.settle() {
            match value {
                Some(value) => drop(sink.apply(key.source, &value)),
                None => sink.delete(key.source, &key.namespace, &key.name),
            }
        }
        self.keep_overtaken(sink);
        sink.looked();
        self.looked_before = true;
        self.report(&now, changed)
    }

    /// Looks until nothing changes any more, if something has changed at all.
    fn look(&mut self) -> Scan {
        let mut now = Walk::take(&self.root, self.max_entries);
        let mut waiting = HashSet::new();
        if !self.looked_before {
            return Scan { now, waiting };
        }
        for _ in 0..SETTLE_AT_MOST {
            if self.is_as_known(&now) {
                break;
            }
            (self.pause)();
            let before = std::mem::replace(&mut now, Walk::take(&self.root, self.max_entries));
            waiting.clear();
            if before == now {
                break;
            }
            let now = &now.files;
            let unlike = |(file, print): &(&PathBuf, &Print)| now.get(*file) != Some(*print);
            let restless = before.files.iter().filter(unlike);
            waiting.extend(restless.map(|(file, _)| file.clone()));
        }
        self.restless.retain(|file, _| waiting.contains(file));
        waiting.retain(|file| {
            let looks = self.restless.entry(file.clone()).or_default();
            *looks += 1;
            *looks <= PATIENCE
        });
        Scan { now, waiting }
    }

    fn is_as_known(&self, now: &Walk) -> bool {
        let known = self.files.iter().map(|(file, known)| {
            let seen = (!known.again).then_some(&known.seen);
            (&**file, seen)
        });
        let found = now.files.iter();
        known.eq(found.map(|(file, print)| (file.as_path(), Some(print))))
    }

    /// Reads a file if it changed. Whether it did.
    fn follow(&mut self, file: &Path, print: Print, sink: &impl Sink) -> bool {
        let known = self.files.get_key_value(file);
        if known.is_some_and(|(_, known)| known.seen == print && !known.again) {
            return false;
        }
        let file = known.map_or_else(|| Arc::from(file), |(file, _)| Arc::clone(file));
        let again = !self.looked_before && is_recent(&print);
        let had_some = self.index.has(&file);
        let mut faults = match self.read(&file, print) {
            Ok(contents) if contents.is_empty && had_some => {
                vec![Fault::at("", "the file is empty; keeping its last objects")]
            }
            Ok(mut contents) if contents.faults.is_empty() || !had_some => {
                let mut faults = std::mem::take(&mut contents.faults);
                faults.extend(self.take(&file, contents.objects, sink));
                faults
            }
            Ok(contents) => with_remark(contents.faults),
            Err(why) if had_some => with_remark(vec![*why]),
            Err(why) => vec![*why],
        };
        if let Some(more) = faults
            .len()
            .checked_sub(MAX_FAULTS)
            .filter(|more| *more > 0)
        {
            faults.truncate(MAX_FAULTS);
            faults.push(Fault::at("", format!("and {more} more")));
        }
        let known = KnownFile {
            seen: print,
            again,
            faults,
        };
        self.files.insert(file, known);
        true
    }

    /// Puts the objects of a file in the place of those it had; what is wrong with them.
    fn take(&mut self, file: &Arc<Path>, objects: Vec<Object>, sink: &impl Sink) -> Vec<Fault> {
        let mut faults = Vec::new();
        let mut kept = HashSet::new();
        let mut last = BTreeMap::new();
        for object in objects {
            let line = object.line;
            match identified(object, sink) {
                Ok(Some((key, value))) => {
                    kept.insert(key.clone());
                    last.insert(key, (line, value));
                }
                Ok(None) => {}
                Err(why) => faults.push(Fault::at_position(beginning(line), why)),
            }
        }
        for (key, (line, value)) in last {
            let (source, place) = (key.source, format!("{}/{}", key.namespace, key.name));
            let Standing::Counts(value) = self.index.put(file, key, value) else {
                continue;
            };
            let kind = value
                .get("kind")
                .and_then(Value::as_str)
                .unwrap_or_default();
            let place = format!("{kind} {}", place.trim_start_matches('/'));
            let fault =
                |why: String| Fault::at_position(beginning(line), format!("{place}: {why}"));
            match sink.apply(source, &value) {
                Applied::Followed(wrong) => faults.extend(wrong.into_iter().map(fault)),
                Applied::Unusable(why) => faults.push(fault(why)),
                Applied::Ignored => {}
            }
        }
        self.index.keep_only(file, |key| kept.contains(key));
        faults
    }

    /// Objects that a later file took over are kept: they may count again.
    fn keep_overtaken(&mut self, sink: &impl Sink) {
        for (file, keys) in self.index.overtaken() {
            let print = self.files.get(&file).map(|known| known.seen);
            let Some(Ok(contents)) = print.map(|print| self.read(&file, print)) else {
                continue;
            };
            for object in contents.objects {
                if let Ok(Some((key, value))) = identified(object, sink)
                    && keys.contains(&key)
                {
                    self.index.keep(&file, &key, value);
                }
            }
        }
    }

    fn read(&self, file: &Path, print: Print) -> Result<Contents, Box<Fault>> {
        let too_large = || {
            let most = MAX_BYTES / 1024 / 1024;
            Box::new(Fault::at("", format!("the file is larger than {most} MiB")))
        };
        let unreadable = |error: io::Error| Box::new(Fault::at("", words(&error)));
        if print.size > MAX_BYTES {
            return Err(too_large());
        }
        let opened = File::open(self.root.join(file)).map_err(unreadable)?;
        let mut bytes = Vec::new();
        opened
            .take(MAX_BYTES + 1)
            .read_to_end(&mut bytes)
            .map_err(unreadable)?;
        if bytes.len() as u64 > MAX_BYTES {
            return Err(too_large());
        }
        let text = String::from_utf8(bytes).map_err(|error| {
            let valid = error.utf8_error().valid_up_to();
            let lines = error.as_bytes().iter().take(valid);
            let line = 1 + lines.filter(|byte| **byte == b'\n').count();
            let text = "the line is not UTF-8 text";
            Box::new(Fault::at_position(beginning(line as u64), text))
        })?;
        Ok(documents::read(&text))
    }

    fn report(&mut self, now: &Walk, changed: bool) -> Report {
        let mut malformed = Vec::new();
        let files = self.files.iter();
        let faulty = files.flat_map(|(file, known)| known.faults.iter().map(move |w| (&**file, w)));
        let faulty = faulty.map(|(file, fault)| (file, fault.clone()));
        let unknown = now.unknown.iter();
        let unknown = unknown.map(|(file, why)| (&**file, Fault::at("", why.as_str())));
        for (file, fault) in faulty.chain(unknown) {
            let path = match file.as_os_str().is_empty() {
                true => self.root.clone(),
                false => self.root.join(file),
            };
            let file = path.to_string_lossy().into_owned();
            malformed.push(Fault { file, ..fault });
        }
        malformed.sort();
        let told: HashSet<_> = self.told.iter().collect();
        let news = malformed.iter().filter(|one| !told.contains(one));
        let news = news.cloned().collect();
        self.told.clone_from(&malformed);
        Report {
            files: self.files.len(),
            objects: self.index.len(),
            malformed,
            news,
            changed,
        }
    }
}

/// What identifies a watched object, and the object as it would be in a cluster; nothing for others.
///
/// # Errors
///
/// When it can't be called so.
fn identified(object: Object, sink: &impl Sink) -> Result<Option<(Key, Value)>, String> {
    let Some((source, namespaced)) = sink.source(&object.api_version, &object.kind) else {
        return Ok(None);
    };
    let wrong =
        |path: &str, name: &str, why: String| format!("{} {name:?}: {path}: {why}", object.kind);
    check_name(&object.name).map_err(|why| wrong("metadata.name", &object.name, why))?;
    if namespaced && !object.namespace.is_empty() {
        check_namespace(&object.namespace)
            .map_err(|why| wrong("metadata.namespace", &object.name, why))?;
    }
    let mut value = object.value;
    let metadata = value.get_mut("metadata").and_then(Value::as_object_mut);
    let Some(metadata): Option<&mut Map<_, _>> = metadata else {
        return Ok(None);
    };
    let namespace = match (namespaced, object.namespace.is_empty()) {
        (true, false) => object.namespace,
        (true, true) => {
            metadata.insert("namespace".to_owned(), DEFAULT_NAMESPACE.into());
            DEFAULT_NAMESPACE.to_owned()
        }
        (false, _) => {
            metadata.remove("namespace");
            String::new()
        }
    };
    let key = Key {
        source,
        namespace: namespace.into(),
        name: object.name.into(),
    };
    Ok(Some((key, value)))
}

fn with_remark(mut faults: Vec<Fault>) -> Vec<Fault> {
    if let Some(first) = faults.first_mut() {
        first
            .message
            .push_str("; keeping the last good objects of the file");
    }
    faults
}

/// Whether a file changed so recently that it may change again without looking different.
fn is_recent(print: &Print) -> bool {
    let now = clock::wall().duration_since(SystemTime::UNIX_EPOCH);
    let now = now.map_or(0, |now| now.as_secs().cast_signed());
    print.changed_at() > now - RECENT_SECONDS
}

/// The message of an error, without the path, which is reported beside it.
fn words(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => "no such file or directory".to_owned(),
        io::ErrorKind::PermissionDenied => "permission denied".to_owned(),
        _ => error.to_string(),
    }
}
