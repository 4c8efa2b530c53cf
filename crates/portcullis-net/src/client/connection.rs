//! A connection that requests can be sent over, one after the other.

use std::sync::Arc;

use bytes::Bytes;
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::client::conn::{http1, http2};
use hyper_util::rt::{TokioExecutor, TokioIo};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::task::JoinSet;

use super::Request;
use crate::{Address, Error, Protocol};

/// The most bytes the head of an answer may have, and the most that are read at once: a head that
/// came with the last read may have twice as many.
const HEAD: usize = 64 << 10;

/// The most headers an answer may have.
const HEADERS: usize = 128;

/// An answer that began: its head is there, its body may still be on its way.
pub type Response = hyper::Response<Incoming>;

/// Bytes both ways.
pub(super) trait Stream: AsyncRead + AsyncWrite + Unpin + Send {}

impl<T: AsyncRead + AsyncWrite + Unpin + Send> Stream for T {}

/// A connection that requests can be sent over. It ends with this value.
#[derive(Debug)]
pub struct Connection {
    sender: Sender,
    address: Arc<Address>,
    /// Moves the bytes.
    _driver: JoinSet<()>,
}

#[derive(Debug)]
enum Sender {
    Http1(http1::SendRequest<Full<Bytes>>),
    Http2(http2::SendRequest<Full<Bytes>>),
}

impl Connection {
    pub(super) async fn open(
        stream: Box<dyn Stream>,
        protocol: Protocol,
        address: Arc<Address>,
    ) -> Result<Self, Error> {
        let stream = TokioIo::new(stream);
        let mut driver = JoinSet::new();
        // A caller that waits for an answer learns of the end of the connection.
        let sender = match protocol {
            Protocol::Http1 => {
                let mut builder = http1::Builder::new();
                builder.max_buf_size(HEAD).max_headers(HEADERS);
                let opened = builder.handshake(stream).await;
                let (sender, connection) = opened.map_err(Error::Exchange)?;
                driver.spawn(async move {
                    let _ = connection.await;
                });
                Sender::Http1(sender)
            }
            Protocol::Http2 => {
                let opened = http2::handshake(TokioExecutor::new(), stream).await;
                let (sender, connection) = opened.map_err(Error::Exchange)?;
                driver.spawn(async move {
                    let _ = connection.await;
                });
                Sender::Http2(sender)
            }
        };
        Ok(Self {
            sender,
            address,
            _driver: driver,
        })
    }

    /// Whether it can be used again; waits for the end of what is under way.
    pub async fn is_ready(&mut self) -> bool {
        match &mut self.sender {
            Sender::Http1(sender) => sender.ready().await.is_ok(),
            Sender::Http2(sender) => sender.ready().await.is_ok(),
        }
    }

    /// Sends a request, and waits until its answer begins.
    ///
    /// # Errors
    ///
    /// When no answer begins.
    pub async fn send(&mut self, request: &Request) -> Result<Response, Error> {
        let response = match &mut self.sender {
            Sender::Http1(sender) => {
                let request = request.written(&self.address, Protocol::Http1)?;
                sender.send_request(request).await
            }
            Sender::Http2(sender) => {
                let request = request.written(&self.address, Protocol::Http2)?;
                sender.send_request(request).await
            }
        };
        response.map_err(Error::Exchange)
    }
}
