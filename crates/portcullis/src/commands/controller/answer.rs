//! `portcullis controller answer`: a person answers for a controller that pulls.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use serde_json::{Map, Value, json};

use crate::arguments::Server;
use crate::client::{ClientError, Secret};
use crate::commands::listing;
use crate::commands::remote::Remote;
use crate::output;

/// Jobs that are claimed at a time.
const MOST: usize = 100;

#[derive(Debug, Args)]
pub(super) struct Answer {
    /// The id of the controller, which must be one that pulls.
    #[arg(value_name = "ID")]
    id: u64,
    /// The id of the job.
    #[arg(value_name = "JOB")]
    job: u64,
    /// The verdict.
    #[arg(value_name = "VERDICT", value_enum)]
    verdict: Verdict,
    /// The reason, which is recorded and shown.
    #[arg(long, value_name = "TEXT")]
    reason: Option<String>,
    /// A tag to add; may be repeated.
    #[arg(long = "add-tag", value_name = "TAG")]
    add_tags: Vec<String>,
    /// A tag to remove; may be repeated.
    #[arg(long = "remove-tag", value_name = "TAG")]
    remove_tags: Vec<String>,
    /// A file with the secret of the controller.
    #[arg(long, value_name = "FILE")]
    secret_file: PathBuf,
    #[command(flatten)]
    server: Server,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Verdict {
    Accepted,
    Denied,
}

impl Verdict {
    const fn word(self) -> &'static str {
        match self {
            Self::Accepted => "accepted",
            Self::Denied => "denied",
        }
    }
}

/// Claims what waits for the controller, and answers for one of the jobs. The others are there again after its timeout.
pub(super) fn answered(answer: &Answer) -> Result<(), ClientError> {
    let secret = listing::source(&answer.secret_file)?;
    // The secret is the token of the controller.
    let server = Server {
        token: Some(Secret(secret.text().trim_end().to_owned())),
        ..answer.server.clone()
    };
    let mut server = Remote::open(&server)?;
    let path = ["v1", "controllers", &answer.id.to_string(), "claim"];
    let claimed = server.post(&path, &json!({"max": MOST}))?;
    let entries = claimed.as_array().map_or(&[][..], Vec::as_slice);
    let entry = entries.iter().find(|entry| entry["id"] == answer.job);
    let token = entry.and_then(callback_token).ok_or_else(|| {
        ClientError::NotFound(format!(
            "job {} does not wait for controller {}, or it was claimed a moment ago",
            answer.job, answer.id
        ))
    })?;
    server.post(&["v1", "admission", "callback", token], &verdict(answer))?;
    output::hint(&format!("job {} {}", answer.job, answer.verdict.word()));
    Ok(())
}

/// The last part of the URL to call back.
fn callback_token(entry: &Value) -> Option<&str> {
    entry.get("callback_url")?.as_str()?.rsplit('/').next()
}

fn verdict(answer: &Answer) -> Value {
    let mut body = Map::new();
    let mut say = |key: &str, value: Value| body.insert(key.to_owned(), value);
    say("id", json!(answer.job));
    say("admission", json!(answer.verdict.word()));
    if let Some(reason) = &answer.reason {
        say("reason", json!(reason));
    }
    if !(answer.add_tags.is_empty() && answer.remove_tags.is_empty()) {
        let tags = json!({"add": answer.add_tags, "remove": answer.remove_tags});
        say("tags", tags);
    }
    body.into()
}
