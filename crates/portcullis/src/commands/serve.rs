//! `portcullis serve`.

use std::path::{Path, PathBuf};

use clap::Args;
use portcullis_config::ConfigSource;
use portcullis_server::demonstration::Prepared;
use portcullis_server::{OnReady, Ready, RunError, RunOptions, demonstration, with_causes};
use serde_json::Value;

use super::remote::Remote;
use super::text::error;
use super::{demo, policy_worker};
use crate::arguments::{Admission, Configuration, load_options};
use crate::client::{ClientError, Secret, ServerAccess};
use crate::exit::Exit;
use crate::verbosity::Verbosity;
use crate::{colors, data_dir, output};

#[derive(Debug, Args)]
pub(crate) struct Serve {
    #[command(flatten)]
    configuration: Configuration,
    /// Run the built-in demonstration on loopback, ignoring any configuration.
    #[arg(long, conflicts_with = "config")]
    demo: bool,
    /// Data directory of the server.
    #[arg(long, value_name = "DIR", env = "PORTCULLIS_DATA_DIR")]
    data_dir: Option<PathBuf>,
    /// Directory of manifests for the graph profiles without a source of objects.
    #[arg(long, value_name = "DIR")]
    objects: Option<PathBuf>,
    #[command(flatten)]
    admission: Admission,
}

/// What the demonstration is, printed before it listens.
const DEMONSTRATION: &str = "\
Starting a demonstration: it listens on loopback only, uses built-in example policies, and prints a
token that is allowed everything. Do not use it for anything real. It sends itself example requests.
To run your own: portcullis serve --config FILE, set PORTCULLIS_CONFIG, or write ./portcullis.yaml
(portcullis init DIR makes a folder to start from).";

/// Runs the server until it is stopped.
pub(super) fn run(serve: &Serve) -> Exit {
    let file = serve.configuration.found().filter(|_| !serve.demo);
    let Some(file) = file else {
        if !serve.demo {
            error::warn(
                "no configuration found: neither --config nor PORTCULLIS_CONFIG is given, and there is no ./portcullis.yaml",
            );
        }
        output::hint(DEMONSTRATION);
        return demonstrate(serve);
    };
    match serve.data_dir.clone().map_or_else(data_dir::standard, Ok) {
        Ok(dir) => tell_outcome(run_with(serve, ConfigSource::File(&file), &dir, None)),
        Err(message) => {
            error::tell(&message);
            Exit::Usage
        }
    }
}

fn demonstrate(serve: &Serve) -> Exit {
    let fresh = match &serve.data_dir {
        Some(_) => None,
        None => match tempfile::Builder::new().prefix("portcullis-").tempdir() {
            Ok(dir) => Some(dir),
            Err(error) => {
                let why = output::reason(&error);
                error::tell(&format!("cannot create a data directory: {why}"));
                return Exit::Failed;
            }
        },
    };
    let data_dir = fresh
        .as_ref()
        .map(tempfile::TempDir::path)
        .or(serve.data_dir.as_deref());
    let data_dir = data_dir.unwrap_or(Path::new("."));
    let once = || {
        let text = demonstration::configuration(data_dir).map_err(RunError::DataDirectory)?;
        run_with(serve, ConfigSource::BuiltIn(&text), data_dir, Some(greet))
    };
    // Another program may take a port between checking and binding.
    let outcome = match once() {
        Err(RunError::Bind(_)) => once(),
        outcome => outcome,
    };
    tell_outcome(outcome)
}

fn run_with(
    serve: &Serve,
    source: ConfigSource<'_>,
    data_dir: &Path,
    on_ready: Option<OnReady>,
) -> Result<(), RunError> {
    let registry = portcullis_gate::registry();
    let known = registry.names();
    let mut load = load_options(source, &serve.admission, &known);
    load.objects.clone_from(&serve.objects);
    load.env = &variable;
    portcullis_server::run(RunOptions {
        load,
        data_dir: data_dir.to_owned(),
        is_demonstration: on_ready.is_some(),
        on_ready,
        sign_in_link: None,
        colours: colors::on_error(),
        worker: Some(policy_worker::command()),
        playground: Some(policy_worker::of_playground()),
    })
}

/// The environment, where `--quiet` and `--verbose` count more than the variable that they are another word for.
fn variable(name: &str) -> Option<String> {
    let flag = Verbosity::current().log_filter();
    match flag.filter(|_| name == portcullis_config::LOG_FILTER_VARIABLE) {
        Some(filter) => Some(filter.to_owned()),
        None => std::env::var(name).ok(),
    }
}

/// Says why a server ended, if it is worth a word.
pub(super) fn tell_outcome(outcome: Result<(), RunError>) -> Exit {
    match outcome {
        Ok(()) => Exit::Yes,
        Err(RunError::Configuration(faults)) => {
            error::faults(&faults);
            Exit::Invalid
        }
        Err(error @ RunError::Telemetry(_)) => {
            error::tell(&error.to_string());
            Exit::Invalid
        }
        Err(error) => {
            error::tell(&with_causes(&error));
            Exit::Failed
        }
    }
}

/// Says what a person who just typed `portcullis serve` wants to know, and sends examples. Requests are served meanwhile.
fn greet(ready: &Ready<'_>) {
    let address = |name: &str| {
        let found = ready.listeners.iter().find(|(n, _)| n == name);
        found.map_or(String::new(), |(_, place)| place.clone())
    };
    let greeting = Greeting {
        hooks: address("hooks"),
        ops: address("ops"),
        data_dir: ready.data_dir.to_owned(),
        token: demonstration::token(ready.data_dir).unwrap_or_default(),
        jobs: ready.demonstration.clone(),
    };
    greeting.tell();
    let begun = std::thread::Builder::new().name("demonstration".to_owned());
    if let Err(error) = begun.spawn(move || greeting.send_and_tell()) {
        let why = output::reason(&error);
        error::warn(&format!("cannot start a thread: {why}"));
    }
}

/// What is told of the demonstration.
#[derive(Debug)]
struct Greeting {
    hooks: String,
    ops: String,
    data_dir: PathBuf,
    token: String,
    jobs: Option<Prepared>,
}

impl Greeting {
    /// Tells what can be tried at once.
    fn tell(&self) {
        output::hint(&format!(
            "\nThe demonstration is running: reviews at {hooks}, health and metrics at {ops}.\n\n\
             Pages for people are at {hooks}/: sign in with this token, which is allowed everything for 8 hours.\n\n\
             {token}\n\n\
             The REST API takes the same token and is described at {hooks}/docs. Try reviews with a privileged pod:\n\n\
             {curl}\n\n\
             Decisions, and why:\n\n\
             portcullis decisions list --data-dir {data}\n\
             portcullis explain ID --data-dir {data}\n",
            hooks = self.hooks,
            ops = self.ops,
            token = self.token,
            curl = demonstration::curl(&self.hooks),
            data = self.data_dir.display(),
        ));
    }

    /// Sends examples where there are no decisions yet, and tells what can be tried then.
    fn send_and_tell(&self) {
        let access = ServerAccess {
            server: self.hooks.clone(),
            token: Some(Secret(self.token.clone())),
            ca: None,
        };
        let examples = match examples(&access) {
            Ok(None) => "Example requests were sent when it was started first.".to_owned(),
            Ok(Some(answered)) => {
                format!(
                    "It has answered {answered} example requests, so that its pages have something to show."
                )
            }
            Err(why) => format!("Example requests could not be sent: {why}"),
        };
        let jobs = self.jobs.as_ref().map(|jobs| {
            let next = next_job(&access).unwrap_or(1);
            jobs.commands(&self.hooks, &self.token, next).join("\n")
        });
        output::hint(&format!(
            "\n{examples}\n\n\
             CI jobs: submit one, see why it waits, and let it in; then send more examples. In another shell:\n\n\
             {jobs}\n\
             portcullis demo\n\n\
             To run your own: portcullis serve --config portcullis.yaml. Stop this one with Ctrl-C.\n",
            jobs = jobs.unwrap_or_default(),
        ));
    }
}

/// Sends examples if the server has no decisions yet; says how many were answered.
fn examples(access: &ServerAccess) -> Result<Option<u64>, ClientError> {
    let decisions = Remote::of(access)?.get_with(&["v1", "decisions"], &[("limit", "1")])?;
    let items = decisions.get("items").and_then(Value::as_array);
    let is_new = items.is_none_or(Vec::is_empty);
    is_new.then(|| demo::send_some(access)).transpose()
}

/// The number that the next job will have.
fn next_job(access: &ServerAccess) -> Option<u64> {
    let mut remote = Remote::of(access).ok()?;
    let jobs = remote.get_with(&["v1", "jobs"], &[("limit", "1")]).ok()?;
    let newest = jobs.pointer("/items/0/id").and_then(Value::as_u64);
    Some(newest.unwrap_or(0) + 1)
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;

    use clap::Parser;

    use super::*;
    use crate::cli::{Cli, parse};
    use crate::commands::Command;

    #[test]
    fn a_configuration_has_one_flag_in_three_spellings() {
        for spelling in [
            &["-config-file", "a.yaml"][..],
            &["-config-file=a.yaml"],
            &["--config", "a.yaml"],
            &["-c", "a.yaml"],
        ] {
            let given = ["portcullis", "serve"].iter().chain(spelling);
            let cli = parse(given.map(OsString::from)).unwrap();
            let Command::Serve(serve) = cli.command else {
                panic!("serve")
            };
            assert_eq!(serve.configuration.found(), Some(PathBuf::from("a.yaml")));
        }
    }

    #[test]
    fn a_demonstration_has_no_configuration() {
        let given = ["portcullis", "serve", "--demo", "--config", "a.yaml"];
        let error = Cli::try_parse_from(given).unwrap_err();
        assert_eq!(error.exit_code(), 2);
        assert!(error.to_string().contains("--demo"), "{error}");
    }

    #[test]
    fn plugins_are_split_at_commas() {
        let cli = Cli::try_parse_from(["portcullis", "serve", "--admission-control=A,B"]).unwrap();
        let Command::Serve(serve) = cli.command else {
            panic!("serve")
        };
        assert_eq!(
            serve.admission.admission_control,
            Some(vec!["A".into(), "B".into()])
        );
    }
}
