//! `portcullis playground`: the page on which policies are tried, with nothing else.
//!
//! A server of its own on loopback, whose data directory lasts as long as it runs. A link that is valid once signs in
//! the person who follows it first.

use std::path::{Path, PathBuf};

use clap::{Args, ValueHint};
use portcullis_config::{ConfigSource, Listening};
use portcullis_server::{OnReady, Ready, RunError, RunOptions, playground_alone};

use super::text::error;
use super::{policy_worker, serve};
use crate::arguments::{Admission, load_options};
use crate::exit::Exit;
use crate::verbosity::Verbosity;
use crate::{colors, output};

/// The page that the link leads to.
const PAGE: &str = "/playground";

#[derive(Debug, Args)]
pub(crate) struct Playground {
    /// A folder of policies to begin with, at `/playground?policy=NAME`.
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath, conflicts_with = "config")]
    policies: Option<PathBuf>,
    /// A configuration whose policies, globals and limits are used, and nothing else of it.
    #[arg(short, long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    config: Option<PathBuf>,
    /// The port on loopback [default: 8787, or any other if that is in use].
    #[arg(long, value_name = "PORT")]
    port: Option<u16>,
    /// The policy to begin with.
    #[arg(long, value_name = "NAME")]
    policy: Option<String>,
    /// Do not open a browser.
    #[arg(long)]
    no_open: bool,
}

/// Serves the page until it is stopped.
pub(super) fn run(playground: &Playground) -> Exit {
    if let Err(wrong) = check(playground) {
        return wrong;
    }
    let folder = tempfile::Builder::new().prefix("portcullis-").tempdir();
    let folder = match folder {
        Ok(folder) => folder,
        Err(why) => {
            let why = output::reason(&why);
            error::tell(&format!("cannot create a data directory: {why}"));
            return Exit::Failed;
        }
    };
    // Another program may take the port between checking and binding.
    let outcome = match served(playground, folder.path()) {
        Err(RunError::Bind(_)) if playground.port.is_none() => served(playground, folder.path()),
        outcome => outcome,
    };
    let exit = serve::tell_outcome(outcome);
    if let Err(why) = folder.close() {
        error::warn(&format!(
            "cannot remove the data directory: {}",
            output::reason(&why)
        ));
    }
    exit
}

/// Checks what the page would only say later, or not at all.
fn check(playground: &Playground) -> Result<(), Exit> {
    let policies = playground.policies.as_deref();
    if let Some(folder) = policies.filter(|folder| !folder.exists()) {
        error::tell(&format!("{}: no such folder", folder.display()));
        return Err(Exit::Invalid);
    }
    let Some(wanted) = &playground.policy else {
        return Ok(());
    };
    let source = match (policies, &playground.config) {
        (Some(folder), _) => ConfigSource::Policies(folder),
        (None, Some(file)) => ConfigSource::File(file),
        (None, None) => return Err(unknown(wanted, &[])),
    };
    let registry = portcullis_gate::registry();
    let (known, admission) = (registry.names(), Admission::default());
    let mut options = load_options(source, &admission, &known);
    options.listeners = Listening::Ignored;
    // What is wrong with them is said when they are loaded.
    let Ok(loaded) = portcullis_config::load(&options) else {
        return Ok(());
    };
    let policies = loaded.policies.list.iter();
    let names: Vec<&str> = policies.map(|policy| policy.name.as_str()).collect();
    match names.contains(&wanted.as_str()) {
        true => Ok(()),
        false => Err(unknown(wanted, &names)),
    }
}

fn unknown(wanted: &str, names: &[&str]) -> Exit {
    let among = match names {
        [] => "there are no policies: give --policies DIR or --config FILE".to_owned(),
        names => format!("expected one of {}", names.join(", ")),
    };
    error::tell(&format!("unknown policy `{wanted}`: {among}"));
    Exit::Usage
}

fn served(playground: &Playground, data_dir: &Path) -> Result<(), RunError> {
    let wrong = RunError::DataDirectory;
    let policies = playground.policies.as_deref();
    // Relative paths of a built-in text are relative to the working directory, as those of flags are.
    let text =
        playground_alone::configuration(data_dir, playground.port, policies).map_err(wrong)?;
    let source = match &playground.config {
        Some(file) => ConfigSource::PoliciesOf { file, rest: &text },
        None => ConfigSource::BuiltIn(&text),
    };
    let page = match &playground.policy {
        Some(name) => format!("{PAGE}?policy={}", portcullis_core::percent::encoded(name)),
        None => PAGE.to_owned(),
    };
    let link = playground_alone::link(data_dir, &page).map_err(wrong)?;
    let on_ready: OnReady = match playground.no_open {
        true => tell,
        false => tell_and_open,
    };
    let registry = portcullis_gate::registry();
    let known = registry.names();
    let admission = Admission::default();
    let mut load = load_options(source, &admission, &known);
    load.env = &variable;
    portcullis_server::run(RunOptions {
        load,
        data_dir: data_dir.to_owned(),
        is_demonstration: false,
        on_ready: Some(on_ready),
        sign_in_link: Some(link),
        colours: colors::on_error(),
        worker: Some(policy_worker::command()),
        playground: Some(policy_worker::of_playground()),
    })
}

/// The environment; the log has warnings only, unless more is asked for.
fn variable(name: &str) -> Option<String> {
    let given = std::env::var(name).ok();
    match name == portcullis_config::LOG_FILTER_VARIABLE {
        true => {
            let flag = Verbosity::current().log_filter().map(str::to_owned);
            flag.or(given).or_else(|| Some("warn".to_owned()))
        }
        false => given,
    }
}

/// Prints the link. It is needed, so `--quiet` does not leave it out.
fn tell(ready: &Ready<'_>) {
    let link = link(ready);
    output::hint(
        "The playground is running on loopback; nothing of it is kept. Open this link, which is valid once, within 10 minutes:\n",
    );
    output::tell(&link);
    output::hint("\nStop it with Ctrl-C.");
}

fn tell_and_open(ready: &Ready<'_>) {
    tell(ready);
    if let Err(why) = crate::browser::open(&link(ready)) {
        error::warn(&format!("cannot open a browser: {why}"));
    }
}

fn link(ready: &Ready<'_>) -> String {
    let place = ready
        .listeners
        .first()
        .map_or("", |(_, place)| place.as_str());
    let path = ready.sign_in_link.as_deref().unwrap_or(PAGE);
    format!("{place}{path}")
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::variable;
    use crate::cli::Cli;

    #[test]
    fn policies_come_from_one_place() {
        let parse = |words: &[&str]| {
            let all = ["portcullis", "playground"].iter().chain(words);
            Cli::try_parse_from(all)
                .map(drop)
                .map_err(|error| error.exit_code())
        };
        assert_eq!(
            parse(&["--policies", "a", "--port", "0", "--no-open"]),
            Ok(())
        );
        assert_eq!(parse(&["-c", "a"]), Ok(()));
        for wrong in [
            &["--policies", "a", "-c", "b"][..],
            &["--port", "65536"],
            &["a"],
        ] {
            assert_eq!(parse(wrong), Err(2), "{wrong:?}");
        }
    }

    #[test]
    fn the_log_is_about_problems() {
        assert!(variable(portcullis_config::LOG_FILTER_VARIABLE).is_some());
        assert_eq!(variable("PORTCULLIS_NO_SUCH_VARIABLE"), None);
    }
}
