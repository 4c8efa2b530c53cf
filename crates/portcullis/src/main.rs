//! The program: reads the command line and hands over to the part that does the work.
//!
//! Standard output carries data only; what is wrong goes to standard error. Exit codes are in
//! [`exit`].

mod cli;
mod client;
mod commands;
mod data_dir;
mod exit;
mod output;
mod source;

use std::process::ExitCode;

/// Objects are trees of small pieces, which this allocator hands out faster than the system's.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    if commands::policy_worker::is_wanted(std::env::args_os()) {
        return commands::policy_worker::run().into();
    }
    let arguments = cli::arguments(std::env::args_os());
    match <cli::Cli as clap::Parser>::try_parse_from(arguments) {
        Ok(cli) => commands::run(cli).into(),
        // Prints help and version to standard output, faults to standard error with code 2.
        Err(error) => error.exit(),
    }
}
