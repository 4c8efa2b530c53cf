//! The relationship graph, fed by watches of a real API server.

mod custom_resources;
mod gardener;
mod nodes;
mod objects;
mod requests;
