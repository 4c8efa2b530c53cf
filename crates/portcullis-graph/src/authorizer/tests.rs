//! Tests of subjects and rules: against a made-up graph, and with the shipped rules over real objects.

mod allowed;
mod cases;
mod decisions;
mod faults;
mod identities;
mod scope;
mod shipped;
mod speed;
mod support;
mod whole;
