//! Host calls of policies: signatures and provenance of images, and the answer
//! of another admission controller; and the servers that plug-ins ask.
//!
//! [`ExternalHost`] answers the calls of policies; [`HostSettings`] says what it may reach. Whatever is
//! not known for sure is an error, which the policy sees as an exception, never an answer.

mod answer;
mod arguments;
mod context;
mod cosign;
mod endpoint;
mod environment;
mod forward;
mod forward_rule;
mod google;
mod host;
mod http;
mod image_review;
mod images;
mod origin;
mod program;
mod reference;
mod registry;
mod settings;
mod slsa;
mod target;
mod text;
mod token_file;
mod tool;
mod verified;
mod webhook;

pub use endpoint::{Endpoint, EndpointSettings, EndpointToken};
pub use forward_rule::ForwardRule;
pub use host::ExternalHost;
pub use image_review::ImageReviewStatus;
pub use registry::RegistrySettings;
pub use settings::{GoogleToken, HostSettings, SignatureVerifier};
pub use webhook::WebhookOpinion;
