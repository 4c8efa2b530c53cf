//! Conversion between a summary and its row.

use std::borrow::Cow;
use std::str::FromStr;

use portcullis_core::UnknownWord;
use portcullis_record::Summary;

use crate::database::{Row, Table, Type, Value, number, storable, unsigned};
use crate::error::Failure;

/// The table, with its columns in the order of [`Texts::values`].
pub(super) const TABLE: Table = Table {
    name: "decisions",
    columns: &[
        ("number", Type::Number),
        ("id", Type::Text),
        ("time", Type::Text),
        ("door", Type::Text),
        ("operation", Type::Text),
        ("kind", Type::Text),
        ("namespace", Type::Text),
        ("name", Type::Text),
        ("user_name", Type::Text),
        ("verdict", Type::Text),
        ("mutated", Type::Number),
        ("message", Type::Text),
        ("plugin", Type::Text),
        ("policy", Type::Text),
        ("digest", Type::Number),
        ("gate", Type::Number),
        ("duration_us", Type::Number),
        ("warnings", Type::Text),
        ("concerned", Type::Text),
        ("traceparent", Type::Text),
        ("size", Type::Number),
    ],
};

/// What [`summary`] reads, in its order.
pub(super) const SELECT: &str = "\
    SELECT d.number, d.id, d.time, d.door, d.operation, d.kind, d.namespace, d.name, d.user_name, \
    d.verdict, d.mutated, d.message, d.plugin, d.policy, \
    (SELECT digest FROM decision_digests WHERE number = d.digest), \
    (SELECT digest FROM decision_digests WHERE number = d.gate), \
    d.duration_us, d.warnings, d.concerned, d.traceparent FROM decisions AS d";

/// What a row takes beside its texts, with its part of the indexes: about.
const ROW: usize = 120;

/// The texts of a row that are not in the summary as they are stored.
#[derive(Debug)]
pub(super) struct Texts<'a> {
    summary: &'a Summary,
    operation: Cow<'a, str>,
    kind: Cow<'a, str>,
    namespace: Cow<'a, str>,
    name: Cow<'a, str>,
    user: Cow<'a, str>,
    message: Cow<'a, str>,
    plugin: Option<Cow<'a, str>>,
    policy: Option<Cow<'a, str>>,
    warnings: Option<String>,
    concerned: Option<String>,
    traceparent: Option<Cow<'a, str>>,
}

impl<'a> Texts<'a> {
    pub(super) fn new(summary: &'a Summary) -> Self {
        let optional = |text: &'a Option<String>| text.as_deref().map(storable);
        Self {
            summary,
            operation: storable(&summary.operation),
            kind: storable(&summary.kind),
            namespace: storable(&summary.namespace),
            name: storable(&summary.name),
            user: storable(&summary.user),
            message: storable(&summary.message),
            plugin: optional(&summary.plugin),
            policy: optional(&summary.policy),
            warnings: list(&summary.warnings),
            concerned: list(&summary.concerned),
            traceparent: optional(&summary.traceparent),
        }
    }

    /// The row.
    pub(super) fn values(
        &self,
        place: i64,
        digest: Option<i64>,
        gate: Option<i64>,
        line: &str,
    ) -> [Value<'_>; TABLE.columns.len()] {
        let numbered = |number: Option<i64>| number.map_or(Value::Null, Value::Number);
        [
            Value::Number(place),
            Value::Text(&self.summary.id),
            Value::Text(&self.summary.time),
            Value::Text(self.summary.door.as_str()),
            Value::Text(&self.operation),
            Value::Text(&self.kind),
            Value::Text(&self.namespace),
            Value::Text(&self.name),
            Value::Text(&self.user),
            Value::Text(self.summary.verdict.as_str()),
            Value::Number(i64::from(self.summary.mutated)),
            Value::Text(&self.message),
            self.plugin.as_deref().into(),
            self.policy.as_deref().into(),
            numbered(digest),
            numbered(gate),
            Value::Number(number(self.summary.duration_us)),
            self.warnings.as_deref().into(),
            self.concerned.as_deref().into(),
            self.traceparent.as_deref().into(),
            Value::Number(number(line.len())),
        ]
    }
}

/// About the bytes a row takes.
pub(super) fn size(values: &[Value<'_>]) -> usize {
    let texts = values.iter().map(|value| match value {
        Value::Text(text) => text.len(),
        _ => 0,
    });
    texts.sum::<usize>() + ROW
}

/// The number and the summary in a row of [`SELECT`].
pub(super) fn summary(mut row: Row) -> Result<(u64, Summary), Failure> {
    let number = unsigned(row.number()?);
    let summary = Summary {
        id: row.text()?,
        time: row.text()?,
        door: word(&row.text()?)?,
        operation: row.text()?,
        kind: row.text()?,
        namespace: row.text()?,
        name: row.text()?,
        user: row.text()?,
        verdict: word(&row.text()?)?,
        mutated: row.number()? != 0,
        message: row.text()?,
        plugin: row.optional_text()?,
        policy: row.optional_text()?,
        digest: row.optional_text()?,
        gate: row.optional_text()?,
        duration_us: unsigned(row.number()?),
        warnings: texts(row.optional_text()?)?,
        concerned: texts(row.optional_text()?)?,
        traceparent: row.optional_text()?,
    };
    Ok((number, summary))
}

/// A list of strings as JSON, each on a line of its own. As JSON has no line breaks inside strings, an
/// item with its line breaks is in it only if it is one of the list.
fn list(texts: &[String]) -> Option<String> {
    if texts.is_empty() {
        return None;
    }
    let items: Vec<String> = texts.iter().map(|text| list_item(text)).collect();
    Some(format!("[{}]", items.join(",")))
}

/// One text of a list, as it stands there.
pub(super) fn list_item(text: &str) -> String {
    format!("\n{}\n", serde_json::Value::from(text))
}

fn texts(list: Option<String>) -> Result<Vec<String>, Failure> {
    let Some(list) = list else {
        return Ok(Vec::new());
    };
    serde_json::from_str(&list).map_err(|error| Failure::corrupt(format!("not a list: {error}")))
}

/// A word of a column.
pub(super) fn word<W: FromStr<Err = UnknownWord>>(text: &str) -> Result<W, Failure> {
    text.parse()
        .map_err(|unknown: UnknownWord| Failure::corrupt(unknown.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_is_json_and_holds_exactly_its_items() {
        let texts = ["a\"b", ",", "c\\", "new\nline", "nul\0"].map(str::to_owned);
        let stored = list(&texts).unwrap();
        assert_eq!(serde_json::from_str::<Vec<String>>(&stored).unwrap(), texts);
        assert!(texts.iter().all(|text| stored.contains(&list_item(text))));
        for other in ["b", "a", "\",\"", "c", "", "line", "b\",\n\""] {
            assert!(!stored.contains(&list_item(other)), "{other}");
        }
        assert!(!stored.contains('\0'));
    }
}
