//! What a request is about, as conditions see it.

use std::borrow::Cow;

use super::permission::Condition;
use super::projects::Project;

/// The parameters of one request that conditions are compared with.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Parameters<'a> {
    project: Option<Cow<'a, str>>,
    /// The other name of the same project.
    canonical_project: Option<Cow<'a, str>>,
    pipeline: Option<Cow<'a, str>>,
    reference: Option<Cow<'a, str>>,
    change: Option<Cow<'a, str>>,
    job: Option<Cow<'a, str>>,
    controller: Option<Cow<'a, str>>,
}

impl<'a> Parameters<'a> {
    /// None yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds one; nothing is not the same as an empty text.
    #[must_use]
    pub fn with(mut self, condition: Condition, value: Option<impl Into<Cow<'a, str>>>) -> Self {
        *self.place(condition) = value.map(Into::into);
        self
    }

    /// Adds a project that a tenant holds, under both of its names.
    #[must_use]
    pub fn with_project(mut self, project: &'a Project) -> Self {
        self.project = Some(Cow::Borrowed(&project.name));
        self.canonical_project = project.canonical.as_deref().map(Cow::Borrowed);
        self
    }

    /// The value of one.
    pub fn get(&self, condition: Condition) -> Option<&str> {
        match condition {
            Condition::Project => self.project.as_deref(),
            Condition::Pipeline => self.pipeline.as_deref(),
            Condition::Ref => self.reference.as_deref(),
            Condition::Change => self.change.as_deref(),
            Condition::Job => self.job.as_deref(),
            Condition::Controller => self.controller.as_deref(),
        }
    }

    /// The other name of the project, if it has one.
    pub(crate) fn canonical_project(&self) -> Option<&str> {
        self.canonical_project.as_deref()
    }

    fn place(&mut self, condition: Condition) -> &mut Option<Cow<'a, str>> {
        match condition {
            Condition::Project => &mut self.project,
            Condition::Pipeline => &mut self.pipeline,
            Condition::Ref => &mut self.reference,
            Condition::Change => &mut self.change,
            Condition::Job => &mut self.job,
            Condition::Controller => &mut self.controller,
        }
    }
}
