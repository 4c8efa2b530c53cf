//! `portcullis demo`: sends example requests to a server, so that its lists and pages have something to show.
//!
//! It is a client like any other: what it sends is judged, recorded and answered as requests of clusters and CI systems are. `serve`
//! sends the same once when it runs the demonstration.

mod answer;
mod objects;
mod pace;
mod requests;
mod tally;

use std::time::Duration;

use clap::Args;
use portcullis_core::clock::Stopwatch;
use serde_json::json;

use self::answer::{Came, read};
use self::pace::{Pace, pace};
use self::requests::{Example, Examples};
use self::tally::Tally;
use super::text::data::{self, Output};
use super::text::plain::printable;
use super::text::terminal::Terminal;
use super::text::{error, json, yaml};
use crate::arguments::Server;
use crate::client::{Client, ClientError, ServerAccess};
use crate::exit::Exit;
use crate::output;

/// Requests that are sent unless another number is given; what `serve` sends to its demonstration.
const COUNT: u64 = 40;

#[derive(Debug, Args)]
pub(crate) struct Demo {
    /// The number of requests to send.
    #[arg(short = 'n', long, value_name = "N", default_value_t = COUNT, value_parser = clap::value_parser!(u64).range(1..))]
    count: u64,
    /// The most requests in a time: `5/s`, `90/m`.
    #[arg(long, value_name = "RATE", default_value = "5/s", value_parser = pace)]
    rate: Pace,
    /// Send requests until stopped, and print a line about each.
    #[arg(short, long, conflicts_with = "count")]
    follow: bool,
    /// Output format; with --follow, json prints one document per line.
    #[arg(short, long, value_enum, default_value_t = Output::Table)]
    output: Output,
    #[command(flatten)]
    server: Server,
}

/// Sends examples, and says what came back.
pub(super) fn run(demo: &Demo) -> Exit {
    match sent(demo) {
        Ok(exit) => exit,
        Err(why) => {
            error::tell(&why.to_string());
            why.exit()
        }
    }
}

fn sent(demo: &Demo) -> Result<Exit, ClientError> {
    let access = ServerAccess::required(
        demo.server.server.as_deref(),
        demo.server.token.as_ref(),
        demo.server.ca.as_ref(),
    )?;
    let has_token = access.token.is_some();
    if !has_token {
        error::warn("no token given: calls of the API and CI jobs are left out");
    }
    let mut client = Client::new(&access)?;
    let count = if demo.follow { u64::MAX } else { demo.count };
    let examples = Examples::new(has_token).take(usize::try_from(count).unwrap_or(usize::MAX));
    let each = |example: &Example, came: &Result<Came, ClientError>| match demo.follow {
        true => output::piece(&line(example, came, demo.output)),
        false => true,
    };
    let tally = send(&mut client, examples, Some(demo.rate.between()), each)?;
    if !demo.follow {
        output::data(&data::write(&tally.value(), demo.output, || {
            tally.table(Terminal::of_output())
        }));
    }
    for why in tally.faults() {
        error::tell(why);
    }
    Ok(tally.exit())
}

/// Sends some examples at once, as a demonstration begins, and says how many were answered.
pub(super) fn send_some(access: &ServerAccess) -> Result<u64, ClientError> {
    let mut client = Client::new(access)?;
    let count = usize::try_from(COUNT).unwrap_or(usize::MAX);
    let examples = Examples::new(access.token.is_some()).take(count);
    Ok(send(&mut client, examples, None, |_, _| true)?.answered())
}

/// Sends examples one after the other, until there are no more or `each` says that it is enough.
fn send(
    client: &mut Client,
    examples: impl Iterator<Item = Example>,
    between: Option<Duration>,
    mut each: impl FnMut(&Example, &Result<Came, ClientError>) -> bool,
) -> Result<Tally, ClientError> {
    let mut tally = Tally::default();
    let clock = Stopwatch::start();
    let mut due = Duration::ZERO;
    for example in examples {
        std::thread::sleep(due.saturating_sub(clock.elapsed()));
        let answer = client.ask(example.request.clone());
        let came = answer.and_then(|body| read(example.door, &body));
        match &came {
            // A server that was never reached isn't there.
            Err(why @ ClientError::Unreachable(_)) if tally.answered() == 0 => {
                return Err(why.clone());
            }
            _ => tally.add(example.door, &came),
        }
        if !each(&example, &came) {
            break;
        }
        // What took too long is not made up for.
        due = between.map_or(Duration::ZERO, |between| {
            (due + between).max(clock.elapsed().saturating_sub(between))
        });
    }
    Ok(tally)
}

/// One request and what came of it, on a line.
fn line(example: &Example, came: &Result<Came, ClientError>, output: Output) -> String {
    let outcome = match came {
        Ok(came) => came.words(),
        Err(why) => format!("error: {why}"),
    };
    let value =
        || json!({"kind": example.door.word(), "request": example.about, "outcome": outcome});
    match output {
        Output::Table => {
            let text = format!("{}: {outcome}", example.about);
            format!("{}\n", printable(&text))
        }
        Output::Json => format!("{}\n", json::compact(&value())),
        Output::Yaml => format!("---\n{}", yaml::write(&value())),
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use crate::cli::Cli;
    use crate::commands::Command;

    fn demo(arguments: &[&str]) -> Result<super::Demo, clap::Error> {
        let all = ["portcullis", "demo"].iter().chain(arguments);
        Cli::try_parse_from(all).map(|cli| match cli.command {
            Command::Demo(demo) => demo,
            other => panic!("{other:?}"),
        })
    }

    #[test]
    fn a_count_and_a_rate_can_be_given() {
        let given = demo(&["-n", "3", "--rate", "90/m"]).unwrap();
        assert_eq!((given.count, given.rate.between().as_millis()), (3, 666));
        assert_eq!(demo(&[]).unwrap().count, 40);
    }

    #[test]
    fn no_requests_and_two_ends_make_no_sense() {
        for wrong in [&["--count", "0"][..], &["--follow", "--count", "3"]] {
            assert_eq!(demo(wrong).unwrap_err().exit_code(), 2, "{wrong:?}");
        }
    }
}
