//! CI jobs of the demonstration: its controllers, and the commands that let a job in.

use std::path::{Path, PathBuf};

use portcullis_ci::{CiError, ControllerDetails, PageRequest, Service};
use portcullis_jobs::{ControllerDefinition, ControllerId, JobId};
use serde_json::{Value, json};

const SECRET_FILE: &str = "demonstration-approval.secret";
/// The controller that people answer for.
const APPROVAL: &str = "approval";
/// A job, small enough for a command line.
const JOB: &str = r#"{"project": "shop/web", "name": "build", "ref": "main", "ref_protected": true, "user": {"id": 1, "username": "alice"}, "tags": ["linux"], "script": ["make"]}"#;

/// What commands about jobs name.
#[derive(Debug, Clone)]
pub struct Prepared {
    /// The controller that people answer for.
    approval: ControllerId,
    /// Where its secret is.
    secret_file: PathBuf,
}

/// Adds the controllers, unless they are there.
///
/// # Errors
///
/// When the store doesn't answer, or the secret can't be stored.
pub(crate) async fn prepare(jobs: &Service, data_dir: &Path) -> Result<Prepared, String> {
    let secret_file = data_dir.join(SECRET_FILE);
    let mut approval = None;
    for body in controllers() {
        let definition = ControllerDefinition::read(&body).map_err(|faults| {
            let faults: Vec<String> = faults.iter().map(ToString::to_string).collect();
            faults.join("; ")
        })?;
        let name = definition.name.clone();
        let id = match jobs.add_controller(definition).await {
            Ok(created) => {
                if name == APPROVAL {
                    store(&secret_file, &created.secret)?;
                }
                Some(created.controller.id)
            }
            Err(CiError::Conflict(_)) => found(jobs, &name).await?.map(|one| one.id),
            Err(error) => return Err(error.to_string()),
        };
        approval = id.filter(|_| name == APPROVAL).or(approval);
    }
    Ok(Prepared {
        approval: approval.ok_or_else(|| format!("there is no controller `{APPROVAL}`"))?,
        secret_file,
    })
}

/// One that changes tags or denies, in this process; one that waits for an answer about jobs of the shop.
fn controllers() -> [Value; 2] {
    let code = "if (object.ref === 'frozen') deny('this branch is frozen')\nobject.tags.push('eu')";
    [
        json!({"name": "zones", "level": "project", "path": "shop/web", "kind": "mutating",
            "policy": {"code": code}}),
        json!({"name": APPROVAL, "level": "instance", "kind": "validating", "pull": true,
            "match": {"projects": ["shop/*"]}}),
    ]
}

async fn found(jobs: &Service, name: &str) -> Result<Option<ControllerDetails>, String> {
    let page = jobs.controllers(PageRequest::default()).await;
    let items = page.map_err(|error| error.to_string())?.items;
    Ok(items.into_iter().find(|one| one.definition.name == name))
}

/// Stores the secret of a new controller; one that is there belongs to another.
fn store(file: &Path, secret: &str) -> Result<(), String> {
    let wrong = |error: std::io::Error| format!("`{}`: {error}", file.display());
    match std::fs::remove_file(file) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(wrong(error)),
        _ => {}
    }
    portcullis_files::create_private(file, secret.as_bytes())
        .map(drop)
        .map_err(wrong)
}

impl Prepared {
    /// Command lines for a shell: submit a job, show why it waits, let it in. The job will have this number.
    pub fn commands(&self, address: &str, token: &str, next_job: JobId) -> [String; 3] {
        let Self {
            approval,
            secret_file,
        } = self;
        let secret_file = quoted(&secret_file.display().to_string());
        [
            format!(
                "export PORTCULLIS_SERVER={address} PORTCULLIS_TOKEN={token}; echo '{JOB}' | portcullis job submit -"
            ),
            format!("portcullis job why {next_job}"),
            format!(
                "portcullis controller answer {approval} {next_job} accepted --secret-file {secret_file}"
            ),
        ]
    }
}

/// A word for a shell.
fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "/._-".contains(c);
    match word.chars().all(is_plain) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', r"'\''")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_stay_words() {
        assert_eq!(quoted("/tmp/a-b_1.c"), "/tmp/a-b_1.c");
        assert_eq!(quoted("/a b"), "'/a b'");
        assert_eq!(quoted("it's"), r"'it'\''s'");
    }
}
