//! The lines of a batch, compressed together, so that what they have in common is stored once.

use zstd::bulk;

use crate::error::{Failure, Kind};

/// How hard lines are compressed. Measured with `examples/store_cost.rs`: less takes no less time where lines
/// resemble each other, more makes them no smaller.
const LEVEL: i32 = 1;

/// Bytes of lines in a batch, before they are compressed. One line alone may be more.
pub(super) const RAW_LIMIT: usize = 2 << 20;

/// A batch that claims to hold more is rejected.
const RAW_BELIEVED: usize = 1 << 30;

/// Compresses and decompresses, keeping what it needs for the next time.
#[derive(Default)]
pub(super) struct Compressor {
    compressor: Option<bulk::Compressor<'static>>,
    decompressor: Option<bulk::Decompressor<'static>>,
    /// Where lines are gathered.
    buffer: Vec<u8>,
}

impl Compressor {
    /// The lines, gathered and compressed. Gives their size before as well.
    pub(super) fn lines<'a>(
        &mut self,
        lines: impl Iterator<Item = &'a str>,
    ) -> Result<(usize, Vec<u8>), Failure> {
        self.buffer.clear();
        for line in lines {
            self.buffer.extend_from_slice(line.as_bytes());
            self.buffer.push(b'\n');
        }
        let buffer = std::mem::take(&mut self.buffer);
        let body = self.compress(&buffer)?;
        let raw = buffer.len();
        self.buffer = buffer;
        // One big batch doesn't keep its memory for ever.
        self.buffer.clear();
        self.buffer.shrink_to(2 * RAW_LIMIT);
        Ok((raw, body))
    }

    /// Lines that are gathered already, compressed.
    pub(super) fn compress(&mut self, lines: &[u8]) -> Result<Vec<u8>, Failure> {
        let compressor = match &mut self.compressor {
            Some(compressor) => compressor,
            none => none.insert(bulk::Compressor::new(LEVEL).map_err(failed)?),
        };
        compressor.compress(lines).map_err(failed)
    }

    /// The lines of a body, each ended by a newline.
    pub(super) fn read(&mut self, body: &[u8], raw_size: i64) -> Result<String, Failure> {
        let size = usize::try_from(raw_size).ok();
        let size = size
            .filter(|size| *size <= RAW_BELIEVED)
            .ok_or_else(|| Failure::corrupt("a batch has an invalid size"))?;
        let decompressor = match &mut self.decompressor {
            Some(decompressor) => decompressor,
            none => none.insert(bulk::Decompressor::new().map_err(failed)?),
        };
        let lines = decompressor
            .decompress(body, size)
            .map_err(|error| Failure::corrupt(format!("a batch can't be read: {error}")))?;
        if lines.len() != size {
            return Err(Failure::corrupt(
                "a batch is shorter than its declared size",
            ));
        }
        String::from_utf8(lines).map_err(|_| Failure::corrupt("a batch is not text"))
    }
}

#[expect(clippy::needless_pass_by_value, reason = "it maps errors")]
fn failed(error: std::io::Error) -> Failure {
    Failure::new(Kind::Other, format!("can't compress: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_come_back_and_what_they_share_is_kept_once() {
        let line = "x".repeat(50) + &(0..4000).map(|n| format!("{n},")).collect::<String>();
        let lines = [line.as_str(); 20];
        let mut compressor = Compressor::default();
        let (raw, body) = compressor.lines(lines.into_iter()).unwrap();
        let (_, single) = compressor.lines(lines.into_iter().take(1)).unwrap();
        assert!(
            body.len() < 2 * single.len(),
            "{} {}",
            body.len(),
            single.len()
        );
        let read = compressor.read(&body, raw as i64).unwrap();
        assert_eq!(read.lines().collect::<Vec<_>>(), lines);
    }

    #[test]
    fn a_damaged_body_is_said_to_be_one() {
        let mut compressor = Compressor::default();
        let (raw, body) = compressor.lines(["some text"].into_iter()).unwrap();
        for (body, raw) in [
            (&body[..body.len() - 3], raw as i64),
            (&b"nonsense"[..], 8),
            (&body[..], raw as i64 + 1),
            (&body[..], raw as i64 - 1),
            (&body[..], i64::MAX),
            (&body[..], -1),
        ] {
            let failure = compressor.read(body, raw).unwrap_err();
            assert_eq!(failure.kind, Kind::Corrupt, "{failure:?}");
        }
    }
}
