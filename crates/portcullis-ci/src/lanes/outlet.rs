//! The way to one URL, with connections that are kept.

use std::time::Duration;

use portcullis_core::sync::Mutex;
use portcullis_net::{Client, Connection, Deadline, Error, HttpResponse, Request, read};

/// The longest that connecting may take.
const CONNECTING: Duration = Duration::from_secs(3);
/// Connections that are kept.
const MOST_IDLE: usize = 32;

/// The way to one URL.
#[derive(Debug)]
pub(crate) struct Outlet {
    client: Client,
    idle: Mutex<Vec<Connection>>,
}

impl Outlet {
    pub(crate) fn new(client: Client) -> Self {
        Self {
            client,
            idle: Mutex::new(Vec::new()),
        }
    }

    /// Sends a request, and waits for an answer of at most so many bytes.
    pub(crate) async fn post(
        &self,
        request: &Request,
        within: Duration,
        most: usize,
    ) -> Result<HttpResponse, Error> {
        Deadline::After(within)
            .bound(self.exchange(request, most))
            .await?
    }

    async fn exchange(&self, request: &Request, most: usize) -> Result<HttpResponse, Error> {
        loop {
            let kept = self.idle.lock().pop();
            let Some(mut connection) = kept else { break };
            if !connection.is_ready().await {
                continue;
            }
            match connection.send(request).await {
                Ok(response) => return self.finish(connection, response, most).await,
                // The other end may have closed it just now: try the next, or a new one.
                Err(Error::Exchange(_)) => {}
                Err(error) => return Err(error),
            }
        }
        let connecting = Deadline::After(CONNECTING).bound(self.client.connect());
        let mut connection = connecting.await??;
        let response = connection.send(request).await?;
        self.finish(connection, response, most).await
    }

    async fn finish(
        &self,
        connection: Connection,
        response: portcullis_net::Response,
        most: usize,
    ) -> Result<HttpResponse, Error> {
        let answer = read(response, most).await?;
        let mut idle = self.idle.lock();
        if idle.len() < MOST_IDLE {
            idle.push(connection);
        }
        Ok(answer)
    }
}
