//! Tests of the whole path from files to [`Loaded`].

mod accepted;
mod admission;
mod form;
mod jspolicy;
mod keys;
mod kube;
mod overrides;
mod refused;
mod store;
mod texts;
mod yaml;

use std::{
    collections::HashMap,
    fs::{self, Permissions},
    os::unix::fs::PermissionsExt as _,
    path::PathBuf,
};

use tempfile::TempDir;

use super::{ConfigSource, Listening, LoadOptions, Loaded, load};
use portcullis_document::Faults;

const PLUGINS: &[&str] = &[
    "AlwaysAdmit",
    "AlwaysDeny",
    "AlwaysPullImages",
    "EventRateLimit",
    "PodSecurity",
];

/// The first two lines of most files here.
const HEAD: &str =
    "listeners:\n- {name: all, tcp: \"127.0.0.1:1\", serves: [kubernetes, health]}\n";

/// A folder with files, and what else `load` is given.
struct Setup {
    folder: TempDir,
    flag: Option<Vec<String>>,
    file_flag: Option<PathBuf>,
    env: HashMap<String, String>,
}

/// A folder in which `portcullis.yaml` holds this text.
fn setup(text: &str) -> Setup {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("portcullis.yaml"), text).unwrap();
    Setup {
        folder,
        flag: None,
        file_flag: None,
        env: HashMap::new(),
    }
}

/// The same after the first two lines that most files need.
fn with_head(text: &str) -> Setup {
    setup(&format!("{HEAD}{text}"))
}

impl Setup {
    fn file(self, name: &str, text: &str) -> Self {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        // A key that others can read causes a warning.
        if path.extension().is_some_and(|ending| ending == "key") {
            fs::set_permissions(path, Permissions::from_mode(0o600)).unwrap();
        }
        self
    }

    fn flag(mut self, names: &[&str]) -> Self {
        self.flag = Some(names.iter().map(|name| (*name).to_owned()).collect());
        self
    }

    fn file_flag(mut self, name: &str) -> Self {
        self.file_flag = Some(self.path(name));
        self
    }

    fn env(mut self, name: &str, value: &str) -> Self {
        self.env.insert(name.to_owned(), value.to_owned());
        self
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn load(&self) -> Result<Loaded, Faults> {
        load(&LoadOptions {
            source: ConfigSource::File(&self.path("portcullis.yaml")),
            admission_control: self.flag.clone(),
            admission_control_config_file: self.file_flag.clone(),
            known_plugins: PLUGINS,
            listeners: Listening::Needed,
            objects: None,
            coverage: false,
            env: &|name| self.env.get(name).cloned(),
        })
    }

    /// What was loaded, or a panic with the faults.
    fn loaded(&self) -> Loaded {
        self.load().unwrap_or_else(|faults| panic!("{faults:#}"))
    }

    /// The faults without the name of the folder, or a panic.
    fn faults(&self) -> Vec<String> {
        let faults = self.load().expect_err("the configuration was taken");
        let folder = format!("{}/", self.folder.path().display());
        faults
            .iter()
            .map(|fault| fault.to_string().replace(&folder, ""))
            .collect()
    }

    /// The only fault.
    fn fault(&self) -> String {
        let faults = self.faults();
        assert_eq!(faults.len(), 1, "{faults:#?}");
        faults.concat()
    }
}

/// The names of the plug-ins that run.
fn order(loaded: &Loaded) -> Vec<&str> {
    loaded
        .plugins
        .iter()
        .map(|plugin| plugin.name.as_str())
        .collect()
}
