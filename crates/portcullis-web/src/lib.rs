//! The web pages: what the REST API answers, shown to people.
//!
//! Pages are a client of the API like any other: they call it in the name of the person who looks, through a
//! [`Backend`], and show what it answers. So a page can't show or do what the API would refuse, and everything a page
//! can do, a program can. This crate does no I/O and knows no HTTP library: it turns a [`Request`] into a [`Reply`].
//!
//! Every page works without scripts; those there are (`script`) are optional when it is built, too. What changes something is a form, with the session's CSRF token, which the server
//! checks before anything here is called.

mod ask;
mod assets;
mod backend;
mod badge;
// Its list is tested here: cargo runs no tests of build scripts.
#[cfg(test)]
#[path = "../build.rs"]
#[allow(dead_code, reason = "cargo calls the rest")]
mod build;
mod diff;
mod form;
mod frame;
mod listing;
mod pages;
mod plot;
mod query;
mod reply;
mod request;
mod route;
mod router;
mod script;
mod shown;
mod sign_in;
#[cfg(test)]
mod testing;

pub use assets::{Asset, asset};
pub use backend::{Backend, Pending, Person, Place, Problem, Verb};
pub use frame::problem;
pub use reply::Reply;
pub use request::Request;
pub use router::{Found, Page, explain, find};
pub use sign_in::SignIn;
