//! Jobs and pipelines as they are submitted: read strictly, with everything that is wrong at once.

mod checks;
mod ci_file;
mod job;
mod pipeline;

pub use ci_file::read_ci_file;
pub(crate) use job::Script;
pub use job::{JobBody, read_job};
pub use pipeline::{
    DEFAULT_PIPELINE, PipelineBody, PipelineDefinition, PipelineOrigin, read_pipeline,
};

#[cfg(test)]
mod tests;
