//! Protocol Buffers, as far as they are written here: OTLP's messages are few and frozen.
//!
//! Fields that have their default value may be left out, and are unless stated otherwise.

/// Bytes of a message that is being written.
#[derive(Debug, Default)]
pub(crate) struct Message(Vec<u8>);

/// How a field is written, in the lowest bits of its key.
#[derive(Clone, Copy)]
enum Kind {
    Varint = 0,
    Fixed64 = 1,
    Bytes = 2,
    Fixed32 = 5,
}

impl Message {
    pub(crate) fn with_capacity(bytes: usize) -> Self {
        Self(Vec::with_capacity(bytes))
    }

    pub(crate) fn into_bytes(self) -> Vec<u8> {
        self.0
    }

    /// An unsigned number, an enumeration, or a truth value.
    pub(crate) fn number(&mut self, field: u32, value: u64) {
        self.key(field, Kind::Varint);
        self.varint(value);
    }

    pub(crate) fn fixed64(&mut self, field: u32, value: u64) {
        self.key(field, Kind::Fixed64);
        self.0.extend_from_slice(&value.to_le_bytes());
    }

    pub(crate) fn fixed32(&mut self, field: u32, value: u32) {
        self.key(field, Kind::Fixed32);
        self.0.extend_from_slice(&value.to_le_bytes());
    }

    pub(crate) fn text(&mut self, field: u32, value: &str) {
        self.bytes(field, value.as_bytes());
    }

    pub(crate) fn bytes(&mut self, field: u32, value: &[u8]) {
        self.key(field, Kind::Bytes);
        self.varint(value.len() as u64);
        self.0.extend_from_slice(value);
    }

    /// A message inside this one.
    pub(crate) fn message(&mut self, field: u32, write: impl FnOnce(&mut Self)) {
        self.key(field, Kind::Bytes);
        // The length comes before what it is the length of, and is known only then. Most are
        // short: one byte is kept for it.
        let place = self.0.len();
        self.0.push(0);
        write(self);
        let end = self.0.len();
        let length = end - place - 1;
        if let (Ok(short @ ..0x80), Some(byte)) = (u8::try_from(length), self.0.get_mut(place)) {
            *byte = short;
            return;
        }
        self.varint(length as u64);
        let width = self.0.len() - end;
        if let Some(written) = self.0.get_mut(place..) {
            written.rotate_right(width);
        }
        // What was kept is now behind the length.
        self.0.remove(place + width);
    }

    fn key(&mut self, field: u32, kind: Kind) {
        self.varint(u64::from(field) << 3 | kind as u64);
    }

    fn varint(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.0.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.0.push(value as u8);
    }
}

/// Reads a varint, and what comes after it.
fn read_varint(bytes: &[u8]) -> Option<(u64, &[u8])> {
    let mut value = 0u64;
    for (index, byte) in bytes.iter().enumerate().take(10) {
        value |= u64::from(byte & 0x7f).checked_shl(7 * u32::try_from(index).ok()?)?;
        if byte & 0x80 == 0 {
            return Some((value, bytes.get(index + 1..)?));
        }
    }
    None
}

/// What a field of a message holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Value<'a> {
    /// Of any width.
    Number(u64),
    /// Text, bytes or a message.
    Bytes(&'a [u8]),
}

/// The fields of a message, in order; ends at the first invalid one.
pub(crate) fn fields(mut bytes: &[u8]) -> impl Iterator<Item = (u32, Value<'_>)> {
    std::iter::from_fn(move || {
        let (key, rest) = read_varint(bytes)?;
        let field = u32::try_from(key >> 3).ok()?;
        let (value, rest) = match key & 7 {
            0 => {
                let (value, rest) = read_varint(rest)?;
                (Value::Number(value), rest)
            }
            1 => {
                let (value, rest) = rest.split_first_chunk()?;
                (Value::Number(u64::from_le_bytes(*value)), rest)
            }
            2 => {
                let (length, rest) = read_varint(rest)?;
                let (value, rest) = rest.split_at_checked(usize::try_from(length).ok()?)?;
                (Value::Bytes(value), rest)
            }
            5 => {
                let (value, rest) = rest.split_first_chunk()?;
                (Value::Number(u32::from_le_bytes(*value).into()), rest)
            }
            _ => return None,
        };
        bytes = rest;
        Some((field, value))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_examples_of_the_specification() {
        let mut message = Message::default();
        message.number(1, 150);
        assert_eq!(message.into_bytes(), [0x08, 0x96, 0x01]);
        let mut message = Message::default();
        message.text(2, "testing");
        assert_eq!(message.into_bytes(), b"\x12\x07testing");
        let mut message = Message::default();
        message.message(3, |inner| inner.number(1, 150));
        assert_eq!(message.into_bytes(), [0x1a, 0x03, 0x08, 0x96, 0x01]);
    }

    #[test]
    fn what_is_written_is_read_again() {
        let long = "x".repeat(100_000);
        let mut message = Message::default();
        message.number(1, u64::MAX);
        message.message(300, |outer| {
            outer.message(1, |inner| inner.text(2, &long));
            outer.fixed64(2, 7);
        });
        message.fixed32(4, 9);
        message.message(5, |_| {});
        let bytes = message.into_bytes();
        let read: Vec<_> = fields(&bytes).collect();
        assert_eq!(read[0], (1, Value::Number(u64::MAX)));
        assert_eq!(read[2], (4, Value::Number(9)));
        assert_eq!(read[3], (5, Value::Bytes(b"")));
        let (300, Value::Bytes(outer)) = read[1] else {
            panic!("{read:?}")
        };
        let outer: Vec<_> = fields(outer).collect();
        assert_eq!(outer[1], (2, Value::Number(7)));
        let (1, Value::Bytes(inner)) = outer[0] else {
            panic!("{outer:?}")
        };
        let inner: Vec<_> = fields(inner).collect();
        assert_eq!(inner, [(2, Value::Bytes(long.as_bytes()))]);
    }

    #[test]
    fn nonsense_ends_the_reading() {
        for bad in [
            &[0x80][..],
            &[0xff; 11],
            &[0x0a, 0x05, 0x01],
            &[
                0x0a, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01,
            ],
            &[0x09, 0x00],
            &[0x0b, 0x00],
        ] {
            assert_eq!(fields(bad).count(), 0, "{bad:?}");
        }
    }
}
