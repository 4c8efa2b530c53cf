//! What the parts of a submission may be. Each check adds its faults, with their paths.

use std::time::Duration;

use portcullis_document::{Fault, path};

use crate::expiry::read_expiry;
use crate::job::JobUser;
use crate::paths::check_path;
use crate::tags::{MOST_TAGS, check_tag};
use crate::variables::Variables;
use crate::work::JobWork;

const MOST_NAME_BYTES: usize = 255;
const MOST_VARIABLES: usize = 1000;
const MOST_VALUE_BYTES: usize = 64 << 10;
const MOST_LINES: usize = 1000;
const MOST_LINE_BYTES: usize = 64 << 10;
const MOST_PATHS: usize = 250;
const MOST_PATH_BYTES: usize = 4096;
const MOST_SERVICES: usize = 50;
const LONGEST_TIMEOUT: Duration = Duration::from_secs(30 * 86_400);

/// Collects faults.
#[derive(Debug, Default)]
pub(super) struct Checks {
    pub(super) faults: Vec<Fault>,
}

impl Checks {
    pub(super) fn add(&mut self, at: &str, message: impl Into<String>) {
        self.faults.push(Fault::at(at, message));
    }

    /// A short text on one line.
    pub(super) fn text(&mut self, at: &str, text: &str) {
        if text.trim().is_empty() {
            self.add(at, "it can't be empty");
        } else if text.len() > MOST_NAME_BYTES {
            self.add(at, format!("it has at most {MOST_NAME_BYTES} bytes"));
        } else if text.contains(char::is_control) {
            self.add(at, "it can't contain control characters");
        }
    }

    pub(super) fn project(&mut self, at: &str, project: &str) {
        if let Err(message) = check_path(project) {
            self.add(at, message);
        }
    }

    pub(super) fn git_ref(&mut self, at: &str, git_ref: &str) {
        let before = self.faults.len();
        self.text(at, git_ref);
        if self.faults.len() == before && git_ref.contains(char::is_whitespace) {
            self.add(at, "a ref can't contain spaces");
        }
    }

    pub(super) fn source(&mut self, at: &str, source: &str) {
        let is_good = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
        if source.is_empty() || source.len() > 64 || !source.chars().all(is_good) {
            self.add(
                at,
                "expected a word like `push`, of letters, digits, `_` and `-`",
            );
        }
    }

    pub(super) fn user(&mut self, at: &str, user: &JobUser) {
        self.text(&path::key(at, "username"), &user.username);
    }

    pub(super) fn tags(&mut self, at: &str, tags: &[String]) {
        if tags.len() > MOST_TAGS {
            let message = format!("expected at most {MOST_TAGS} tags, found {}", tags.len());
            self.add(at, message);
        }
        for (index, tag) in tags.iter().enumerate() {
            if let Err(fault) = check_tag(tag) {
                self.add(&path::index(at, index), fault.to_string());
            }
        }
    }

    pub(super) fn variables(&mut self, at: &str, variables: &Variables) {
        let count = variables.len();
        if count > MOST_VARIABLES {
            let message = format!("expected at most {MOST_VARIABLES} variables, found {count}");
            self.add(at, message);
        }
        for (name, variable) in variables {
            let at = path::key(at, name);
            if !is_variable_name(name) {
                let message = "a name has letters, digits and `_`, and doesn't begin with a digit";
                self.add(&at, message);
            }
            if variable.value.len() > MOST_VALUE_BYTES {
                let message = format!("a value has at most {MOST_VALUE_BYTES} bytes");
                self.add(&at, message);
            } else if variable.value.contains('\0') {
                self.add(&at, "a value can't contain a NUL character");
            }
        }
    }

    pub(super) fn script(&mut self, at: &str, script: &[String]) {
        if script.len() > MOST_LINES {
            let message = format!(
                "expected at most {MOST_LINES} commands, found {}",
                script.len()
            );
            self.add(at, message);
        }
        for (index, line) in script.iter().enumerate() {
            let at = path::index(at, index);
            if line.len() > MOST_LINE_BYTES {
                let message = format!("a command has at most {MOST_LINE_BYTES} bytes");
                self.add(&at, message);
            } else if line.contains('\0') {
                self.add(&at, "a command can't contain a NUL character");
            }
        }
    }

    /// What only the runner needs.
    pub(super) fn work(&mut self, at: &str, work: &JobWork) {
        self.script(&path::key(at, "before_script"), &work.before_script);
        self.script(&path::key(at, "after_script"), &work.after_script);
        self.texts(&path::key(at, "services"), &work.services, MOST_SERVICES);
        let names = work.dependencies.iter().flatten();
        let names: Vec<String> = names.cloned().collect();
        self.texts(&path::key(at, "dependencies"), &names, MOST_PATHS);
        if let Some(artifacts) = &work.artifacts {
            let at = path::key(at, "artifacts");
            self.paths(&path::key(&at, "paths"), &artifacts.paths);
            self.paths(&path::key(&at, "exclude"), &artifacts.exclude);
            for (key, text) in [
                ("name", &artifacts.name),
                ("expire_in", &artifacts.expire_in),
            ] {
                if let Some(text) = text {
                    self.text(&path::key(&at, key), text);
                }
            }
            let expire_in = artifacts.expire_in.as_deref();
            if expire_in.is_some_and(|text| read_expiry(text).is_none()) {
                let message = "expected a time like `1 week`, or `never`";
                self.add(&path::key(&at, "expire_in"), message);
            }
        }
        if let Some(cache) = &work.cache {
            let at = path::key(at, "cache");
            self.paths(&path::key(&at, "paths"), &cache.paths);
            if let Some(key) = &cache.key {
                self.text(&path::key(&at, "key"), key);
            }
        }
    }

    fn texts(&mut self, at: &str, texts: &[String], most: usize) {
        if texts.len() > most {
            let message = format!("expected at most {most} entries, found {}", texts.len());
            self.add(at, message);
        }
        for (index, text) in texts.iter().enumerate().take(most) {
            self.text(&path::index(at, index), text);
        }
    }

    fn paths(&mut self, at: &str, paths: &[String]) {
        if paths.len() > MOST_PATHS {
            let found = paths.len();
            self.add(
                at,
                format!("expected at most {MOST_PATHS} paths, found {found}"),
            );
        }
        for (index, text) in paths.iter().enumerate().take(MOST_PATHS) {
            let at = path::index(at, index);
            if text.is_empty() || text.len() > MOST_PATH_BYTES {
                self.add(&at, format!("a path has 1 to {MOST_PATH_BYTES} bytes"));
            } else if text.contains('\0') {
                self.add(&at, "a path can't contain a NUL character");
            }
        }
    }

    pub(super) fn timeout(&mut self, at: &str, timeout: Duration) {
        if timeout.is_zero() || timeout > LONGEST_TIMEOUT {
            self.add(at, "expected more than 0s and at most 30d");
        }
    }
}

fn is_variable_name(name: &str) -> bool {
    let is_letter = |c: char| c.is_ascii_alphabetic() || c == '_';
    let is_good = |c: char| is_letter(c) || c.is_ascii_digit();
    name.len() <= MOST_NAME_BYTES && name.starts_with(is_letter) && name.chars().all(is_good)
}
