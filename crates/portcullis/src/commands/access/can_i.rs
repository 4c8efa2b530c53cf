//! `portcullis can-i ACTION`.

use portcullis_roles::Answer;

use super::caller::Caller;
use super::{Failure, explained, place, value, words};
use crate::cli::CanIAction;
use crate::commands::text::data;
use crate::commands::text::plain::printable;
use crate::commands::text::terminal::Terminal;
use crate::exit::Exit;
use crate::output;

/// Asks the engine, and prints its answer.
pub(super) fn run(asked: &CanIAction) -> Result<Exit, Failure> {
    let place = place::read(&asked.configuration.file(), &asked.place)?;
    let spot = place.spot();
    let caller = Caller::of(&asked.who, &place.configuration.authenticators)?;
    place::tell_unused(asked.action, &asked.parameters);
    let parameters = spot.parameters(&asked.parameters)?;
    let explanation = spot
        .scope
        .explain(caller.identity(), asked.action, &parameters.get());
    let is_yes = matches!(explanation.answer, Answer::Allowed(_));
    let line = words::answer(&explanation, asked.action, &caller);
    let terminal = Terminal::of_output();
    let value = value::can_i(&spot, asked, &caller, &explanation, &line);
    output::data(&data::write(&value, asked.output, || {
        let mut text = terminal.answer(&printable(&line), is_yes);
        text.push('\n');
        if asked.explain {
            text.push('\n');
            text.push_str(&explained::text(
                &explanation,
                asked.action,
                &parameters.get(),
                &caller,
                spot.scope.anonymous_read(),
                terminal,
            ));
        }
        text
    }));
    Ok(match is_yes {
        true => Exit::Yes,
        false => Exit::No,
    })
}
