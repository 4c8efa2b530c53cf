//! The order in which controllers are asked.

use super::definition::Controller;
use super::words::{ControllerLevel, ControllerState};
use crate::paths::groups_of;

/// The controllers for a project, in the order in which they are asked: of the project, of its groups from the
/// inside, of the instance; several of one level by their ids. Disabled ones are left out.
pub fn controller_chain<'c>(
    controllers: impl IntoIterator<Item = &'c Controller>,
    project: &str,
) -> Vec<&'c Controller> {
    let mut ranked: Vec<(usize, u64, &Controller)> = controllers
        .into_iter()
        .filter(|controller| controller.definition.state != ControllerState::Disabled)
        .filter_map(|controller| Some((rank(controller, project)?, controller.id, controller)))
        .collect();
    ranked.sort_by_key(|(rank, id, _)| (*rank, *id));
    ranked
        .into_iter()
        .map(|(_, _, controller)| controller)
        .collect()
}

/// How far from the project a controller is; nothing if it isn't for the project.
fn rank(controller: &Controller, project: &str) -> Option<usize> {
    let path = controller.definition.path.as_deref();
    match controller.definition.level {
        ControllerLevel::Project => (path == Some(project)).then_some(0),
        ControllerLevel::Group => groups_of(project)
            .position(|group| path == Some(group))
            .map(|depth| depth + 1),
        ControllerLevel::Instance => Some(usize::MAX),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::controller::ControllerDefinition;
    use crate::timestamp::Timestamp;
    use serde_json::json;

    fn controller(id: u64, level: &str, path: Option<&str>, state: &str) -> Controller {
        let mut body = json!({"name": format!("c{id}"), "level": level, "kind": "both",
            "pull": true, "state": state});
        if let Some(path) = path {
            body["path"] = path.into();
        }
        Controller {
            id,
            created_at: Timestamp::from_millis(0),
            revision: 1,
            definition: ControllerDefinition::read(&body).unwrap(),
        }
    }

    #[test]
    fn the_project_is_first_then_groups_from_the_inside_then_the_instance() {
        // Cases 41 and 45.
        let all = [
            controller(1, "instance", None, "enabled"),
            controller(2, "group", Some("a"), "enabled"),
            controller(3, "group", Some("a/b"), "dry_run"),
            controller(5, "project", Some("a/b/p"), "enabled"),
            controller(4, "project", Some("a/b/p"), "enabled"),
            controller(6, "project", Some("a/b/q"), "enabled"),
            controller(7, "group", Some("b"), "enabled"),
            controller(8, "instance", None, "enabled"),
            controller(9, "instance", None, "disabled"), // case 48
        ];
        let ids = |project| -> Vec<u64> {
            controller_chain(&all, project)
                .into_iter()
                .map(|c| c.id)
                .collect()
        };
        assert_eq!(ids("a/b/p"), [4, 5, 3, 2, 1, 8]);
        assert_eq!(ids("a/x"), [2, 1, 8]);
        assert_eq!(ids("a"), [1, 8]);
        assert_eq!(ids("a/b/p/deeper"), [3, 2, 1, 8]);
    }
}
