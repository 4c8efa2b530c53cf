//! What a job wrote, as text that a page can show.

use crate::backend::{Backend, Problem};

/// How much of the end of a trace is shown.
const SHOWN: usize = 64 << 10;

/// The end of a trace.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Trace {
    pub(super) text: String,
    /// Whether there is more before it.
    pub(super) is_cut: bool,
}

/// The end of the trace of a job.
pub(super) async fn read(backend: &dyn Backend, id: u64) -> Result<Trace, Problem> {
    let path = format!("/api/v1/jobs/{id}/trace?tail={SHOWN}");
    let text: Option<String> = backend.get(&path).await?;
    let text = text.unwrap_or_default();
    let is_cut = text.len() >= SHOWN;
    // What was cut begins within a line, perhaps within a character.
    let text = match text.split_once('\n') {
        Some((_, rest)) if is_cut => rest,
        _ => text.as_str(),
    };
    Ok(Trace {
        text: plain(text),
        is_cut,
    })
}

/// A text without the control sequences of terminals, which a page can't show. A line that was written over with a
/// carriage return is shown as it ended.
fn plain(text: &str) -> String {
    let lines = text.split('\n').map(|line| {
        let line = without_escapes(line.trim_end_matches('\r'));
        let last = line.rsplit('\r').find(|part| !part.is_empty());
        let shown = last.unwrap_or_default().chars();
        let shown = shown.filter(|c| *c == '\t' || !c.is_control());
        shown.collect::<String>()
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// A line without escape sequences: ESC `[`, parameters, and a letter.
fn without_escapes(line: &str) -> String {
    let mut kept = String::with_capacity(line.len());
    let mut characters = line.chars().peekable();
    while let Some(character) = characters.next() {
        if character != '\u{1b}' {
            kept.push(character);
            continue;
        }
        if characters.next_if_eq(&'[').is_some() {
            // The first one that is no parameter ends the sequence and belongs to it.
            characters.find(|c| ('@'..='~').contains(c));
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_sequences_are_not_shown() {
        let text =
            "\u{1b}[32;1mok\u{1b}[0;m\n10%\r50%\r100%\r\nsection_start:1:a\r\u{1b}[0Kbuild\n";
        assert_eq!(plain(text), "ok\n100%\nbuild\n");
        assert_eq!(plain("a\tb\u{7}"), "a\tb");
        assert_eq!(plain("\u{1b}"), "");
        assert_eq!(plain("<main>"), "<main>");
    }
}
