//! Ends a connection so that the last answer arrives.
//!
//! A socket that is closed while the other side is still sending is reset, and a reset discards
//! what was sent but not yet read. So: stop writing, discard what comes, for a short while.

use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};

const BYTES: usize = 64 << 20;

/// Stops writing and waits for the other side to stop, at most this long.
pub(crate) async fn linger<S: AsyncRead + AsyncWrite + Unpin>(mut stream: S, time: Duration) {
    let pass_over = async {
        if stream.shutdown().await.is_err() {
            return;
        }
        let (mut scratch, mut passed) = ([0_u8; 4096], 0);
        while let Ok(count @ 1..) = stream.read(&mut scratch).await {
            passed += count;
            if passed > BYTES {
                return;
            }
        }
    };
    let _ = tokio::time::timeout(time, pass_over).await;
}
