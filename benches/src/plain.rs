//! One question over a plain connection, for everything that is not measured.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use crate::http1;

/// How long to wait for more of an answer.
const WAIT: Duration = Duration::from_secs(30);
/// More than any answer.
const MOST: usize = 16 << 20;

/// The status and the body that this path is answered with.
pub(crate) fn get(address: SocketAddr, path: &str) -> std::io::Result<(u16, Vec<u8>)> {
    let question = format!("GET {path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n");
    ask(address, question.as_bytes())
}

/// The status and the body that this request is answered with.
pub(crate) fn ask(address: SocketAddr, request: &[u8]) -> std::io::Result<(u16, Vec<u8>)> {
    let mut stream = TcpStream::connect(address)?;
    stream.set_read_timeout(Some(WAIT))?;
    stream.write_all(request)?;
    answer(&mut stream, &mut Vec::new())
}

/// Reads one answer; the buffer is what it is gathered in, and is emptied before.
pub(crate) fn answer(
    stream: &mut impl Read,
    buffer: &mut Vec<u8>,
) -> std::io::Result<(u16, Vec<u8>)> {
    let mut part = [0_u8; 16 << 10];
    buffer.clear();
    loop {
        let count = stream.read(&mut part)?;
        buffer.extend_from_slice(part.get(..count).unwrap_or_default());
        match http1::parse(buffer) {
            Ok(Some(answer)) => return Ok((answer.status, answer.body.into_owned())),
            Ok(None) if count > 0 && buffer.len() < MOST => {}
            Ok(None) => return Err(std::io::Error::other("the answer is not whole")),
            Err(http1::NotHttp(what)) => return Err(std::io::Error::other(what)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_read_to_its_end() {
        let text = b"HTTP/1.1 404 Not Found\r\nContent-Length: 5\r\n\r\nthere".as_slice();
        let (head, rest) = text.split_at(30);
        let mut buffer = b"left over".to_vec();
        let found = answer(&mut head.chain(rest), &mut buffer).unwrap();
        assert_eq!(found, (404, b"there".to_vec()));
        assert!(answer(&mut &*head, &mut buffer).is_err());
        assert!(answer(&mut b"SSH-2.0\r\n\r\n".as_slice(), &mut buffer).is_err());
    }
}
