//! `portcullis init`: writes a folder to start from.

use std::fmt;
use std::fs;
use std::io::{self, Write};
use std::path::{Component, Path, PathBuf};

use clap::{Args, ValueEnum};

use super::documents::SchemaOf;
use super::text::error;
use crate::exit::Exit;
use crate::output;

#[derive(Debug, Args)]
pub(crate) struct Init {
    /// The folder to write; existing files are not overwritten.
    #[arg(value_name = "DIR")]
    folder: PathBuf,
    /// What the policies apply to.
    #[arg(long, value_enum, default_value_t = Template::Kubernetes)]
    template: Template,
}

/// What the policies of a starter folder judge.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Template {
    /// Objects of Kubernetes.
    Kubernetes,
    /// CI jobs.
    Ci,
}

/// Writes the folder, or nothing.
pub(super) fn run(init: &Init) -> Exit {
    if init.folder.exists() && !init.folder.is_dir() {
        error::tell(&format!("{} is not a directory", init.folder.display()));
        return Exit::Usage;
    }
    let files = files_of(init.template);
    let there: Vec<String> = files
        .clone()
        .map(|(name, _)| init.folder.join(name))
        .filter(|path| path.symlink_metadata().is_ok())
        .map(|path| path.display().to_string())
        .collect();
    if !there.is_empty() {
        error::tell(&format!(
            "nothing was written, because these exist already: {}",
            there.join(", ")
        ));
        return Exit::Usage;
    }
    let mut written = CreatedFiles::default();
    for (name, text) in files {
        let path = init.folder.join(name);
        if let Err(error) = written.write(&path, &text.to_string()) {
            let (path, why) = (path.display(), output::reason(&error));
            error::tell(&format!("cannot write {path}: {why}"));
            written.undo();
            return Exit::Failed;
        }
    }
    tell(init);
    Exit::Yes
}

fn tell(init: &Init) {
    let folder = quoted(&init.folder.to_string_lossy());
    let is_here = init
        .folder
        .components()
        .all(|part| part == Component::CurDir);
    let (written, enter) = match is_here {
        true => ("the files".to_owned(), String::new()),
        false => (folder.clone(), format!("  cd {folder}\n")),
    };
    let manifests = match init.template {
        Template::Kubernetes => "tests/pods",
        Template::Ci => "tests/jobs",
    };
    output::hint(&format!(
        "Wrote {written}. Next:\n\n{enter}  portcullis test --coverage\n  \
         portcullis eval -f {manifests} --config portcullis.yaml"
    ));
}

/// A word as a shell reads it.
fn quoted(text: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "/._-+,@%:=".contains(c);
    match !text.is_empty() && text.chars().all(is_plain) {
        true => text.to_owned(),
        false => format!("'{}'", text.replace('\'', r"'\''")),
    }
}

/// What was written so far, to take it back if the rest can't be.
#[derive(Debug, Default)]
struct CreatedFiles {
    files: Vec<PathBuf>,
    folders: Vec<PathBuf>,
}

impl CreatedFiles {
    fn write(&mut self, path: &Path, text: &str) -> io::Result<()> {
        if let Some(folder) = path.parent() {
            self.make_folder(folder)?;
        }
        let mut file = fs::File::create_new(path)?;
        self.files.push(path.to_owned());
        file.write_all(text.as_bytes())
    }

    fn make_folder(&mut self, folder: &Path) -> io::Result<()> {
        if folder.as_os_str().is_empty() || folder.is_dir() {
            return Ok(());
        }
        if let Some(above) = folder.parent() {
            self.make_folder(above)?;
        }
        fs::create_dir(folder)?;
        self.folders.push(folder.to_owned());
        Ok(())
    }

    fn undo(&self) {
        for file in &self.files {
            let _ = fs::remove_file(file);
        }
        for folder in self.folders.iter().rev() {
            let _ = fs::remove_dir(folder);
        }
    }
}

/// A file: its path in the folder, and its text.
type File = (&'static str, Text);

/// What is in a file.
#[derive(Debug, Clone, Copy)]
enum Text {
    Template(&'static str),
    Schema(SchemaOf),
}

impl fmt::Display for Text {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Template(text) => formatter.write_str(text),
            Self::Schema(of) => formatter.write_str(&of.text()),
        }
    }
}

macro_rules! files {
    ($folder:literal: $($name:literal),+ $(,)?) => {
        &[$((
            $name,
            Text::Template(include_str!(concat!("../../templates/", $folder, "/", $name))),
        )),+]
    };
}

const COMMON: &[File] = &[
    (
        "tsconfig.json",
        Text::Template(include_str!("../../templates/common/tsconfig.json")),
    ),
    (
        "policies/portcullis.d.ts",
        Text::Template(include_str!("../../templates/common/portcullis.d.ts")),
    ),
    (
        ".vscode/settings.json",
        Text::Template(include_str!("../../templates/common/settings.json")),
    ),
    (
        ".vscode/extensions.json",
        Text::Template(include_str!("../../templates/common/extensions.json")),
    ),
    (
        "schemas/configuration.json",
        Text::Schema(SchemaOf::Configuration),
    ),
    ("schemas/policies.json", Text::Schema(SchemaOf::Policies)),
    ("schemas/tests.json", Text::Schema(SchemaOf::Tests)),
];

const KUBERNETES: &[File] = files!("kubernetes":
    "portcullis.yaml",
    "README.md",
    "policies/image-tags.ts",
    "policies/owner-label.ts",
    "policies/resource-limits.js",
    "policies/lib/pods.ts",
    "tests/pods/web.yaml",
    "tests/pods.test.yaml",
    "tests/images.test.ts",
);

const CI: &[File] = files!("ci":
    "portcullis.yaml",
    "README.md",
    "policies/protected-production.ts",
    "policies/route-builds.ts",
    "policies/lib/jobs.ts",
    "tests/jobs/build.yaml",
    "tests/jobs.test.yaml",
    "tests/jobs.test.ts",
);

/// All files of a starter folder.
fn files_of(template: Template) -> impl Iterator<Item = File> + Clone {
    let own = match template {
        Template::Kubernetes => KUBERNETES,
        Template::Ci => CI,
    };
    own.iter().chain(COMMON).copied()
}
