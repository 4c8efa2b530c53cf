//! Reviews and their answers: what an API server sends, and what it gets.

mod access;
mod admission;
