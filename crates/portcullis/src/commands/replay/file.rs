//! Recorded decisions in a file, or on standard input.

use std::fs;
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use portcullis_gate::replay::Line;

use super::source::{Sink, Source};
use crate::commands::text::progress::{self, Total};
use crate::exit::Exit;
use crate::source::SourceError;

/// Longest line that is read.
const LONGEST: u64 = 64 << 20;

/// Lines that are handed over at a time.
const BATCH: usize = 64;

/// A file of decisions.
pub(super) struct File {
    path: PathBuf,
    reader: Box<dyn BufRead>,
}

impl File {
    /// Opens it; `-` is standard input.
    pub(super) fn open(path: &Path, total: &Total) -> Result<Self, SourceError> {
        let reader: Box<dyn BufRead> = if path == Path::new("-") {
            Box::new(BufReader::new(io::stdin()))
        } else {
            let file = fs::File::open(path).map_err(|e| fault(path, &e))?;
            if file.metadata().is_ok_and(|m| m.is_dir()) {
                let message = format!("{} is a folder", path.display());
                return Err(SourceError::new(Exit::Failed, message));
            }
            Box::new(BufReader::with_capacity(1 << 20, file))
        };
        let file = Self {
            path: path.to_owned(),
            reader,
        };
        // Only who looks at a progress bar wants to know.
        if progress::is_shown() {
            total.set(file.count().unwrap_or_default());
        }
        Ok(file)
    }

    /// How many lines there are, where that can be known.
    fn count(&self) -> Option<u64> {
        let file = fs::File::open(&self.path).ok()?;
        let is_plain = file.metadata().is_ok_and(|m| m.is_file());
        is_plain.then(|| {
            let lines = BufReader::with_capacity(1 << 20, file).split(b'\n');
            let lines = lines.map_while(Result::ok).filter(|l| !l.is_empty());
            lines.count() as u64
        })
    }

    /// The next line that is not empty, by its number.
    fn next(&mut self, number: &mut u64) -> Result<Option<Line>, SourceError> {
        loop {
            let mut bytes = Vec::new();
            let mut limited = self.reader.by_ref().take(LONGEST + 1);
            let read = limited.read_until(b'\n', &mut bytes);
            if read.map_err(|e| fault(&self.path, &e))? == 0 {
                return Ok(None);
            }
            *number += 1;
            if bytes.len() as u64 > LONGEST {
                let path = self.path.display();
                let message = format!("{path}:{number}: the line is longer than {LONGEST} bytes");
                return Err(SourceError::new(Exit::Failed, message));
            }
            let text = String::from_utf8_lossy(&bytes).trim().to_owned();
            if !text.is_empty() {
                return Ok(Some(Line {
                    number: *number,
                    text,
                }));
            }
        }
    }
}

impl Source for File {
    fn read(mut self: Box<Self>, sink: Sink<'_>) -> Result<(), SourceError> {
        let mut number = 0;
        loop {
            let mut batch = Vec::new();
            while batch.len() < BATCH {
                match self.next(&mut number)? {
                    Some(line) => batch.push(line),
                    None if batch.is_empty() => return Ok(()),
                    None => break,
                }
            }
            if sink(batch).is_break() {
                return Ok(());
            }
        }
    }
}

fn fault(path: &Path, error: &io::Error) -> SourceError {
    let message = format!("cannot read {}: {error}", path.display());
    SourceError::new(Exit::Failed, message)
}

#[cfg(test)]
mod tests {
    use std::ops::ControlFlow;

    use super::*;

    #[test]
    fn lines_keep_their_numbers() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("decisions.jsonl");
        let text: String = (1..=100).map(|n| format!("{{\"n\": {n}}}\r\n\n")).collect();
        fs::write(&path, format!("\n{text}last")).unwrap();
        let file = File::open(&path, &Total::default()).unwrap();
        assert_eq!(file.count(), Some(101));
        let mut all = Vec::new();
        let read = Box::new(file).read(&mut |lines| {
            all.extend(lines);
            ControlFlow::Continue(())
        });
        assert!(read.is_ok());
        assert_eq!(all.len(), 101);
        assert_eq!((all[0].number, all[0].text.as_str()), (2, "{\"n\": 1}"));
        assert_eq!(
            (all[99].number, all[99].text.as_str()),
            (200, "{\"n\": 100}")
        );
        assert_eq!((all[100].number, all[100].text.as_str()), (202, "last"));
    }

    #[test]
    fn what_is_no_file_is_said() {
        let folder = tempfile::tempdir().unwrap();
        assert!(File::open(folder.path(), &Total::default()).is_err());
        assert!(File::open(&folder.path().join("missing"), &Total::default()).is_err());
    }
}
