//! `portcullis serve`.

use std::path::Path;

use portcullis_server::config::ConfigSource;
use portcullis_server::{OnReady, RunError, RunOptions, demonstration, with_causes};

use super::load_options;
use crate::cli::Serve;
use crate::data_dir;
use crate::exit::Exit;
use crate::output;

/// Runs the gate until told to end.
pub(super) fn run(serve: &Serve) -> Exit {
    match &serve.config {
        Some(file) => {
            let given = serve.data_dir.clone();
            match given.map_or_else(data_dir::standard, Ok) {
                Ok(dir) => tell_outcome(run_with(serve, ConfigSource::File(file), &dir, None)),
                Err(message) => {
                    output::tell(&format!("error: {message}"));
                    Exit::Usage
                }
            }
        }
        None => demonstrate(serve),
    }
}

fn demonstrate(serve: &Serve) -> Exit {
    let fresh = match &serve.data_dir {
        Some(_) => None,
        None => match tempfile::Builder::new().prefix("portcullis-").tempdir() {
            Ok(dir) => Some(dir),
            Err(error) => {
                output::tell(&format!("error: no fresh data directory: {error}"));
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
    // Somebody else may take a port between looking and binding.
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
    let registry = portcullis_server::registry();
    let known = registry.names();
    let mut load = load_options(source, &serve.admission, &known);
    load.objects.clone_from(&serve.objects);
    portcullis_server::run(RunOptions {
        load,
        data_dir: data_dir.to_owned(),
        on_ready,
    })
}

fn tell_outcome(outcome: Result<(), RunError>) -> Exit {
    match outcome {
        Ok(()) => Exit::Yes,
        Err(RunError::Configuration(faults)) => {
            output::tell(&format!("{faults:#}"));
            Exit::Invalid
        }
        Err(error @ RunError::Telemetry(_)) => {
            output::tell(&format!("error: {error}"));
            Exit::Invalid
        }
        Err(error) => {
            output::tell(&format!("error: {}", with_causes(&error)));
            Exit::Failed
        }
    }
}

/// What a person who just typed `portcullis serve` wants to know.
fn greet(listeners: &[(String, String)], data_dir: &Path) {
    let address = |name: &str| {
        let found = listeners.iter().find(|(n, _)| n == name);
        found.map_or("", |(_, place)| place.as_str())
    };
    output::tell(&format!(
        "\nA demonstration gate is running: reviews at {hooks}, health and metrics at {ops}.\n\
         Try it with a privileged pod:\n\n{curl}\n\n\
         What was decided, and why:\n\n\
         portcullis decisions list --data-dir {data}\n\
         portcullis explain ID --data-dir {data}\n\n\
         The REST API is described at {hooks}/docs. A token for everything, good for 8 hours:\n\n\
         {token}\n\n\
         Your own: portcullis serve --config portcullis.yaml. End this one with Ctrl-C.\n",
        hooks = address("hooks"),
        ops = address("ops"),
        curl = demonstration::curl(address("hooks")),
        data = data_dir.display(),
        token = demonstration::token(data_dir).unwrap_or_default(),
    ));
}
