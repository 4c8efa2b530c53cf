//! RFC 6902, applied by somebody else than the program.

use serde_json::Value;

/// The document after these operations.
pub(crate) fn apply(document: &Value, operations: &Value) -> Result<Value, String> {
    let mut document = document.clone();
    for operation in operations.as_array().ok_or("a patch is a list")? {
        step(&mut document, operation).map_err(|why| format!("{operation}: {why}"))?;
    }
    Ok(document)
}

fn step(document: &mut Value, operation: &Value) -> Result<(), String> {
    let text = |key: &str| operation[key].as_str().ok_or(format!("no `{key}`"));
    let value = || {
        operation
            .get("value")
            .cloned()
            .ok_or("no `value`".to_owned())
    };
    let path = tokens(text("path")?)?;
    match text("op")? {
        "add" => add(document, &path, value()?),
        "remove" => remove(document, &path).map(drop),
        "replace" => {
            *find(document, &path)? = value()?;
            Ok(())
        }
        "move" => {
            let moved = remove(document, &tokens(text("from")?)?)?;
            add(document, &path, moved)
        }
        "copy" => {
            let copied = find(document, &tokens(text("from")?)?)?.clone();
            add(document, &path, copied)
        }
        "test" if *find(document, &path)? == value()? => Ok(()),
        other => Err(format!("`{other}` does not hold or does not exist")),
    }
}

fn tokens(pointer: &str) -> Result<Vec<String>, String> {
    if pointer.is_empty() {
        return Ok(Vec::new());
    }
    let rest = pointer
        .strip_prefix('/')
        .ok_or("a pointer begins with a slash")?;
    Ok(rest
        .split('/')
        .map(|token| token.replace("~1", "/").replace("~0", "~"))
        .collect())
}

fn find<'a>(document: &'a mut Value, path: &[String]) -> Result<&'a mut Value, String> {
    path.iter().try_fold(document, |at, token| match at {
        Value::Object(members) => members.get_mut(token).ok_or(format!("no member `{token}`")),
        Value::Array(items) => {
            let index = index(token, items.len())?;
            items.get_mut(index).ok_or(format!("no item {index}"))
        }
        _ => Err(format!("`{token}` of neither object nor list")),
    })
}

fn index(token: &str, length: usize) -> Result<usize, String> {
    let is_plain = token == "0" || !token.starts_with(['0', '+']);
    let index = token
        .parse()
        .ok()
        .filter(|index| is_plain && *index <= length);
    index.ok_or(format!("`{token}` is no index"))
}

fn add(document: &mut Value, path: &[String], value: Value) -> Result<(), String> {
    let Some((last, parents)) = path.split_last() else {
        *document = value;
        return Ok(());
    };
    match find(document, parents)? {
        Value::Object(members) => {
            members.insert(last.clone(), value);
        }
        Value::Array(items) => {
            let at = if last == "-" {
                items.len()
            } else {
                index(last, items.len())?
            };
            items.insert(at, value);
        }
        _ => return Err("neither object nor list".to_owned()),
    }
    Ok(())
}

fn remove(document: &mut Value, path: &[String]) -> Result<Value, String> {
    let (last, parents) = path.split_last().ok_or("the whole can't be removed")?;
    match find(document, parents)? {
        Value::Object(members) => members.remove(last).ok_or(format!("no member `{last}`")),
        Value::Array(items) => {
            let at = index(last, items.len())?;
            if at < items.len() {
                Ok(items.remove(at))
            } else {
                Err(format!("no item {at}"))
            }
        }
        _ => Err("neither object nor list".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn operations_do_what_the_standard_says() {
        let document = json!({"a": [1, 2], "x/y": {"~": 0}});
        for (operation, expected) in [
            (
                json!({"op": "add", "path": "/a/1", "value": 9}),
                json!({"a": [1, 9, 2], "x/y": {"~": 0}}),
            ),
            (
                json!({"op": "add", "path": "/a/-", "value": 9}),
                json!({"a": [1, 2, 9], "x/y": {"~": 0}}),
            ),
            (
                json!({"op": "replace", "path": "/x~1y/~0", "value": 1}),
                json!({"a": [1, 2], "x/y": {"~": 1}}),
            ),
            (
                json!({"op": "remove", "path": "/a/0"}),
                json!({"a": [2], "x/y": {"~": 0}}),
            ),
            (
                json!({"op": "move", "from": "/a/0", "path": "/b"}),
                json!({"a": [2], "b": 1, "x/y": {"~": 0}}),
            ),
            (
                json!({"op": "copy", "from": "/a", "path": "/x~1y"}),
                json!({"a": [1, 2], "x/y": [1, 2]}),
            ),
            (
                json!({"op": "test", "path": "/a/0", "value": 1}),
                document.clone(),
            ),
        ] {
            assert_eq!(
                apply(&document, &json!([operation])).unwrap(),
                expected,
                "{operation}"
            );
        }
        for operation in [
            json!({"op": "add", "path": "/a/3", "value": 9}),
            json!({"op": "add", "path": "/b/c", "value": 9}),
            json!({"op": "replace", "path": "/b", "value": 9}),
            json!({"op": "remove", "path": "/a/2"}),
            json!({"op": "test", "path": "/a/0", "value": 2}),
            json!({"op": "add", "path": "a", "value": 9}),
            json!({"op": "add", "path": "/a"}),
        ] {
            assert!(
                apply(&document, &json!([operation])).is_err(),
                "{operation}"
            );
        }
    }
}
