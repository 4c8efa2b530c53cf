//! Plain text for terminals.

use std::borrow::Cow;

use portcullis_server::config::{Position, Source};
use portcullis_server::offline::Written;

/// What the user wrote may hold anything, but a terminal gets one line of text.
pub(in crate::commands) fn printable(text: &str) -> Cow<'_, str> {
    if !text.contains(char::is_control) {
        return Cow::Borrowed(text);
    }
    let mut clean = String::with_capacity(text.len());
    for c in text.chars() {
        if c.is_control() {
            clean.extend(c.escape_default());
        } else {
            clean.push(c);
        }
    }
    Cow::Owned(clean)
}

/// `3 objects`, `1 policy`.
pub(in crate::commands) fn counted(count: usize, one: &str, many: &str) -> String {
    let word = if count == 1 { one } else { many };
    format!("{count} {word}")
}

/// A line that a policy wrote, for standard error.
pub(in crate::commands) fn written(line: &Written) -> String {
    let place = line.line.map_or(String::new(), |at| format!(":{at}"));
    let (policy, text) = (printable(&line.policy), printable(&line.text));
    format!("{policy}{place}: {}: {text}", line.level)
}

/// The line of a text with a caret, as compilers show it; without one if the column is not known.
pub(in crate::commands) fn frame(
    text: &Source,
    line: Option<u32>,
    column: Option<u32>,
) -> Option<String> {
    let position = Position {
        line: line?.into(),
        column: column.unwrap_or(1).into(),
    };
    let frame = text.fault(Some(position), "", "").frame()?;
    Some(match (column, frame.rsplit_once('\n')) {
        (None, Some((without, _))) => without.to_owned(),
        _ => frame,
    })
}
