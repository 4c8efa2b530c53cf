//! Bodies in chunks: some servers send long answers so.

use super::{NotHttp, find};

/// Whether this header says that the body comes in chunks.
pub(super) fn is_announced(line: &[u8]) -> bool {
    line.trim_ascii()
        .eq_ignore_ascii_case(b"transfer-encoding: chunked")
}

/// The body without the marks between its chunks, and the length with them; none while it is not
/// yet whole. Trailers are not understood.
pub(super) fn body(buffer: &[u8]) -> Result<Option<(Vec<u8>, usize)>, NotHttp> {
    const END: &[u8] = b"\r\n";
    let (mut body, mut at) = (Vec::new(), 0);
    loop {
        let rest = buffer.get(at..).unwrap_or_default();
        let Some(end) = find(rest, END) else {
            return Ok(None);
        };
        let length = length(rest.get(..end).unwrap_or_default());
        let length = length.ok_or(NotHttp("a chunk without a length"))?;
        let begins = end + END.len();
        let ends = begins.saturating_add(length);
        let Some(chunk) = rest.get(begins..ends) else {
            return Ok(None);
        };
        match rest.get(ends..ends + END.len()) {
            None => return Ok(None),
            Some(END) => {}
            Some(_) => return Err(NotHttp("a chunk longer than it says")),
        }
        body.extend_from_slice(chunk);
        at += ends + END.len();
        if length == 0 {
            return Ok(Some((body, at)));
        }
    }
}

fn length(line: &[u8]) -> Option<usize> {
    let digits = std::str::from_utf8(line).ok()?;
    usize::from_str_radix(digits.trim(), 16)
        .ok()
        .filter(|length| *length < 1 << 30)
}
