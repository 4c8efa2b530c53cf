//! Rows that are for an instance, a group or a project: controllers and runners.

use portcullis_jobs::groups_of;

use crate::database::Value;

/// The condition for rows that are for a project: its own, those of its groups, those of the instance. The words are
/// those of the three levels in the column `level`.
pub(super) fn for_project<'a>(
    project: &'a str,
    level: &str,
    [instance, group, own]: [&'static str; 3],
) -> (String, Vec<Value<'a>>) {
    let mut values = vec![
        Value::Text(""),
        Value::Text(instance),
        Value::Text(project),
        Value::Text(own),
        Value::Text(group),
    ];
    let mut marks = Vec::new();
    for path in groups_of(project) {
        values.push(Value::Text(path));
        marks.push(format!("?{}", values.len()));
    }
    // A project without groups still has a list with something in it, which no group is called.
    if marks.is_empty() {
        marks.push("?1".to_owned());
    }
    let marks = marks.join(", ");
    let condition = format!(
        "((path = ?1 AND {level} = ?2) OR (path = ?3 AND {level} = ?4) \
         OR (path IN ({marks}) AND {level} = ?5))"
    );
    (condition, values)
}
