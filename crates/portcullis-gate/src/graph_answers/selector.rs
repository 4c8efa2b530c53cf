//! Selectors as people write them: `a=b,c!=d,e in (f, g),!h`.

use portcullis_core::access::Requirement;

/// The requirements of a label selector.
pub(super) fn labels(text: &str) -> Result<Vec<Requirement>, String> {
    parts(text)?.into_iter().map(label).collect()
}

/// The requirements of a field selector, which knows `=`, `==` and `!=` only.
pub(super) fn fields(text: &str) -> Result<Vec<Requirement>, String> {
    let field = |part: &str| {
        compared(part)
            .unwrap_or_else(|| Err(format!("`{part}`: write FIELD=VALUE or FIELD!=VALUE")))
    };
    parts(text)?.into_iter().map(field).collect()
}

/// What stands between commas, but for those in brackets.
fn parts(text: &str) -> Result<Vec<&str>, String> {
    let mut is_inside = false;
    let parts = text.split(|character: char| {
        match character {
            '(' => is_inside = true,
            ')' => is_inside = false,
            _ => {}
        }
        character == ',' && !is_inside
    });
    let parts: Vec<&str> = parts.map(str::trim).collect();
    match parts.iter().any(|part| part.is_empty()) {
        true => Err(format!("`{text}`: a requirement is empty")),
        false => Ok(parts),
    }
}

fn label(part: &str) -> Result<Requirement, String> {
    if let Some(key) = part.strip_prefix('!')
        && !key.contains('=')
    {
        return requirement(part, key, "DoesNotExist", Vec::new());
    }
    if let Some((rest, values)) = part.split_once('(') {
        let values = values.strip_suffix(')').filter(|v| !v.contains(['(', ')']));
        let values = values.ok_or_else(|| format!("`{part}`: brackets don't match"))?;
        let values = values.split(',').map(|value| value.trim().to_owned());
        let mut words = rest.split_whitespace();
        let operator = match (words.next(), words.next(), words.next()) {
            (Some(key), Some("in"), None) => (key, "In"),
            (Some(key), Some("notin"), None) => (key, "NotIn"),
            _ => return Err(format!("`{part}`: write KEY in (A, B) or KEY notin (A, B)")),
        };
        return requirement(part, operator.0, operator.1, values.collect());
    }
    compared(part).unwrap_or_else(|| requirement(part, part, "Exists", Vec::new()))
}

/// `a=b`, `a==b` or `a!=b`; none if nothing is compared.
fn compared(part: &str) -> Option<Result<Requirement, String>> {
    let (operator, (key, value)) = match (part.split_once("!="), part.split_once("==")) {
        (Some(pair), _) => ("NotIn", pair),
        (None, Some(pair)) => ("In", pair),
        (None, None) => ("In", part.split_once('=')?),
    };
    let value = value.trim();
    Some(match value.contains('=') {
        true => Err(format!("`{part}`: a value has no `=`")),
        false => requirement(part, key, operator, vec![value.to_owned()]),
    })
}

fn requirement(
    part: &str,
    key: &str,
    operator: &str,
    values: Vec<String>,
) -> Result<Requirement, String> {
    let key = key.trim();
    if key.is_empty() || key.contains(|c: char| c.is_whitespace() || "!=()".contains(c)) {
        return Err(format!("`{part}` is no requirement of a selector"));
    }
    Ok(Requirement {
        key: key.to_owned(),
        operator: operator.to_owned(),
        values,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(requirements: &[Requirement]) -> Vec<String> {
        let one = |r: &Requirement| format!("{} {} {}", r.key, r.operator, r.values.join("|"));
        requirements.iter().map(one).collect()
    }

    #[test]
    fn labels_are_selected_in_every_way() {
        let all = labels("a=b,c==d, e != f ,g in (h, i),j notin (k),l,!m,n=").unwrap();
        assert_eq!(
            said(&all),
            [
                "a In b",
                "c In d",
                "e NotIn f",
                "g In h|i",
                "j NotIn k",
                "l Exists ",
                "m DoesNotExist ",
                "n In ",
            ]
        );
    }

    #[test]
    fn fields_are_compared_only() {
        let all = fields("spec.nodeName=n1,metadata.name!=x").unwrap();
        assert_eq!(said(&all), ["spec.nodeName In n1", "metadata.name NotIn x"]);
        for wrong in ["spec.nodeName", "a in (b)", "!a", "a=b,"] {
            assert!(fields(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn what_is_no_selector_is_refused() {
        for wrong in [
            "", ",", "a=b,,c=d", "=b", "a b", "a in b)", "a in (b", "a on (b)", "a=b=c", "!",
        ] {
            assert!(labels(wrong).is_err(), "{wrong}");
        }
    }
}
