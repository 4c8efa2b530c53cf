//! The program: parses the command line and runs the command.
//!
//! Standard output carries data only; errors go to standard error. Exit codes are in
//! [`exit`]; output that could not be written is one of them.

mod arguments;
mod browser;
mod cli;
mod client;
mod colors;
mod commands;
mod completion;
mod contexts;
mod data_dir;
mod examples;
mod exit;
mod groups;
mod output;
mod secret;
mod source;
mod verbosity;

use std::process::ExitCode;
use std::sync::Arc;

use crate::exit::Exit;

/// Objects are trees of small pieces, which this allocator hands out faster than the system's.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    if commands::policy_worker::is_wanted(std::env::args_os()) {
        return commands::policy_worker::run().into();
    }
    // Libraries without an explicit cryptography provider use this one. It only fails if one is installed.
    let _ = Arc::unwrap_or_clone(portcullis_net::provider()).install_default();
    if let Some(candidates) = completion::answer(std::env::args_os(), cli::program) {
        output::bytes(&candidates);
        return Exit::Yes.into();
    }
    let exit = match cli::parse(std::env::args_os()) {
        Ok(cli) => commands::run(cli.command, cli::program),
        Err(error) => output::of_clap(&error),
    };
    output::ended(exit).into()
}
