//! Files of acjs: what is taken, and how such a listener answers.

mod ctrdac;
mod file;
mod paths;
mod shape;
