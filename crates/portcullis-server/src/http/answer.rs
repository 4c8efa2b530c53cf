//! The body of an answer: whole, or a stream of pieces that ends when either side has enough.

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use http_body_util::Full;
use hyper::body::{Body, Frame, SizeHint};
use tokio::sync::mpsc;

use super::activity::Activity;

/// The body of an answer.
#[derive(Debug)]
pub(crate) enum Answer {
    /// Known when the answer begins.
    Whole(Full<Bytes>),
    /// Made piece by piece.
    Stream(Stream),
}

/// Pieces as they come. The connection counts as busy until the last one.
#[derive(Debug)]
pub(crate) struct Stream {
    pieces: mpsc::Receiver<Bytes>,
    activity: Option<Arc<Activity>>,
}

impl Answer {
    /// A body that is known.
    pub(crate) fn whole(bytes: impl Into<Bytes>) -> Self {
        Self::Whole(Full::new(bytes.into()))
    }

    /// A body that ends when the sender of its pieces is dropped.
    pub(crate) fn stream(pieces: mpsc::Receiver<Bytes>) -> Self {
        Self::Stream(Stream {
            pieces,
            activity: None,
        })
    }

    /// The request ends now, or with the last piece.
    pub(crate) fn ends(&mut self, activity: Arc<Activity>) {
        match self {
            Self::Whole(_) => activity.request_ended(),
            Self::Stream(stream) => stream.activity = Some(activity),
        }
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        if let Some(activity) = &self.activity {
            activity.request_ended();
        }
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
            Self::Whole(body) => Pin::new(body).poll_frame(context),
            Self::Stream(stream) => stream
                .pieces
                .poll_recv(context)
                .map(|piece| piece.map(|piece| Ok(Frame::data(piece)))),
        }
    }

    fn is_end_stream(&self) -> bool {
        match self {
            Self::Whole(body) => body.is_end_stream(),
            Self::Stream(_) => false,
        }
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            Self::Whole(body) => body.size_hint(),
            Self::Stream(_) => SizeHint::default(),
        }
    }
}
