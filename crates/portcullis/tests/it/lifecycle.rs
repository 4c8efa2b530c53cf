//! From start to end: what is printed, logged and counted, and how a server ends.

mod data_directory;
mod demonstration;
mod ending;
mod file_size;
mod logs;
mod operations;
mod service_manager;
