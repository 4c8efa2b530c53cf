//! The functions that expressions may call: their names and how many arguments they take.

/// A function.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Function {
    Lookup,
    Exists,
    Neighbours,
    Expired,
    Sha256,
    Csr,
    Base64Decode,
    ChangedKeys,
    EqualExcept,
    Get,
    Size,
    ToText,
    ToInt,
    ToDouble,
    ToBool,
    Dyn,
    StartsWith,
    EndsWith,
    Contains,
    Matches,
    RemovePrefix,
    RemoveSuffix,
    Split,
    Substring,
    LowerAscii,
    UpperAscii,
    Trim,
    Join,
}

/// How a function is called.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Signature {
    /// Its name.
    pub(crate) name: &'static str,
    /// Which it is.
    pub(crate) function: Function,
    /// Whether it is called on a value: `text.size()`.
    pub(crate) is_method: bool,
    /// The fewest and the most arguments, what it is called on not counted.
    pub(crate) arguments: (usize, usize),
}

const fn global(name: &'static str, function: Function, arguments: usize) -> Signature {
    Signature {
        name,
        function,
        is_method: false,
        arguments: (arguments, arguments),
    }
}

const fn method(name: &'static str, function: Function, arguments: (usize, usize)) -> Signature {
    Signature {
        name,
        function,
        is_method: true,
        arguments,
    }
}

/// All functions.
pub(crate) const ALL: &[Signature] = &[
    global("lookup", Function::Lookup, 3),
    global("exists", Function::Exists, 3),
    global("neighbours", Function::Neighbours, 4),
    global("expired", Function::Expired, 1),
    global("sha256", Function::Sha256, 1),
    global("csr", Function::Csr, 1),
    global("base64Decode", Function::Base64Decode, 1),
    global("changedKeys", Function::ChangedKeys, 2),
    global("equalExcept", Function::EqualExcept, 3),
    global("get", Function::Get, 3),
    global("size", Function::Size, 1),
    global("string", Function::ToText, 1),
    global("int", Function::ToInt, 1),
    global("double", Function::ToDouble, 1),
    global("bool", Function::ToBool, 1),
    global("dyn", Function::Dyn, 1),
    method("size", Function::Size, (0, 0)),
    method("startsWith", Function::StartsWith, (1, 1)),
    method("endsWith", Function::EndsWith, (1, 1)),
    method("contains", Function::Contains, (1, 1)),
    method("matches", Function::Matches, (1, 1)),
    method("removePrefix", Function::RemovePrefix, (1, 1)),
    method("removeSuffix", Function::RemoveSuffix, (1, 1)),
    method("split", Function::Split, (1, 1)),
    method("substring", Function::Substring, (1, 2)),
    method("lowerAscii", Function::LowerAscii, (0, 0)),
    method("upperAscii", Function::UpperAscii, (0, 0)),
    method("trim", Function::Trim, (0, 0)),
    method("join", Function::Join, (0, 1)),
];

/// Macros, which the parser knows: for suggestions.
pub(crate) const MACROS: &[&str] = &["has", "all", "exists", "exists_one", "filter", "map"];

/// The function of this name, called this way.
///
/// # Errors
///
/// What is wrong with the call.
pub(crate) fn find(name: &str, is_method: bool, arguments: usize) -> Result<Function, String> {
    let same = |s: &&Signature| s.name == name && s.is_method == is_method;
    if let Some(signature) = ALL.iter().find(same) {
        let (least, most) = signature.arguments;
        if (least..=most).contains(&arguments) {
            return Ok(signature.function);
        }
        let wanted = match (least, most) {
            (1, 1) => "1 argument".to_owned(),
            _ if least == most => format!("{least} arguments"),
            _ => format!("{least} or {most} arguments"),
        };
        return Err(format!("`{name}` takes {wanted}, not {arguments}"));
    }
    if is_method && MACROS.contains(&name) {
        return Err(format!(
            "`{name}` takes a name and an expression, like `list.{name}(x, x.ready)`"
        ));
    }
    if let Some(other) = ALL.iter().find(|s| s.name == name) {
        return Err(match other.is_method {
            true => format!("`{name}` is called on a value, like `text.{name}(...)`"),
            false => format!("`{name}` is not called on a value: write `{name}(...)`"),
        });
    }
    let known = ALL.iter().map(|s| s.name).chain(MACROS.iter().copied());
    Err(format!(
        "unknown function `{name}`{}",
        suggestion(name, known)
    ))
}

/// `; did you mean ...?`, if something known is near.
pub(crate) fn suggestion<'k>(name: &str, known: impl Iterator<Item = &'k str>) -> String {
    let near = known
        .map(|k| (distance(&name.to_lowercase(), &k.to_lowercase()), k))
        .min()
        .filter(|(distance, k)| *distance <= 2 && *distance < k.len());
    near.map_or_else(String::new, |(_, near)| format!("; did you mean `{near}`?"))
}

/// How many letters must be changed, added or left out to make one text of the other.
fn distance(a: &str, b: &str) -> usize {
    if a.len() > 64 || b.len() > 64 {
        return usize::MAX;
    }
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut next = vec![i + 1];
        let mut left = i + 1;
        for (y, (above_left, above)) in b.iter().zip(row.iter().zip(row.iter().skip(1))) {
            let changed = above_left + usize::from(x != *y);
            left = changed.min(above + 1).min(left + 1);
            next.push(left);
        }
        row = next;
    }
    row.last().copied().unwrap_or_default()
}
