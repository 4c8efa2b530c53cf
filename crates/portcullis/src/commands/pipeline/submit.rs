//! Submitting a pipeline, and showing what became of it.

use std::path::PathBuf;
use std::sync::Arc;

use clap::Args;
use portcullis_document::Source;
use portcullis_jobs::{DEFAULT_PIPELINE, JobUser, PipelineOrigin, read_ci_file};
use serde_json::Value;

use crate::arguments::Server;
use crate::client::ClientError;
use crate::commands::listing;
use crate::commands::remote::Remote;
use crate::commands::text::columns;
use crate::commands::text::data::{self, Output};
use crate::commands::text::terminal::Terminal;
use crate::output;

#[derive(Debug, Args)]
pub(super) struct Submit {
    /// A CI file like .gitlab-ci.yml, or a pipeline in JSON or YAML; `-` reads standard input.
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// The project, for a CI file.
    #[arg(long, value_name = "PROJECT")]
    project: Option<String>,
    /// The branch or tag, for a CI file.
    #[arg(long = "ref", value_name = "REF", default_value = "main")]
    reference: String,
    /// The ref is protected.
    #[arg(long)]
    protected: bool,
    /// The name of the pipeline, like check.
    #[arg(long, value_name = "NAME", default_value = DEFAULT_PIPELINE)]
    name: String,
    /// The change it is for, like 12,1.
    #[arg(long, value_name = "CHANGE")]
    change: Option<String>,
    /// What caused it, like push.
    #[arg(long, value_name = "SOURCE", default_value = "api")]
    source: String,
    /// The name of the user it runs for.
    #[arg(long, value_name = "USER", env = "USER", default_value = "nobody")]
    user: String,
    /// The number of the user it runs for.
    #[arg(long, value_name = "N", default_value_t = 1)]
    user_id: u64,
    /// Output format.
    #[arg(short, long, value_enum, default_value_t = Output::Table)]
    output: Output,
    #[command(flatten)]
    server: Server,
}

#[derive(Debug, Args)]
pub(super) struct Show {
    /// The id of the pipeline.
    #[arg(value_name = "ID")]
    id: u64,
    /// Output format.
    #[arg(short, long, value_enum, default_value_t = Output::Table)]
    output: Output,
    #[command(flatten)]
    server: Server,
}

/// `portcullis pipeline submit`
pub(super) fn submitted(submit: &Submit) -> Result<(), ClientError> {
    let source = listing::source(&submit.file)?;
    let value = listing::value(&source)?;
    let body = match value.get("jobs").is_some_and(Value::is_array) {
        true => value,
        false => of_ci_file(submit, &source)?,
    };
    let mut server = Remote::open(&submit.server)?;
    let pipeline = server.post(&["v1", "pipelines"], &body);
    told(&pipeline.map_err(listing::of_file)?, submit.output);
    Ok(())
}

/// `portcullis pipeline show`
pub(super) fn shown(show: &Show) -> Result<(), ClientError> {
    let mut server = Remote::open(&show.server)?;
    let pipeline = server.get(&["v1", "pipelines", &show.id.to_string()])?;
    told(&pipeline, show.output);
    Ok(())
}

/// The body of the call, from a CI file and the command line.
fn of_ci_file(submit: &Submit, source: &Arc<Source>) -> Result<Value, ClientError> {
    let Some(project) = submit.project.clone() else {
        let message = "a CI file does not name its project: use --project PROJECT";
        return Err(ClientError::Usage(message.to_owned()));
    };
    let origin = PipelineOrigin {
        project,
        name: submit.name.clone(),
        git_ref: submit.reference.clone(),
        ref_protected: submit.protected,
        change: submit.change.clone(),
        source: submit.source.clone(),
        user: JobUser {
            id: submit.user_id,
            username: submit.user.clone(),
        },
    };
    let read = read_ci_file(source, origin);
    let defined = read.map_err(|faults| ClientError::Location(faults.to_string()))?;
    let written = serde_json::to_value(&defined);
    let mut body = written.map_err(|error| ClientError::Location(error.to_string()))?;
    // The server adds the outer stages, and what jobs have of their pipeline.
    if let Some(stages) = body.get_mut("stages").and_then(Value::as_array_mut) {
        stages.retain(|stage| stage != ".pre" && stage != ".post");
    }
    let jobs = body.get_mut("jobs").and_then(Value::as_array_mut);
    for job in jobs.into_iter().flatten() {
        if let Some(members) = job.as_object_mut() {
            for key in ["project", "ref", "ref_protected", "source", "user"] {
                members.remove(key);
            }
        }
    }
    Ok(body)
}

fn told(pipeline: &Value, output: Output) {
    output::data(&data::write(pipeline, output, || {
        let fields = [
            ("pipeline", "id"),
            ("project", "project"),
            ("ref", "ref"),
            ("status", "status"),
        ];
        let fields = fields.map(|(name, key)| (name, listing::text(pipeline, key)));
        let jobs = pipeline.get("jobs").and_then(Value::as_array);
        let columns = [
            ("ID", "id"),
            ("STAGE", "stage"),
            ("NAME", "name"),
            ("STATUS", "status"),
        ];
        let jobs = jobs.into_iter().flatten();
        let rows: Vec<_> = jobs.map(|job| listing::row(job, &columns)).collect();
        let terminal = Terminal::of_output();
        let table = columns::table(&columns.map(|(name, _)| name), &rows, terminal);
        format!("{}\n{table}", columns::fields(&fields, terminal))
    }));
}
