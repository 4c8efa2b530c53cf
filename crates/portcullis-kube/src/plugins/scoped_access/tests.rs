//! Tests of the plug-in: the profiles that ship over known objects, and reading what is not known.

mod reading;
mod shipped;
mod world;
