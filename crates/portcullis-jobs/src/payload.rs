//! What controllers and policies are told about a job, and what a policy changed.

mod entry;
mod object;
mod predefined;

pub use entry::{PAYLOAD_VERSION, PayloadEntry, visible_variables};
pub use object::{mutation_of_object, policy_object};
pub use predefined::{is_predefined_name, predefined_variables};

#[cfg(test)]
mod tests;
