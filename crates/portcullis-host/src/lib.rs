//! Host calls of policies: signatures and provenance of images, and the opinion
//! of another admission controller.
//!
//! [`WorldHost`] answers the calls of policies; [`HostSettings`] says what it may reach. Whatever is
//! not known for sure is an error, which the policy sees as an exception, never an answer.

mod arguments;
mod cosign;
mod environment;
mod forward;
mod google;
mod host;
mod http;
mod images;
mod origin;
mod pattern;
mod program;
mod reference;
mod settings;
mod slsa;
mod target;
mod text;
mod tool;

pub use host::WorldHost;
pub use settings::{ForwardRule, GoogleToken, HostSettings};
