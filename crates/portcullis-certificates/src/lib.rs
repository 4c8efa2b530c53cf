//! Certificates that Portcullis makes for itself.
//!
//! `issue` makes them, `contents` is what a Secret holds of them, and `rotation` decides, from the time and from
//! what was read of the Secret and of the webhook configurations, what has to be done next. Reading and writing is
//! left to the caller: nothing here does I/O, or reads the clock.
//!
//! INVARIANT: an authority stays in the published bundle until everything it has signed is over, and a certificate
//! is served only after its authority was published. Clients therefore trust every certificate that any
//! replica may still be serving, also one that can't reach the cluster any more.

mod certificate;
mod contents;
mod identity;
mod issue;
mod plan;
mod rotation;
mod terms;
#[cfg(test)]
mod tests;

pub use certificate::{Certificate, CertificateError, encode_all};
pub use contents::{Contents, ContentsError, Data};
pub use identity::{Identity, SecretKey};
pub use issue::{IssueError, development};
pub use plan::{Step, apply};
pub use rotation::{Bundle, Look, Moment, Rotation, Round, Seen};
pub use terms::Terms;
