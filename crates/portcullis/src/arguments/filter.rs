//! Which decisions are meant.

use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use portcullis_core::Door;
use portcullis_record::Answer;

use super::{Moment, moment};

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
