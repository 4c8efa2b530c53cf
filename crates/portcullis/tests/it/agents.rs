//! Agents at the gate: profiles of the graph over objects in a directory, asked over HTTP.

mod admission;
mod chains;
mod directory;
mod operations;
mod world;
