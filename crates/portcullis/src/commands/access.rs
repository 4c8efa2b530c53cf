//! `portcullis can-i`, `who-can` and `access-matrix`: what people may do by a configuration, without a
//! server.
//!
//! ```text
//! configuration -> place (a tenant or the root) -> the engine's answer -> words | value
//! claims, parameters ----------------------------/
//! ```

mod caller;
mod can_i;
mod explained;
mod matrix;
mod place;
mod value;
mod who_can;
mod words;

#[cfg(test)]
mod sample;

pub(super) use self::place::configuration;

use portcullis_config::Faults;

use super::text::data;
use super::text::error::{faults_text, lines};
use super::text::plain::printable;
use super::text::terminal::Terminal;
use crate::cli::{AccessMatrix, CanIAction, Output, WhoCan};
use crate::client::ClientError;
use crate::exit::Exit;
use crate::output;

/// Why there is no answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Failure {
    exit: Exit,
    message: String,
}

impl Failure {
    pub(super) fn new(exit: Exit, message: impl std::fmt::Display) -> Self {
        Self {
            exit,
            message: format!("error: {message}"),
        }
    }

    /// Faults of a configuration, which say themselves where they are.
    pub(super) fn faults(faults: &Faults) -> Self {
        Self {
            exit: Exit::Invalid,
            message: faults_text(faults),
        }
    }
}

impl From<ClientError> for Failure {
    fn from(error: ClientError) -> Self {
        Self::new(error.exit(), error)
    }
}

/// Says whether somebody may do something.
pub(super) fn can_i(asked: &CanIAction) -> Exit {
    ended(can_i::run(asked))
}

/// Lists who has a permission.
pub(super) fn who_can(asked: &WhoCan) -> Exit {
    ended(
        place::read(&asked.configuration.file(), &asked.place).and_then(|place| {
            let spot = place.spot();
            place::tell_unused(asked.action, &asked.parameters);
            let parameters = spot.parameters(&asked.parameters)?;
            let holders = spot.scope.who_can(asked.action, &parameters.get());
            let anybody = spot.is_read_by_anybody(asked.action);
            let value = value::who_can(&spot, asked.action, &asked.parameters, anybody, &holders);
            let width = Terminal::of_output().width;
            output::data(&data::write(&value, asked.output, || {
                who_can::table(&holders, anybody, width)
            }));
            if !holders.is_empty() || anybody {
                return Ok(Exit::Yes);
            }
            if asked.output == Output::Table {
                output::tell("no rule grants it to anyone");
            }
            Ok(Exit::No)
        }),
    )
}

/// Shows which rule has which permissions.
pub(super) fn matrix(asked: &AccessMatrix) -> Exit {
    ended(
        place::read(&asked.configuration.file(), &asked.place).map(|place| {
            let spot = place.spot();
            let matrix = spot.scope.matrix();
            let width = Terminal::of_output().width;
            output::data(&data::write(
                &value::matrix(&spot, &matrix),
                asked.output,
                || matrix::text(&matrix, width),
            ));
            Exit::Yes
        }),
    )
}

/// Ends a command, with a word about what is wrong.
pub(super) fn ended(done: Result<Exit, Failure>) -> Exit {
    done.unwrap_or_else(|failure| {
        output::tell(&lines(&failure.message));
        failure.exit
    })
}

/// Tells something that is good to know.
pub(super) fn remark(text: &str) {
    output::tell(&format!("note: {}", printable(text)));
}
