//! What commands about CI jobs share: files to submit, values of answers, pages of lists.

use std::io::Read;
use std::path::Path;
use std::sync::Arc;

use portcullis_document::{Source, read, yaml};
use serde_json::Value;

use super::remote::Remote;
use super::text::columns::{self, Cell};
use super::text::data::{self, Output};
use super::text::terminal::Terminal;
use crate::client::ClientError;
use crate::output;

/// The largest file that is submitted.
const LARGEST: u64 = 4 << 20;

/// A file, or standard input for `-`.
pub(super) fn source(file: &Path) -> Result<Arc<Source>, ClientError> {
    let wrong = |why: &dyn std::fmt::Display| {
        ClientError::Location(format!("cannot read `{}`: {why}", file.display()))
    };
    let mut text = String::new();
    let read = match file == Path::new("-") {
        true => std::io::stdin()
            .lock()
            .take(LARGEST)
            .read_to_string(&mut text),
        false => {
            std::fs::File::open(file).and_then(|file| file.take(LARGEST).read_to_string(&mut text))
        }
    };
    read.map_err(|error| wrong(&output::reason(&error)))?;
    Ok(Source::text_named(file.display().to_string(), text))
}

/// The content of a file: a map, in YAML or JSON.
pub(super) fn value(source: &Arc<Source>) -> Result<Value, ClientError> {
    let wrong = |faults: &portcullis_document::Faults| ClientError::Location(faults.to_string());
    let document = yaml::parse_map(source).map_err(|faults| wrong(&faults))?;
    read::typed(&document.source, &document.root).map_err(|faults| wrong(&faults))
}

/// What the server finds wrong with a file is wrong with the file, not with the command line.
pub(super) fn of_file(error: ClientError) -> ClientError {
    match error {
        ClientError::Usage(text) => ClientError::Location(text),
        other => other,
    }
}

/// A member of an answer, as people read it.
pub(super) fn text(value: &Value, key: &str) -> String {
    value.get(key).map_or_else(|| "-".to_owned(), plain)
}

/// A value as people read it.
pub(super) fn plain(value: &Value) -> String {
    match value {
        Value::Null => "-".to_owned(),
        Value::String(text) => text.clone(),
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(plain).collect();
            items.join(", ")
        }
        other => other.to_string(),
    }
}

/// The items of a page.
pub(super) fn items(page: &Value) -> &[Value] {
    let items = page.get("items").and_then(Value::as_array);
    items.map_or(&[], Vec::as_slice)
}

/// Columns of a table: their names, and the members that stand there.
pub(super) type Columns = &'static [(&'static str, &'static str)];

/// Prints a page of a list.
pub(super) fn page(page: &Value, output: Output, columns: Columns, nothing: &str) {
    let items = items(page);
    let terminal = Terminal::of_output();
    output::data(&data::write(page, output, || match items.is_empty() {
        true => String::new(),
        false => {
            let header: Vec<&str> = columns.iter().map(|(name, _)| *name).collect();
            let rows: Vec<Vec<Cell>> = items.iter().map(|item| row(item, columns)).collect();
            columns::table(&header, &rows, terminal)
        }
    }));
    if output != Output::Table {
        return;
    }
    if items.is_empty() {
        output::hint(nothing);
    }
    if let Some(next) = page.get("next").and_then(Value::as_u64) {
        output::hint(&format!("there are more: --page {next}"));
    }
}

/// A row of a table: these members.
pub(super) fn row<'a>(
    item: &Value,
    columns: impl IntoIterator<Item = &'a (&'a str, &'a str)>,
) -> Vec<Cell> {
    let cell = |(_, key): &(&str, &str)| match *key {
        "status" | "state" => Cell::state(text(item, key)),
        key => text(item, key).into(),
    };
    columns.into_iter().map(cell).collect()
}

/// Prints one thing.
pub(super) fn one(value: &Value, output: Output, fields: &[(&str, &str)]) {
    output::data(&data::write(value, output, || {
        let fields: Vec<(&str, String)> = fields
            .iter()
            .map(|(name, key)| (*name, text(value, key)))
            .collect();
        columns::fields(&fields, Terminal::of_output())
    }));
}

/// Reads a page of a list.
pub(super) fn read_page(
    server: &mut Remote,
    path: &[&str],
    query: &[(&str, Option<String>)],
) -> Result<Value, ClientError> {
    let given = query.iter();
    let given: Vec<(&str, &str)> = given
        .filter_map(|(name, value)| Some((*name, value.as_deref()?)))
        .collect();
    server.get_with(path, &given)
}
