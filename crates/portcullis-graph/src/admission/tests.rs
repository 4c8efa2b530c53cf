//! Tests of admission rules: what they mean (`meaning`), their faults (`faults`), what is denied
//! without them (`doors`), and what the
//! built-in profiles decide (`seeds`, `shoots`, `nodes`; also about `hostile` objects).

mod doors;
mod faults;
mod hostile;
mod meaning;
mod nodes;
mod requests;
mod seeds;
mod shoots;
mod world;
