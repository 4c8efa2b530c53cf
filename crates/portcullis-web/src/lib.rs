//! The web pages: what the REST API answers, shown to people.
//!
//! Pages are a client of the API like any other: they call it in the name of the person who looks, through a
//! [`Backend`], and show what it answers. So a page can't show or do what the API would refuse, and everything a page
//! can do, a program can. This crate does no I/O and knows no HTTP library: it turns a [`Request`] into a [`Reply`].
//!
//! Every page works without scripts. What changes something is a form, with the session's CSRF token, which the server
//! checks before anything here is called.

mod assets;
mod backend;
mod form;
mod frame;
mod pages;
mod query;
mod request;
mod router;
mod shown;
#[cfg(test)]
mod testing;

pub use assets::{Asset, asset};
pub use backend::{Backend, Pending, Person, Place, Problem, Verb};
pub use request::{Reply, Request};
pub use router::{Found, Page, find};
