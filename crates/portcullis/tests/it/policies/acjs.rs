//! Files of acjs: what is taken, and how such a listener answers.

mod file;
