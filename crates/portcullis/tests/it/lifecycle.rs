//! From the start to the end: what is printed, logged, counted, and how a gate ends.

mod data_directory;
mod demonstration;
mod ending;
mod file_size;
mod logs;
mod operations;
