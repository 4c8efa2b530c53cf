//! The PostgreSQL of these tests.

pub(crate) use portcullis_testing::Postgres as Server;

/// The server that tests share.
pub(crate) fn shared() -> &'static Server {
    Server::shared()
}
