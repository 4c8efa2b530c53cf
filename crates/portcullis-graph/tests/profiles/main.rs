//! The built-in profiles, and the example: which edges every object contributes, and what happens
//! to them when objects change.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    reason = "tests"
)]

mod edges;
mod example;
mod gardener;
mod gardener_2021;
mod node;
mod node_answers;
mod pitfalls;
mod self_hosted;
mod shape;
