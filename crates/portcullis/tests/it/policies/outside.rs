//! What policies ask of the world outside: other controllers, and programs that verify.

mod pending;
mod pinning;
mod tools;
