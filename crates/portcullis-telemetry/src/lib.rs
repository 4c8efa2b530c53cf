//! Spans and logs for an OpenTelemetry receiver, sent as OTLP.
//!
//! No OpenTelemetry code is on the path of a request: when a decision has been made,
//! [`Telemetry::admission`] or [`Telemetry::access`] writes its spans and its log record, already in
//! the form in which they are sent, into a bounded queue. An exporter
//! for each signal takes batches out of it. A full queue drops and counts; nothing ever waits.
//!
//! What is exported are names, codes and times; never an object, and never a text that a policy, a
//! plug-in or a caller wrote. Start reading at [`Telemetry`]; `settings` has the variables.

mod decision;
mod exporter;
mod layer;
mod otlp;
mod queue;
mod sampler;
mod settings;
mod spans;
mod telemetry;
#[cfg(test)]
mod tests;
mod times;
mod transport;
mod wire;

pub use settings::SettingsError;
pub use telemetry::{Running, Telemetry, Unstarted};
