//! A text of any length, read in pieces of whole documents.

use std::io::{BufRead, BufReader, Read};
use std::sync::Arc;

use portcullis_document::{Fault, Source};

/// A piece ends with the first document that makes it so long.
const PIECE: usize = 1 << 20;
/// Longer documents are rejected.
const LONGEST: usize = 16 << 20;

/// Some documents of a text.
#[derive(Debug)]
pub(super) struct Piece {
    pub(super) source: Arc<Source>,
    /// How many lines of the whole text are before it.
    pub(super) before: u64,
}

/// What is left of a text.
pub(super) struct Pieces<'a, R> {
    label: &'a str,
    from: BufReader<R>,
    /// What was read but not handed over: the line with which the next piece begins.
    line: Vec<u8>,
    before: u64,
}

impl<'a, R: Read> Pieces<'a, R> {
    pub(super) fn new(label: &'a str, from: R) -> Self {
        Self {
            label,
            from: BufReader::new(from),
            line: Vec::new(),
            before: 0,
        }
    }

    /// The next piece, if there is one.
    ///
    /// # Errors
    ///
    /// When the text can't be read, is not text, or has a document that is too long.
    pub(super) fn next(&mut self) -> Result<Option<Piece>, Box<Fault>> {
        let mut piece = std::mem::take(&mut self.line);
        loop {
            let start = piece.len();
            let most = u64::try_from(LONGEST + PIECE - start).unwrap_or(u64::MAX);
            let read = self.from.by_ref().take(most).read_until(b'\n', &mut piece);
            let read = read.map_err(|error| self.fault(&error.to_string()))?;
            if read == 0 {
                break;
            }
            if start >= PIECE && piece.get(start..).is_some_and(begins_document) {
                self.line = piece.split_off(start);
                break;
            }
            // Until the last document began, it was shorter than a piece.
            if piece.len() >= LONGEST + PIECE {
                return Err(self.fault("a document is larger than 16 MiB"));
            }
        }
        if piece.is_empty() {
            return Ok(None);
        }
        let before = self.before;
        let lines = |bytes: &[u8]| bytes.iter().filter(|byte| **byte == b'\n').count() as u64;
        let text = String::from_utf8(piece).map_err(|error| {
            let valid = error.utf8_error().valid_up_to();
            let line = before + lines(error.as_bytes().get(..valid).unwrap_or_default()) + 1;
            self.fault(&format!("line {line} is not UTF-8 text"))
        })?;
        self.before += lines(text.as_bytes());
        let source = Source::text_named(self.label, text);
        Ok(Some(Piece { source, before }))
    }

    fn fault(&self, why: &str) -> Box<Fault> {
        let message = format!("cannot read it: {why}");
        Box::new(Source::named(self.label).fault(None, "", message))
    }
}

/// Whether a line is a mark with which a document begins. Nothing inside a document begins like this.
fn begins_document(line: &[u8]) -> bool {
    let rest = line.strip_prefix(b"---");
    rest.is_some_and(|rest| rest.first().is_none_or(u8::is_ascii_whitespace))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pieces(text: &[u8]) -> Result<Vec<(String, u64)>, String> {
        let mut pieces = Pieces::new("a.yaml", text);
        let mut all = Vec::new();
        while let Some(piece) = pieces.next().map_err(|fault| fault.to_string())? {
            all.push((piece.source.text().to_owned(), piece.before));
        }
        Ok(all)
    }

    #[test]
    fn pieces_are_whole_documents() {
        let document = format!("---\na: {}\n--- # of another\nb: 1\n", "x".repeat(300_000));
        let text = document.repeat(20);
        let all = pieces(text.as_bytes()).unwrap();
        assert!(all.len() > 3, "{}", all.len());
        let mut lines = 0;
        for (piece, before) in &all {
            assert!(piece.starts_with("---") && piece.len() < 2 * PIECE);
            assert_eq!(*before, lines);
            lines += piece.lines().count() as u64;
        }
        let whole: String = all.iter().map(|(piece, _)| piece.as_str()).collect();
        assert!(whole == text);
    }

    #[test]
    fn short_and_empty_texts_are_one_piece_or_none() {
        assert_eq!(pieces(b"").unwrap(), []);
        for text in ["a: 1", "---\n---\n", "a: b\n--- \nc"] {
            assert_eq!(pieces(text.as_bytes()).unwrap(), [(text.to_owned(), 0)]);
        }
    }

    #[test]
    fn what_is_no_text_is_said_with_its_line() {
        let mut text = format!("a: {}\n---\nb: 1\n---\n", "x".repeat(PIECE)).into_bytes();
        text.extend(b"c: 1\nd: \xff\n");
        assert_eq!(
            pieces(&text).unwrap_err(),
            "a.yaml: cannot read it: line 6 is not UTF-8 text"
        );
    }

    #[test]
    fn a_document_without_end_is_not_read_to_its_end() {
        for endless in [&b"x"[..], b"x\n"] {
            let text = endless.repeat(LONGEST + 2 * PIECE);
            let why = pieces(&text).unwrap_err();
            assert!(why.ends_with("a document is larger than 16 MiB"), "{why}");
        }
    }
}
