//! How many controllers may be policies of their own: each has an engine, which takes memory and threads.

use portcullis_jobs::{Controller, ControllerDefinition, ControllerId, PolicySource, Transport};
use portcullis_store::JobsTransaction;

use crate::error::CiError;
use crate::settings::Settings;

/// Controllers that are read together.
const READ: usize = 200;

/// Whether there may be another one like this; `before` is what it replaces.
///
/// # Errors
///
/// [`CiError::Conflict`] when there are too many already.
pub(super) fn check(
    store: &mut JobsTransaction<'_>,
    settings: &Settings,
    definition: &ControllerDefinition,
    before: Option<&Controller>,
) -> Result<(), CiError> {
    let was_here = before.is_some_and(|before| {
        let before = &before.definition;
        is_code(before) && group(before) == group(definition)
    });
    // What is there already may be changed, also where there are too many.
    if !is_code(definition) || was_here {
        return Ok(());
    }
    let (mut all, mut in_group) = (0, 0);
    let mut after: Option<ControllerId> = None;
    loop {
        let found = store.list_controllers(after, READ)?;
        let others = found.iter().map(|record| &record.controller);
        let others = others.filter(|one| before.is_none_or(|before| before.id != one.id));
        for other in others.filter(|other| is_code(&other.definition)) {
            all += 1;
            in_group += u32::from(group(&other.definition) == group(definition));
        }
        after = found.last().map(|record| record.controller.id);
        if found.len() < READ {
            break;
        }
    }
    let most = settings.max_code_controllers;
    if all >= most {
        return Err(too_many(most, "", "ci.maxCodeControllers"));
    }
    let most = settings.max_code_controllers_per_group;
    match group(definition) {
        Some(group) if in_group >= most => Err(too_many(
            most,
            &format!(" in `{group}`"),
            "ci.maxCodeControllersPerGroup",
        )),
        _ => Ok(()),
    }
}

fn too_many(most: u32, place: &str, setting: &str) -> CiError {
    CiError::Conflict(format!(
        "too many controllers with `policy.code`{place}: at most {most} ({setting}); use a configured policy"
    ))
}

fn is_code(definition: &ControllerDefinition) -> bool {
    matches!(
        definition.transport,
        Transport::Policy(PolicySource::Code(_))
    )
}

/// The first name of its path; none on the instance level.
fn group(definition: &ControllerDefinition) -> Option<&str> {
    definition.path.as_deref()?.split('/').next()
}
