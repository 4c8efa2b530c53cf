//! Tests of subjects and rules: against a made-up graph, and with the shipped rules over real objects.

mod cases;
mod decisions;
mod faults;
mod shipped;
mod speed;
mod support;
mod whole;
