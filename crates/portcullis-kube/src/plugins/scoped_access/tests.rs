//! Tests of the plug-in: the built-in profiles over known objects, and reading what is not known.

mod reading;
mod shipped;
mod world;
