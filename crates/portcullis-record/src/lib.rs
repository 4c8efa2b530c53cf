//! What is recorded of a decision and its input.
//!
//! A door hands over what it decided ([`Material`]); what comes out is a line of JSON with every
//! secret masked ([`Decision`]), and the part of it that lists show ([`Summary`]). Nothing here does
//! I/O: storing lines is the task of `portcullis-store`.

mod action;
mod decision;
mod input;
mod mask;
mod masker;
mod material;
mod recorded;
mod scrub;
mod search;
mod shape;
mod summary;
mod trace;

pub use action::Action;
pub use decision::Decision;
pub use input::{Certificate, Http, Input, Webhook, WebhookName};
pub use mask::MASKED;
pub use mask::credentials::without_secrets as without_tokens;
pub use masker::{Masker, Written};
pub use material::{Admission, Authorization, Body, Decided, Material};
pub use recorded::Recorded;
pub use summary::{Answer, Summary};
pub use trace::{HostCallTrace, Miss, PolicyTrace, RolesTrace, TraceOutcome, TraceStep};
