//! Host calls of policies: other controllers, and programs that verify.

mod pending;
mod pinning;
mod tools;
