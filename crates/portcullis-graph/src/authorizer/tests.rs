//! Tests of the authorizer as a whole: the built-in rules over real objects.

mod allowed;
mod speed;
mod whole;
