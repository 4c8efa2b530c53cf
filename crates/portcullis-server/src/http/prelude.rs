//! Looks at the first bytes of a plain connection to detect the client's protocol.
//!
//! Over TLS the handshake negotiates it. Without, HTTP/2 begins with a preface of its own, and a TLS
//! client on a plain port gets an error instead of silence.

use std::io;

use tokio::io::{AsyncRead, AsyncReadExt, ReadBuf};

/// The byte that every TLS handshake begins with.
pub(crate) const TLS_HANDSHAKE: u8 = 0x16;

/// What a client speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Protocol {
    /// HTTP/1.0 or 1.1.
    Http1,
    /// HTTP/2.
    Http2,
    /// TLS, on a port that has none.
    Tls,
}

/// Reads as many bytes as it takes to decide.
pub(crate) async fn look<S: AsyncRead + Unpin>(stream: &mut S) -> io::Result<(Protocol, Prefix)> {
    let mut start = [0_u8; 4];
    let mut length = 0;
    let protocol = loop {
        let Some(room) = start.get_mut(length..) else {
            break Protocol::Http1;
        };
        let count = stream.read(room).await?;
        length += count;
        match start.get(..length).unwrap_or_default() {
            [TLS_HANDSHAKE, ..] => break Protocol::Tls,
            b"PRI " => break Protocol::Http2,
            seen if count > 0 && b"PRI ".starts_with(seen) => {}
            _ => break Protocol::Http1,
        }
    };
    Ok((
        protocol,
        Prefix {
            start,
            at: 0,
            length,
        },
    ))
}

/// Bytes that were read ahead and belong in front of the stream again.
#[derive(Debug, Default)]
pub(crate) struct Prefix {
    start: [u8; 4],
    at: usize,
    length: usize,
}

impl Prefix {
    /// Moves what is left into the buffer; false when nothing is left.
    pub(crate) fn give(&mut self, buffer: &mut ReadBuf<'_>) -> bool {
        let left = self.start.get(self.at..self.length).unwrap_or_default();
        let count = left.len().min(buffer.remaining());
        buffer.put_slice(left.get(..count).unwrap_or_default());
        self.at += count;
        count > 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http::activity::{Activity, Tracked};

    async fn seen(bytes: &'static [u8]) -> (Protocol, Vec<u8>) {
        let mut stream = bytes_one_by_one(bytes);
        let (protocol, prefix) = look(&mut stream).await.unwrap();
        let mut all = Vec::new();
        let mut stream = Tracked::new(stream, prefix, Activity::new(std::time::Duration::MAX));
        stream.read_to_end(&mut all).await.unwrap();
        (protocol, all)
    }

    fn bytes_one_by_one(bytes: &'static [u8]) -> tokio::io::DuplexStream {
        let (near, far) = tokio::io::duplex(1);
        tokio::spawn(async move {
            let mut near = near;
            let _ = tokio::io::AsyncWriteExt::write_all(&mut near, bytes).await;
        });
        far
    }

    #[tokio::test]
    async fn tells_protocols_apart_and_loses_no_byte() {
        for (bytes, protocol) in [
            (&b"POST / HTTP/1.1"[..], Protocol::Http1),
            (b"PRI * HTTP/2.0", Protocol::Http2),
            (b"PUT", Protocol::Http1),
            (b"PR", Protocol::Http1),
            (b"", Protocol::Http1),
            (b"\x16\x03\x01", Protocol::Tls),
        ] {
            assert_eq!(seen(bytes).await, (protocol, bytes.to_vec()));
        }
    }
}
