//! Which plug-ins run.

use std::path::PathBuf;

use clap::Args;
use portcullis_config::{ConfigSource, Listening, LoadOptions};

use crate::output;

/// Which plug-ins run, for every command that needs a chain.
#[derive(Debug, Default, Args)]
pub(crate) struct Admission {
    /// Plug-ins, in the order in which they run; overrides the configuration.
    #[arg(long, value_name = "A,B,C", value_delimiter = ',')]
    pub(crate) admission_control: Option<Vec<String>>,
    /// Configuration of plug-ins, in the format of Kubernetes' `AdmissionConfiguration`.
    #[arg(long, value_name = "FILE")]
    pub(crate) admission_control_config_file: Option<PathBuf>,
}

/// What to load, with the flags that go over it.
pub(crate) fn load_options<'a>(
    source: ConfigSource<'a>,
    admission: &Admission,
    known_plugins: &'a [&'a str],
) -> LoadOptions<'a> {
    output::detail(|| match source {
        ConfigSource::File(file) => format!("using the configuration {}", file.display()),
        ConfigSource::Policies(folder) => format!("using the policies in {}", folder.display()),
        ConfigSource::PoliciesOf { file, .. } => {
            format!("using the policies of {}", file.display())
        }
        ConfigSource::BuiltIn(_) => "using the built-in configuration".to_owned(),
    });
    LoadOptions {
        source,
        admission_control: admission.admission_control.clone(),
        admission_control_config_file: admission.admission_control_config_file.clone(),
        known_plugins,
        listeners: Listening::Needed,
        objects: None,
        coverage: false,
        env: &|name| std::env::var(name).ok(),
    }
}
