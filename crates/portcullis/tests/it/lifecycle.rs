//! From the start to the end: what is printed, logged, counted, and how a gate ends.

mod demonstration;
mod ending;
mod logs;
mod operations;
