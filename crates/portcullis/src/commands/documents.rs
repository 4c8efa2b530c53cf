//! Output generated from the program's own definitions: completions, manual page, schema, version. The
//! definition of the whole command line is passed in: commands do not know it.

mod manual;

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum, ValueHint};
use serde_json::json;

use super::text::data::Output;
use super::text::{data, error};
use crate::exit::Exit;
use crate::{completion, output};

#[derive(Debug, Args)]
pub(crate) struct Completions {
    /// The shell.
    shell: clap_complete::Shell,
}

#[derive(Debug, Args)]
pub(crate) struct Manual {
    /// Write each page to a file of this directory, like `portcullis-eval.1`, instead of printing all of them.
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    dir: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct Version {
    /// Output format.
    #[arg(short, long, value_enum, default_value_t = Output::Table)]
    output: Output,
}

#[derive(Debug, Args)]
pub(crate) struct Schema {
    /// What the schema describes.
    #[arg(value_enum, value_name = "FILE", default_value_t = SchemaOf::Configuration)]
    of: SchemaOf,
}

/// A kind of file that people write.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum SchemaOf {
    /// The configuration, `portcullis.yaml`.
    Configuration,
    /// Lists of policies in a folder of policies, `*.yaml`.
    Policies,
    /// Test cases, `*.test.yaml`.
    Tests,
}

/// `portcullis completions SHELL`.
pub(super) fn completions(completions: &Completions) -> Exit {
    // The program is found in the path if that is how it was called.
    let called = std::env::args_os()
        .next()
        .unwrap_or_else(|| "portcullis".into());
    let called = match Path::new(&called).components().count() {
        0 | 1 => called,
        _ => std::env::current_exe().map_or(called, Into::into),
    };
    output::bytes(&completion::script(completions.shell, &called));
    Exit::Yes
}

#[cfg(test)]
pub(in crate::commands) use self::manual::pages;

/// `portcullis man`.
pub(super) fn man(manual: &Manual, program: clap::Command) -> Exit {
    let failed = |place: &Path, why: &std::io::Error| {
        let why = output::reason(why);
        error::tell(&format!("cannot write {}: {why}", place.display()));
        Exit::Failed
    };
    let pages = match manual::pages(program) {
        Ok(pages) => pages,
        Err(why) => return failed(Path::new("the manual"), &why),
    };
    let Some(dir) = &manual.dir else {
        for page in pages {
            output::bytes(&page.text);
        }
        return Exit::Yes;
    };
    if let Err(why) = std::fs::create_dir_all(dir) {
        return failed(dir, &why);
    }
    for page in pages {
        let file = dir.join(format!("{}.1", page.title));
        if let Err(why) = std::fs::write(&file, page.text) {
            return failed(&file, &why);
        }
    }
    Exit::Yes
}

/// `portcullis schema`.
pub(super) fn schema(schema: &Schema) -> Exit {
    output::data(&schema.of.text());
    Exit::Yes
}

impl SchemaOf {
    /// The schema as a file has it.
    pub(super) fn text(self) -> String {
        let schema = match self {
            Self::Configuration => portcullis_config::json_schema(),
            Self::Policies => portcullis_config::policies_schema(),
            Self::Tests => portcullis_gate::offline::tests_schema(),
        };
        format!("{schema:#}\n")
    }
}

/// `portcullis version`. The commit is known if it was set at build time, as `make build` does.
pub(super) fn version(version: &Version) -> Exit {
    let value = json!({
        "name": "portcullis",
        "version": env!("CARGO_PKG_VERSION"),
        "commit": option_env!("PORTCULLIS_COMMIT"),
        "date": option_env!("PORTCULLIS_COMMIT_DATE"),
    });
    output::data(&data::write(&value, version.output, || {
        concat!("portcullis ", env!("CARGO_PKG_VERSION"), "\n").to_owned()
    }));
    Exit::Yes
}
