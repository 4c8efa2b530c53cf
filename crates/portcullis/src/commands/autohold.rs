//! `portcullis autohold`: lists, shows, places and releases holds on a running server.

mod table;

use serde_json::{Map, Value, json};

use super::remote::{Remote, ended};
use super::text::data;
use super::text::plain::printable;
use super::text::terminal::Terminal;
use crate::cli::{
    Autohold, AutoholdCommand, AutoholdList, AutoholdPlace, AutoholdRelease, AutoholdShow, Output,
};
use crate::client::ClientError;
use crate::exit::Exit;
use crate::output;

/// Does what the command line says.
pub(super) fn run(autohold: &Autohold) -> Exit {
    ended(match &autohold.command {
        AutoholdCommand::List(list) => listed(list),
        AutoholdCommand::Show(show) => shown(show),
        AutoholdCommand::Place(place) => placed(place),
        AutoholdCommand::Release(release) => released(release),
    })
}

fn listed(list: &AutoholdList) -> Result<(), ClientError> {
    let mut server = Remote::open(&list.server)?;
    let mut holds = server.get(&["tenant", &list.tenant, "autohold"])?;
    if let (Some(project), Some(items)) = (&list.project, holds.as_array_mut()) {
        items.retain(|hold| is_of(hold, project));
    }
    let items = holds.as_array().map_or(&[][..], Vec::as_slice);
    let width = Terminal::of_output().width;
    output::data(&data::write(&holds, list.output, || {
        match items.is_empty() {
            true => String::new(),
            false => table::list(items, width),
        }
    }));
    if items.is_empty() && list.output == Output::Table {
        output::tell("no holds found");
    }
    Ok(())
}

/// Whether a hold is of this project, by its name or by its name with the host.
fn is_of(hold: &Value, project: &str) -> bool {
    let without_host = project.split_once('/').map(|(_, rest)| rest);
    let name = hold.get("project").and_then(Value::as_str);
    name.is_some_and(|name| name == project || Some(name) == without_host)
}

fn shown(show: &AutoholdShow) -> Result<(), ClientError> {
    let mut server = Remote::open(&show.server)?;
    let hold = server.get(&["tenant", &show.tenant, "autohold", &show.id])?;
    output::data(&data::write(&hold, show.output, || table::one(&hold)));
    Ok(())
}

fn placed(place: &AutoholdPlace) -> Result<(), ClientError> {
    let mut server = Remote::open(&place.server)?;
    let path = [
        "tenant",
        &place.tenant,
        "project",
        &place.project,
        "autohold",
    ];
    server.post(&path, &body(place))?;
    let runs = match place.count {
        1 => "the next failing run".to_owned(),
        count => format!("the next {count} failing runs"),
    };
    output::tell(&printable(&format!(
        "what {runs} of {} in {} ran on will be kept",
        place.job, place.project
    )));
    Ok(())
}

fn body(place: &AutoholdPlace) -> Value {
    let mut body = Map::new();
    let mut say = |key: &str, value: Value| body.insert(key.to_owned(), value);
    say("job", json!(place.job));
    say("count", json!(place.count));
    say("reason", json!(place.reason));
    say("change", json!(place.change));
    say("ref", json!(place.reference));
    say(
        "node_hold_expiration",
        json!(place.keep.map(|t| t.as_secs())),
    );
    if let Some(lasting) = place.lasting {
        say("expires_in", json!(lasting.as_secs()));
    }
    body.into()
}

fn released(release: &AutoholdRelease) -> Result<(), ClientError> {
    let mut server = Remote::open(&release.server)?;
    server.delete(&["tenant", &release.tenant, "autohold", &release.id])?;
    output::tell(&printable(&format!("the hold {} is released", release.id)));
    Ok(())
}
