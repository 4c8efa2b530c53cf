//! Which configuration is used, by one rule for every command: `--config`, else `PORTCULLIS_CONFIG`,
//! else `portcullis.yaml` in the working directory.

use std::path::{Path, PathBuf};

use clap::{Args, ValueHint};

/// The variable that names it.
const VARIABLE: &str = "PORTCULLIS_CONFIG";
/// The file that is read when none is named.
const USUAL: &str = "portcullis.yaml";

/// The configuration, for commands that take one.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct Configuration {
    /// Configuration file [env: `PORTCULLIS_CONFIG`] [default: portcullis.yaml].
    #[arg(short, long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    config: Option<PathBuf>,
}

impl Configuration {
    /// For commands that define the flag themselves.
    pub(crate) fn given(config: Option<PathBuf>) -> Self {
        Self { config }
    }

    /// The file, whether it is there or not.
    pub(crate) fn file(&self) -> PathBuf {
        self.named().unwrap_or_else(|| PathBuf::from(USUAL))
    }

    /// The file, unless none is named and there is none in the working directory.
    ///
    /// A file that exists but can't be read counts: nothing else may run in its place.
    pub(crate) fn found(&self) -> Option<PathBuf> {
        let usual = || {
            let usual = Path::new(USUAL);
            usual.symlink_metadata().is_ok().then(|| usual.to_owned())
        };
        self.named().or_else(usual)
    }

    /// The file that the flag names.
    pub(crate) fn explicit(&self) -> Option<PathBuf> {
        self.config.clone()
    }

    /// The file that the flag or the environment names.
    fn named(&self) -> Option<PathBuf> {
        let variable = || std::env::var_os(VARIABLE).filter(|file| !file.is_empty());
        self.config
            .clone()
            .or_else(|| variable().map(PathBuf::from))
    }
}
