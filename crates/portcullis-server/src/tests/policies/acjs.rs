//! What users of acjs rely on: every path is a review, and answers have its shape.

mod ctrdac;
mod paths;
mod shape;
