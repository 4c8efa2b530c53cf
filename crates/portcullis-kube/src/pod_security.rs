//! The Pod Security Standards: levels, versions, checks, namespace policies.
//!
//! Pure functions over pod views, in the words and the order that Kubernetes'
//! own admission plug-in uses, since people search for those texts. Nothing
//! here looks up a namespace, lists pods or reads a clock.
//!
//! How a plug-in uses it, for a request that [`update::is_significant`] and
//! [`review::IGNORED_POD_SUBRESOURCES`] do not already let through:
//!
//! ```
//! use std::collections::BTreeMap;
//! use portcullis_kube::pod::PodObject;
//! use portcullis_kube::pod_security::{config::PodSecurityConfiguration, namespace, review};
//!
//! // once, at start
//! let config = PodSecurityConfiguration::default();
//!
//! // for each request
//! let labels = BTreeMap::from([("pod-security.kubernetes.io/enforce", "baseline")]);
//! let pod = PodObject::from_json(r#"{"spec":{"hostPID":true}}"#)?;
//! if config.exemptions.has_namespace("shop") || config.exemptions.has_user("alice") {
//!     return Ok(());
//! }
//! let (policy, label_errors) = namespace::policy_of(&labels, &config.defaults);
//! let outcome = review::review(&policy, &label_errors, &config.exemptions, &pod, review::Mode::Pod);
//! assert_eq!(
//!     outcome.denial.as_deref(),
//!     Some(r#"violates PodSecurity "baseline:latest": host namespaces (hostPID=true)"#)
//! );
//! # Ok::<(), portcullis_kube::pod::ShapeError>(())
//! ```

mod checks;
pub mod config;
mod evaluate;
mod field_error;
mod level;
pub mod namespace;
pub mod review;
mod text;
pub mod update;
mod violation;

#[cfg(test)]
mod tests;

pub use evaluate::{NEWEST_MINOR, evaluate};
pub use field_error::{FieldError, FieldErrorKind, join_field_errors};
pub use level::{Level, LevelVersion, ParseLevelError, ParseVersionError, Policy, Version};
pub use violation::{Violation, Violations};
