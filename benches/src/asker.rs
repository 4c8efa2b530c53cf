//! A connection over which questions are asked one after the other, for servers that want a header with them.

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpStream, UnixStream};

use crate::failure::{Context, Failure, Result};
use crate::http1::{self, Answer};
use crate::transport::{Places, Transport};

/// More than most answers.
const BUFFER: usize = 16 << 10;

/// The bytes of a request with this header.
pub(crate) fn request(method: &str, path: &str, header: &str, body: &str) -> Vec<u8> {
    let length = match body.len() {
        0 => String::new(),
        length => format!("content-type: application/json\r\ncontent-length: {length}\r\n"),
    };
    format!("{method} {path} HTTP/1.1\r\nhost: localhost\r\n{header}{length}\r\n{body}")
        .into_bytes()
}

trait Duplex: AsyncRead + AsyncWrite + Unpin + Send {}
impl<S: AsyncRead + AsyncWrite + Unpin + Send> Duplex for S {}

/// A connection that is kept open.
pub(crate) struct Asker {
    stream: Box<dyn Duplex>,
    buffer: Vec<u8>,
}

impl Asker {
    /// Connects over plain TCP or a unix socket.
    pub(crate) async fn connect(places: &Places, transport: Transport) -> Result<Self> {
        let stream: Box<dyn Duplex> = match transport {
            Transport::Unix => {
                let path = &places.unix;
                Box::new(UnixStream::connect(path).await.context(path.display())?)
            }
            _ => {
                let address = places.tcp;
                let stream = TcpStream::connect(address).await.context(address)?;
                stream.set_nodelay(true).context(address)?;
                Box::new(stream)
            }
        };
        Ok(Self {
            stream,
            buffer: Vec::new(),
        })
    }

    /// Asks, and looks at the answer's status.
    pub(crate) async fn ask(&mut self, request: &[u8], status: u16) -> Result<()> {
        let look = |answer: &Answer<'_>| (answer.status == status).then_some(());
        match self.ask_for(request, look).await? {
            Ok(()) => Ok(()),
            Err(wrong) => Err(Failure::new(format!("expected {status}, got {wrong}"))),
        }
    }

    /// Asks, and says what is found in the answer; if that is nothing, what the answer was.
    pub(crate) async fn ask_for<T>(
        &mut self,
        request: &[u8],
        look: impl FnOnce(&Answer<'_>) -> Option<T>,
    ) -> Result<std::result::Result<T, String>> {
        let sent = self.stream.write_all(request).await;
        sent.context("sending a request")?;
        self.buffer.clear();
        self.buffer.reserve(BUFFER);
        loop {
            let read = self.stream.read_buf(&mut self.buffer).await;
            if read.context("reading an answer")? == 0 {
                return Err(Failure::new("the connection ended inside an answer"));
            }
            let answer = http1::parse(&self.buffer);
            match answer.map_err(|http1::NotHttp(what)| Failure::new(what))? {
                None => {}
                Some(answer) if answer.length != self.buffer.len() => {
                    return Err(Failure::new("more than one answer"));
                }
                Some(answer) => {
                    return Ok(look(&answer).ok_or_else(|| shown(&answer)));
                }
            }
        }
    }

    /// Lets go of what answers were gathered in.
    pub(crate) fn rest(&mut self) {
        self.buffer = Vec::new();
    }
}

fn shown(answer: &Answer<'_>) -> String {
    let body = String::from_utf8_lossy(&answer.body);
    let body: String = body.chars().take(500).collect();
    format!("{} with {body}", answer.status)
}
