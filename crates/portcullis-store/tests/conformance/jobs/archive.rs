//! The archive: what finished moves there, is found there, and comes back.

mod border;
mod builders;
mod days;
mod killed;
mod moving;
mod servers;
