//! The command line of `portcullis decisions`.

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, Subcommand};
use portcullis_core::Door;
use portcullis_record::Answer;

use super::moment::{Moment, moment};
use super::{Output, Store};

#[derive(Debug, Args)]
pub(crate) struct Decisions {
    #[command(subcommand)]
    pub(crate) command: DecisionsCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum DecisionsCommand {
    /// List decisions, the newest first.
    List(List),
    /// Write whole decisions, one a line, the oldest first: what `replay --file` reads.
    Export(Export),
}

#[derive(Debug, Args)]
pub(crate) struct List {
    #[command(flatten)]
    pub(crate) filter: Filter,
    /// Print what is there, the oldest first, and go on with what is decided from now on.
    #[arg(short, long, conflicts_with_all = ["after", "until"])]
    pub(crate) watch: bool,
    /// How many to print at most; 0 for all.
    #[arg(long, value_name = "N", default_value_t = 100)]
    pub(crate) limit: usize,
    /// Go on after an earlier list: its `next`.
    #[arg(long, value_name = "NEXT")]
    pub(crate) after: Option<String>,
    /// Leave out the names of the columns.
    #[arg(long)]
    pub(crate) no_headers: bool,
    /// How to print them.
    #[arg(short, long, value_enum, default_value_t = Output::Table)]
    pub(crate) output: Output,
    #[command(flatten)]
    pub(crate) store: Store,
}

#[derive(Debug, Args)]
pub(crate) struct Export {
    #[command(flatten)]
    pub(crate) filter: Filter,
    /// How to print them: one whole decision a line is the only way there is.
    #[arg(short, long, value_name = "FORMAT", default_value = "jsonl", value_parser = ["jsonl"])]
    pub(crate) output: String,
    #[command(flatten)]
    pub(crate) store: Store,
}

/// Which decisions; all that is given has to fit.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Which decisions")]
pub(crate) struct Filter {
    /// Those made at this door.
    #[arg(long, value_name = "DOOR", value_parser = doors())]
    pub(crate) door: Option<Door>,
    /// Those with this answer.
    #[arg(long, value_name = "ANSWER", value_parser = answers())]
    pub(crate) verdict: Option<Answer>,
    /// What this user asked.
    #[arg(long, value_name = "USER")]
    pub(crate) user: Option<String>,
    /// Objects of this kind; for authorization the resource.
    #[arg(long, value_name = "KIND")]
    pub(crate) kind: Option<String>,
    /// Objects in this namespace; for CI the project.
    #[arg(short, long, value_name = "NS")]
    pub(crate) namespace: Option<String>,
    /// Those this policy, plug-in or authorizer had something to say about, whatever its mode.
    #[arg(long, value_name = "NAME")]
    pub(crate) policy: Option<String>,
    /// No older than this: 24h, 7d, 2026-10-01 or 2026-10-01T12:00:00Z.
    #[arg(long, value_name = "TIME", value_parser = moment)]
    pub(crate) since: Option<Moment>,
    /// Older than this.
    #[arg(long, value_name = "TIME", value_parser = moment)]
    pub(crate) until: Option<Moment>,
}

fn doors() -> impl TypedValueParser<Value = Door> {
    let names = Door::ALL.map(Door::as_str);
    PossibleValuesParser::new(names).try_map(|given| given.parse::<Door>())
}

fn answers() -> impl TypedValueParser<Value = Answer> {
    let names = Answer::ALL.map(Answer::as_str);
    PossibleValuesParser::new(names).try_map(|given| given.parse::<Answer>())
}
