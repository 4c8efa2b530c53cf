//! The actions of callers, with the parameters that conditions are compared with.

use portcullis_roles::{Condition, Parameters, Permission};

/// An action that a caller requests.
pub(crate) trait Action {
    /// What it takes.
    const PERMISSION: Permission;
    /// What the permission may depend on here.
    const CONDITIONS: &'static [Condition];

    /// What it is about.
    fn parameters(&self) -> Parameters<'_>;
}

/// Reading: it has no parameters.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Read;

impl Action for Read {
    const PERMISSION: Permission = Permission::Read;
    const CONDITIONS: &'static [Condition] = &[];

    fn parameters(&self) -> Parameters<'_> {
        Parameters::new()
    }
}
