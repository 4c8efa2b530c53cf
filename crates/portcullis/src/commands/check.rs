//! `portcullis check`.

use portcullis_server::config::ConfigSource;

use super::load_options;
use crate::cli::Check;
use crate::exit::Exit;
use crate::output;

/// Validates a configuration whole.
pub(super) fn run(check: &Check) -> Exit {
    let registry = portcullis_server::registry();
    let known = registry.names();
    let source = ConfigSource::File(&check.configuration.file);
    match portcullis_server::check(&load_options(source, &check.admission, &known)) {
        Ok(warnings) => {
            warnings
                .iter()
                .for_each(|w| output::tell(&format!("warning: {w}")));
            output::tell(&format!("{} is valid", check.configuration.file.display()));
            Exit::Yes
        }
        Err(faults) => {
            output::tell(&format!("{faults:#}"));
            Exit::Invalid
        }
    }
}
