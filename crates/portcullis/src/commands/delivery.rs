//! `portcullis delivery`: what a running server sent to admission controllers of CI jobs.

use clap::{Args, Subcommand};

use super::listing::{self, Columns};
use super::remote::{Remote, ended};
use super::text::data::Output;
use crate::arguments::Server;
use crate::client::ClientError;
use crate::exit::Exit;
use crate::output;

#[derive(Debug, Args)]
pub(crate) struct Delivery {
    #[command(subcommand)]
    command: DeliveryCommand,
}

#[derive(Debug, Subcommand)]
enum DeliveryCommand {
    /// List deliveries, the newest first.
    List(DeliveryList),
    /// Deliver again at once.
    Redeliver(Redeliver),
}

#[derive(Debug, Args)]
struct DeliveryList {
    /// Only deliveries about this job.
    #[arg(long, value_name = "ID")]
    job: Option<u64>,
    /// Only deliveries to this controller.
    #[arg(long, value_name = "ID")]
    controller: Option<u64>,
    /// The page, as the previous one says.
    #[arg(long, value_name = "PAGE")]
    page: Option<u64>,
    /// Output format.
    #[arg(short, long, value_enum, default_value_t = Output::Table)]
    output: Output,
    #[command(flatten)]
    server: Server,
}

#[derive(Debug, Args)]
struct Redeliver {
    /// The id of the delivery.
    #[arg(value_name = "ID")]
    id: u64,
    #[command(flatten)]
    server: Server,
}

const COLUMNS: Columns = &[
    ("ID", "id"),
    ("JOB", "job"),
    ("ATTEMPT", "attempt"),
    ("CONTROLLER", "controller_name"),
    ("STATE", "state"),
    ("NEXT", "next_at"),
    ("DEADLINE", "deadline"),
];

/// Does what the command line says.
pub(super) fn run(delivery: &Delivery) -> Exit {
    ended(match &delivery.command {
        DeliveryCommand::List(list) => listed(list),
        DeliveryCommand::Redeliver(redeliver) => redelivered(redeliver),
    })
}

fn listed(list: &DeliveryList) -> Result<(), ClientError> {
    let mut server = Remote::open(&list.server)?;
    let number = |number: Option<u64>| number.map(|number| number.to_string());
    let query = [
        ("job", number(list.job)),
        ("controller", number(list.controller)),
        ("page", number(list.page)),
    ];
    let page = listing::read_page(&mut server, &["v1", "deliveries"], &query)?;
    listing::page(&page, list.output, COLUMNS, "no deliveries found");
    Ok(())
}

fn redelivered(redeliver: &Redeliver) -> Result<(), ClientError> {
    let mut server = Remote::open(&redeliver.server)?;
    server.act(&["v1", "deliveries", &redeliver.id.to_string(), "redeliver"])?;
    output::hint(&format!("delivery {} is sent again", redeliver.id));
    Ok(())
}
