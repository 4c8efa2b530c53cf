//! The body of an answer: complete, or a stream of pieces that ends when either side closes it.

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use http_body_util::Full;
use hyper::body::{Body, Frame, SizeHint};
use tokio::sync::mpsc;

use super::activity::Activity;
use super::budget::Share;

/// The body of an answer.
#[derive(Debug)]
pub(crate) enum Answer {
    /// Known when the answer begins.
    Whole(Content),
    /// The same, handed to its connection.
    Sent(Full<Bytes>),
    /// Made piece by piece.
    Stream(Stream),
}

/// What a whole answer says.
#[derive(Debug)]
pub(crate) enum Content {
    /// Made for this answer.
    Own(Vec<u8>),
    /// Part of the program, or shared.
    Shared(Bytes),
}

/// Pieces as they come. The connection counts as busy until the last one.
#[derive(Debug)]
pub(crate) struct Stream {
    pieces: mpsc::Receiver<Bytes>,
    sending: Option<Sending>,
}

/// An answer that its client has not taken yet: it takes memory, and its time runs.
#[derive(Debug)]
pub(crate) struct Sending {
    activity: Arc<Activity>,
    id: u64,
    _share: Share,
}

impl Answer {
    /// A body that is known.
    pub(crate) fn whole(content: impl Into<Content>) -> Self {
        Self::Whole(content.into())
    }

    /// A body that ends when the sender of its pieces is dropped.
    pub(crate) fn stream(pieces: mpsc::Receiver<Bytes>) -> Self {
        Self::Stream(Stream {
            pieces,
            sending: None,
        })
    }

    /// The memory that it takes for itself.
    pub(crate) fn memory(&self) -> usize {
        match self {
            Self::Whole(Content::Own(bytes)) => bytes.capacity(),
            Self::Whole(Content::Shared(_)) | Self::Sent(_) | Self::Stream(_) => 0,
        }
    }

    /// How long it is, if that is known.
    fn length(&self) -> usize {
        match self {
            Self::Whole(content) => content.as_ref().len(),
            Self::Sent(_) | Self::Stream(_) => 0,
        }
    }

    /// Hands it to its connection. The request ends now, or with the last piece; share and time are
    /// given back when the client has taken the last byte.
    pub(crate) fn send(self, activity: &Arc<Activity>, share: Share) -> Self {
        let length = self.length();
        let sending = |activity: &Arc<Activity>| Sending {
            id: activity.answer_made(length),
            activity: Arc::clone(activity),
            _share: share,
        };
        match self {
            Self::Whole(content) => {
                activity.request_ended();
                let sending = sending(activity);
                let bytes = Bytes::from_owner(Outgoing {
                    content,
                    _sending: sending,
                });
                Self::Sent(Full::new(bytes))
            }
            Self::Stream(stream) => Self::Stream(stream.sent_by(sending(activity))),
            sent @ Self::Sent(_) => sent,
        }
    }
}

/// Bytes on their way to the client.
struct Outgoing {
    content: Content,
    _sending: Sending,
}

impl AsRef<[u8]> for Outgoing {
    fn as_ref(&self) -> &[u8] {
        self.content.as_ref()
    }
}

impl AsRef<[u8]> for Content {
    fn as_ref(&self) -> &[u8] {
        match self {
            Self::Own(bytes) => bytes,
            Self::Shared(bytes) => bytes,
        }
    }
}

impl From<Vec<u8>> for Content {
    fn from(bytes: Vec<u8>) -> Self {
        Self::Own(bytes)
    }
}

impl From<&'static [u8]> for Content {
    fn from(bytes: &'static [u8]) -> Self {
        Self::Shared(Bytes::from_static(bytes))
    }
}

impl Stream {
    fn sent_by(mut self, sending: Sending) -> Self {
        self.sending = Some(sending);
        self
    }

    fn poll_piece(&mut self, context: &mut Context<'_>) -> Poll<Option<Bytes>> {
        let polled = self.pieces.poll_recv(context);
        if let Some(sending) = &self.sending {
            // Time runs from a piece until the client has room for another.
            match &polled {
                Poll::Ready(_) => sending.activity.answer_goes_on(sending.id),
                Poll::Pending => sending.activity.answer_rests(sending.id),
            }
        }
        polled
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        if let Some(sending) = &self.sending {
            sending.activity.request_ended();
        }
    }
}

impl Drop for Sending {
    fn drop(&mut self) {
        self.activity.answer_taken(self.id);
    }
}

impl Body for Answer {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        match self.get_mut() {
            // Never polled before it is handed to a connection.
            Self::Whole(_) => Poll::Ready(None),
            Self::Sent(body) => Pin::new(body).poll_frame(context),
            Self::Stream(stream) => stream
                .poll_piece(context)
                .map(|piece| piece.map(|piece| Ok(Frame::data(piece)))),
        }
    }

    fn is_end_stream(&self) -> bool {
        match self {
            Self::Whole(content) => content.as_ref().is_empty(),
            Self::Sent(body) => body.is_end_stream(),
            Self::Stream(_) => false,
        }
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            Self::Whole(content) => SizeHint::with_exact(content.as_ref().len() as u64),
            Self::Sent(body) => body.size_hint(),
            Self::Stream(_) => SizeHint::default(),
        }
    }
}
