//! What policies ask of the world outside: other controllers, and programs that verify.

mod forward;
mod pending;
mod pinning;
mod tools;
