//! Host calls of policies: signatures and provenance of images, and the answer
//! of another admission controller.
//!
//! [`ExternalHost`] answers the calls of policies; [`HostSettings`] says what it may reach. Whatever is
//! not known for sure is an error, which the policy sees as an exception, never an answer.

mod arguments;
mod context;
mod cosign;
mod environment;
mod forward;
mod forward_rule;
mod google;
mod host;
mod http;
mod images;
mod origin;
mod program;
mod reference;
mod settings;
mod slsa;
mod target;
mod text;
mod tool;

pub use forward_rule::ForwardRule;
pub use host::ExternalHost;
pub use settings::{GoogleToken, HostSettings};
