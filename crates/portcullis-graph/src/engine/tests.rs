//! Whether the graph is what its objects say, however they came and went.

mod model;
mod properties;
mod shared;
mod small;
