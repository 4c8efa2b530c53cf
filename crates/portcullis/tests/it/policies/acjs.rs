//! Files of acjs: what is accepted, and how such a listener answers.

mod file;
