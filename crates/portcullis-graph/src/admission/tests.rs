//! Tests of admission rules: what they mean (`meaning`), what is wrong with them (`faults`), what is refused
//! without them (`doors`), and what the
//! profiles that ship say (`seeds`, `shoots`, `nodes`; `hostile` objects never trouble them).

mod doors;
mod faults;
mod hostile;
mod meaning;
mod nodes;
mod requests;
mod seeds;
mod shoots;
mod world;
