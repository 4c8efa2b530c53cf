//! What outlives the process: decisions, in SQLite or PostgreSQL.
//!
//! Everything here blocks, so callers give it threads of their own. What a record says, and that no
//! secret is in it, is the affair of `portcullis-record`.
