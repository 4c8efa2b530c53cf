//! Frames over a socket: a length, then JSON.

use std::fmt;
use std::io::{self, Read, Write};
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

use portcullis_core::clock;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::limits::Limits;

/// Frames may always be as large as this.
const ROOM: usize = 16 << 20;
/// A read asks for no more than this at a time, whatever length was announced.
const PIECE: usize = 64 << 10;

/// Why nothing comes or goes any more.
#[derive(Debug)]
pub(super) enum ChannelError {
    /// The time is over.
    Late,
    /// The other side is gone, or says what makes no sense.
    Gone(String),
}

impl ChannelError {
    fn of(what: impl fmt::Display) -> Self {
        Self::Gone(format!("a worker process failed: {what}"))
    }
}

/// One end of a socket, on which nothing is waited for forever.
#[derive(Debug)]
pub(super) struct Channel {
    stream: UnixStream,
    /// How large a frame may be.
    largest: usize,
}

impl Channel {
    /// Frames that come must not be larger than an evaluation within these limits could make them.
    pub(super) fn new(stream: UnixStream, limits: &Limits) -> Self {
        Self {
            stream,
            largest: limits.memory.saturating_mul(8).max(ROOM),
        }
    }

    /// Sends one frame.
    pub(super) fn send(
        &self,
        message: &impl Serialize,
        until: Instant,
    ) -> Result<(), ChannelError> {
        let frame = frame(message).map_err(ChannelError::of)?;
        let mut rest = frame.as_slice();
        while !rest.is_empty() {
            let left = Some(left(until)?);
            self.stream
                .set_write_timeout(left)
                .map_err(ChannelError::of)?;
            match (&self.stream).write(rest) {
                Ok(0) => return Err(ChannelError::of("it takes nothing")),
                Ok(count) => rest = rest.get(count..).unwrap_or_default(),
                Err(error) if is_passing(&error) => {}
                Err(error) => return Err(ChannelError::of(error)),
            }
        }
        Ok(())
    }

    /// Receives one frame.
    pub(super) fn receive<M: DeserializeOwned>(&self, until: Instant) -> Result<M, ChannelError> {
        let length = self.read(4, until)?;
        let length: [u8; 4] = length
            .try_into()
            .map_err(|_| ChannelError::of("no length"))?;
        let length = usize::try_from(u32::from_le_bytes(length)).unwrap_or(usize::MAX);
        if length > self.largest {
            return Err(ChannelError::of("it sends too much"));
        }
        let body = self.read(length, until)?;
        serde_json::from_slice(&body).map_err(ChannelError::of)
    }

    fn read(&self, length: usize, until: Instant) -> Result<Vec<u8>, ChannelError> {
        let mut bytes = Vec::with_capacity(length.min(PIECE));
        let mut piece = vec![0; length.min(PIECE)];
        while bytes.len() < length {
            let left = Some(left(until)?);
            self.stream
                .set_read_timeout(left)
                .map_err(ChannelError::of)?;
            let wanted = piece.len().min(length - bytes.len());
            let room = piece.get_mut(..wanted).unwrap_or_default();
            match (&self.stream).read(room) {
                Ok(0) => return Err(ChannelError::of("it ended")),
                Ok(count) => bytes.extend(room.iter().take(count)),
                Err(error) if is_passing(&error) => {}
                Err(error) => return Err(ChannelError::of(error)),
            }
        }
        Ok(bytes)
    }
}

/// One frame.
pub(super) fn frame(message: &impl Serialize) -> io::Result<Vec<u8>> {
    let mut frame = vec![0; 4];
    serde_json::to_writer(&mut frame, message)?;
    let length = u32::try_from(frame.len() - 4);
    let length = length.map_err(|_| io::Error::from(io::ErrorKind::FileTooLarge))?;
    for (place, byte) in frame.iter_mut().zip(length.to_le_bytes()) {
        *place = byte;
    }
    Ok(frame)
}

/// The next frame of one that is trusted, for as long as it takes.
pub(super) fn receive_trusted<M: DeserializeOwned>(mut stream: &UnixStream) -> io::Result<M> {
    let mut length = [0; 4];
    stream.read_exact(&mut length)?;
    let mut body = Vec::new();
    let length = u64::from(u32::from_le_bytes(length));
    if stream.take(length).read_to_end(&mut body)? as u64 != length {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    Ok(serde_json::from_slice(&body)?)
}

fn left(until: Instant) -> Result<Duration, ChannelError> {
    let left = until.saturating_duration_since(clock::monotonic());
    match left.is_zero() {
        true => Err(ChannelError::Late),
        // The system's own clock may be coarser.
        false => Ok(left.max(Duration::from_millis(1))),
    }
}

/// Whether it is only that nothing came for a while.
fn is_passing(error: &io::Error) -> bool {
    use io::ErrorKind::{Interrupted, TimedOut, WouldBlock};
    matches!(error.kind(), Interrupted | TimedOut | WouldBlock)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pair() -> (Channel, UnixStream) {
        let (own, theirs) = UnixStream::pair().unwrap();
        (Channel::new(own, &Limits::default()), theirs)
    }

    fn soon() -> Instant {
        clock::monotonic() + Duration::from_millis(20)
    }

    fn later() -> Instant {
        clock::monotonic() + Duration::from_secs(60)
    }

    #[test]
    fn what_is_sent_arrives() {
        let (channel, theirs) = pair();
        channel.send(&vec!["a", "b"], later()).unwrap();
        let came: Vec<String> = receive_trusted(&theirs).unwrap();
        assert_eq!(came, ["a", "b"]);
        (&theirs).write_all(&frame(&7).unwrap()).unwrap();
        assert_eq!(channel.receive::<u8>(later()).unwrap(), 7);
    }

    #[test]
    fn nothing_is_waited_for_forever() {
        let (channel, mut theirs) = pair();
        assert!(matches!(
            channel.receive::<u8>(soon()),
            Err(ChannelError::Late)
        ));
        theirs.write_all(&[9, 0, 0, 0, b'1']).unwrap();
        assert!(matches!(
            channel.receive::<u8>(soon()),
            Err(ChannelError::Late)
        ));
        // More than the system takes for one that doesn't read.
        let much = "x".repeat(8 << 20);
        assert!(matches!(
            channel.send(&much, soon()),
            Err(ChannelError::Late)
        ));
    }

    #[test]
    fn garbage_and_too_much_are_noticed() {
        for sent in [&[1, 0, 0, 0, b'x'][..], &[255, 255, 255, 255], &[1]] {
            let (channel, mut theirs) = pair();
            theirs.write_all(sent).unwrap();
            drop(theirs);
            let came = channel.receive::<u8>(later());
            assert!(
                matches!(came, Err(ChannelError::Gone(_))),
                "{sent:?} {came:?}"
            );
        }
    }
}
