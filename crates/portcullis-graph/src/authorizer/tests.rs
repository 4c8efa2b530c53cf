//! Tests of the whole: the shipped rules over real objects.

mod allowed;
mod speed;
mod whole;
