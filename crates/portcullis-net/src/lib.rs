//! The one HTTP client of Portcullis.
//!
//! [`Address`] says where a server is, [`Trust`] which certificates are accepted, and [`Client`] makes one
//! exchange with it, or a [`Connection`] for several. Everything has a limit: the head and the body of an
//! answer, and the time for all of it. Nothing is redirected, sent through a proxy or decompressed.
//! [`Backoff`] says how long to wait before the next attempt.
//!
//! Which servers may be asked, with which headers, and what their answers mean, is up to the callers.

mod address;
mod backoff;
mod certificate;
mod client;
mod deadline;
mod error;
mod protocol;
mod reach;
mod trust;

pub use address::{Address, AddressError, Host, Web};
pub use backoff::{Backoff, spread};
pub use certificate::{Certificate, CertificateFacts, check_server, pem_of};
pub use client::{Client, Connection, HttpResponse, Limits, Pieces, Request, Response, read};
pub use deadline::{Deadline, Late};
pub use error::Error;
pub use hyper::{Method, StatusCode, header};
pub use protocol::Protocol;
pub use trust::{
    Trust, TrustError, authorities, certificates, private_key, provider, system_authorities,
};
