//! Whether the graph matches its objects, in whatever order they came and went.

mod model;
mod properties;
mod shared;
mod small;
