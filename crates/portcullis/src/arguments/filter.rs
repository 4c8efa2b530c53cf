//! Which decisions are selected.

use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use portcullis_core::Door;
use portcullis_record::Answer;

use super::{Moment, moment};

/// Filters; a decision has to match all of them.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Filters")]
pub(crate) struct Filter {
    /// Only decisions at this door.
    #[arg(long, value_name = "DOOR", value_parser = doors())]
    pub(crate) door: Option<Door>,
    /// Only decisions with this verdict.
    #[arg(long, value_name = "ANSWER", value_parser = answers())]
    pub(crate) verdict: Option<Answer>,
    /// Only requests of this user.
    #[arg(long, value_name = "USER")]
    pub(crate) user: Option<String>,
    /// Only objects of this kind; for authorization, the resource.
    #[arg(long, value_name = "KIND")]
    pub(crate) kind: Option<String>,
    /// Only objects in this namespace; for CI, the project.
    #[arg(short, long, value_name = "NS")]
    pub(crate) namespace: Option<String>,
    /// Only decisions in which this policy, plug-in or authorizer took part, whatever its mode.
    #[arg(long, value_name = "NAME")]
    pub(crate) policy: Option<String>,
    /// Only decisions since: 24h, 7d, 2026-10-01 or 2026-10-01T12:00:00Z.
    #[arg(long, value_name = "TIME", value_parser = moment)]
    pub(crate) since: Option<Moment>,
    /// Only decisions until.
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
