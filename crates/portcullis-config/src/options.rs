//! What to load, and what overrides it.

use std::fmt;
use std::path::{Path, PathBuf};

/// Where the configuration comes from.
#[derive(Debug, Clone, Copy)]
pub enum ConfigSource<'a> {
    /// A file.
    File(&'a Path),
    /// Only the policies of this folder; what none of them judges is allowed.
    Policies(&'a Path),
    /// The policies of this file, and a text of the program's own for everything else.
    PoliciesOf {
        /// The configuration whose policies, with what they need, are taken.
        file: &'a Path,
        /// A text as for [`ConfigSource::BuiltIn`].
        rest: &'a str,
    },
    /// A text of the program's own; its relative paths are relative to the working directory.
    BuiltIn(&'a str),
}

/// Whether something will be served.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Listening {
    /// At least one listener is needed.
    Needed,
    /// Listeners are checked; having none is odd, but not wrong.
    Optional,
    /// Listeners are read, but not checked and not needed.
    Ignored,
}

/// What to load, and what overrides it.
#[derive(Clone)]
pub struct LoadOptions<'a> {
    /// The configuration.
    pub source: ConfigSource<'a>,
    /// `--admission-control`, already split at the commas: wins over everything.
    pub admission_control: Option<Vec<String>>,
    /// `--admission-control-config-file`: wins over `admission.configFile`.
    pub admission_control_config_file: Option<PathBuf>,
    /// The names of the plug-ins that exist.
    pub known_plugins: &'a [&'a str],
    /// Whether something will be served.
    pub listeners: Listening,
    /// `--objects`: the directory of the graph profiles that name no source.
    pub objects: Option<PathBuf>,
    /// Policies are to say which of their lines ran.
    pub coverage: bool,
    /// Looks up an environment variable.
    pub env: &'a (dyn Fn(&str) -> Option<String> + Send + Sync),
}

impl fmt::Debug for LoadOptions<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("LoadOptions")
            .field("source", &self.source)
            .field("admission_control", &self.admission_control)
            .field(
                "admission_control_config_file",
                &self.admission_control_config_file,
            )
            .field("known_plugins", &self.known_plugins)
            .field("listeners", &self.listeners)
            .field("objects", &self.objects)
            .field("coverage", &self.coverage)
            .finish_non_exhaustive()
    }
}

impl LoadOptions<'_> {
    /// A variable that is set to something.
    pub(crate) fn variable(&self, name: &str) -> Option<String> {
        (self.env)(name).filter(|value| !value.trim().is_empty())
    }
}
