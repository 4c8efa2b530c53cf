//! Output generated from the program's own definitions: completions, manual page, schema, version. The
//! definition of the whole command line is passed in: commands do not know it.

use std::io;

use clap::Args;
use serde_json::json;

use super::text::data;
use super::text::data::Output;
use crate::exit::Exit;
use crate::output;

#[derive(Debug, Args)]
pub(crate) struct Completions {
    /// The shell.
    shell: clap_complete::Shell,
}

#[derive(Debug, Args)]
pub(crate) struct Version {
    /// Output format.
    #[arg(short, long, value_enum, default_value_t = Output::Table)]
    output: Output,
}

/// `portcullis completions SHELL`.
pub(super) fn completions(completions: &Completions, program: clap::Command) -> Exit {
    output::data(&String::from_utf8_lossy(&script(
        completions.shell,
        program,
    )));
    Exit::Yes
}

/// What a shell reads to complete command lines.
pub(super) fn script(shell: clap_complete::Shell, mut program: clap::Command) -> Vec<u8> {
    let mut text = Vec::new();
    clap_complete::generate(shell, &mut program, "portcullis", &mut text);
    text
}

/// `portcullis man`.
pub(super) fn man(program: clap::Command) -> Exit {
    match pages(program) {
        Ok(text) => {
            output::data(&String::from_utf8_lossy(&text));
            Exit::Yes
        }
        Err(_) => Exit::Failed,
    }
}

/// The manual: one page for the program, then one for each command.
pub(super) fn pages(mut program: clap::Command) -> io::Result<Vec<u8>> {
    program.build();
    let mut text = Vec::new();
    let mut pages = vec![&program];
    let mut next = 0;
    while let Some(page) = pages.get(next).copied() {
        pages.extend(page.get_subcommands().filter(|c| c.get_name() != "help"));
        next += 1;
    }
    for page in pages {
        let title = page.get_display_name().unwrap_or("portcullis").to_owned();
        let page = clap_mangen::Man::new(page.clone().display_name(title));
        page.render(&mut text)?;
    }
    Ok(text)
}

/// `portcullis schema`.
pub(super) fn schema() -> Exit {
    let schema = portcullis_config::json_schema();
    output::data(&format!("{schema:#}\n"));
    Exit::Yes
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
