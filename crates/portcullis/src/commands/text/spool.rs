//! Text that is kept until it can be written, most of it not in memory.
//!
//! What is more than a little goes to a file without a name in the system's folder for temporary files. Where there is
//! none, or it is full, everything stays in memory.

use std::fs::File;
use std::io::{self, Write};
use std::ops::Range;
use std::os::unix::fs::FileExt;

/// So much stays in memory.
const KEPT: usize = 1 << 20;

/// How much is read at a time.
const PIECE: usize = 64 << 10;

/// Text that grows.
#[derive(Debug, Default)]
pub(in crate::commands) struct Spool {
    /// What comes first.
    file: Option<File>,
    in_file: u64,
    /// What follows.
    kept: Vec<u8>,
    /// Nothing more goes to a file.
    stays: bool,
}

impl Spool {
    /// Adds to its end; where that is.
    pub(in crate::commands) fn push(&mut self, text: &str) -> Range<u64> {
        let start = self.len();
        self.kept.extend_from_slice(text.as_bytes());
        let range = start..self.len();
        if self.kept.len() >= KEPT && !self.stays && self.spill().is_err() {
            self.stays = true;
        }
        range
    }

    fn len(&self) -> u64 {
        self.in_file + self.kept.len() as u64
    }

    /// Moves what is kept to the file. What was written of it is not counted unless all was.
    fn spill(&mut self) -> io::Result<()> {
        let file = match &mut self.file {
            Some(file) => file,
            none => none.insert(tempfile::tempfile()?),
        };
        file.write_all_at(&self.kept, self.in_file)?;
        self.in_file = self.len();
        self.kept.clear();
        Ok(())
    }

    /// Writes all of it.
    ///
    /// # Errors
    ///
    /// When it can't be read back, or can't be written.
    pub(in crate::commands) fn copy(&self, out: &mut dyn Write) -> io::Result<()> {
        self.copy_range(0..self.len(), out)
    }

    /// Writes a part of it.
    ///
    /// # Errors
    ///
    /// As above.
    pub(in crate::commands) fn copy_range(
        &self,
        range: Range<u64>,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        let (mut at, end) = (range.start, range.end.min(self.in_file));
        let mut piece =
            vec![0; PIECE.min(usize::try_from(end.saturating_sub(at)).unwrap_or(PIECE))];
        while let (true, Some(file)) = (at < end, &self.file) {
            let left = usize::try_from(end - at).unwrap_or(PIECE).min(PIECE);
            let piece = piece.get_mut(..left).unwrap_or_default();
            file.read_exact_at(piece, at)?;
            out.write_all(piece)?;
            at += left as u64;
        }
        let inner =
            |at: u64| usize::try_from(at.saturating_sub(self.in_file)).unwrap_or(usize::MAX);
        let kept = self.kept.get(inner(range.start)..inner(range.end));
        out.write_all(kept.unwrap_or_default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(spool: &Spool, range: Range<u64>) -> String {
        let mut out = Vec::new();
        spool.copy_range(range, &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    /// Texts of many lengths, and where they are.
    fn filled(spool: &mut Spool) -> Vec<(String, Range<u64>)> {
        let lengths = [0, 1, PIECE - 1, 3, KEPT, 7, KEPT * 2 + 5, 0, 11];
        let texts = lengths.iter().zip('a'..);
        let texts = texts.map(|(length, letter)| letter.to_string().repeat(*length));
        texts
            .map(|text| (text.clone(), spool.push(&text)))
            .collect()
    }

    #[test]
    fn what_was_pushed_is_read_back_and_most_is_not_in_memory() {
        let mut spool = Spool::default();
        let all = filled(&mut spool);
        assert!(spool.in_file > 3 * KEPT as u64 && spool.kept.len() < KEPT);
        for (text, range) in &all {
            assert!(read(&spool, range.clone()) == *text, "{range:?}");
        }
        let whole: String = all.iter().map(|(text, _)| text.as_str()).collect();
        let mut out = Vec::new();
        spool.copy(&mut out).unwrap();
        assert!(out == whole.as_bytes());
        // Across the end of the file.
        let end = spool.in_file;
        assert_eq!(read(&spool, end - 2..end + 2), "ggii");
    }

    #[test]
    fn without_a_file_it_stays_in_memory() {
        let mut spool = Spool {
            file: Some(File::open("/dev/null").unwrap()),
            ..Spool::default()
        };
        let all = filled(&mut spool);
        assert!(spool.stays && spool.in_file == 0);
        for (text, range) in all {
            assert!(read(&spool, range.clone()) == text, "{range:?}");
        }
    }
}
