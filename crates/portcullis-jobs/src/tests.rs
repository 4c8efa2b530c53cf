//! What holds for every job, whatever happens to it and in which order.

mod model;
mod sequences;
mod server;
