//! Comparing trees with parts left out.

use super::path::{Path, Step};
use super::value::{Val, equal};

/// The keys of members that differ between two maps, sorted. Null is an empty map; nothing if one is
/// neither.
pub(crate) fn changed_keys(a: &Val<'_>, b: &Val<'_>, spent: &mut usize) -> Option<Vec<String>> {
    let mut keys = keys(a)?;
    keys.extend(self::keys(b)?);
    keys.sort();
    keys.dedup();
    keys.retain(|key| match (a.member(key), b.member(key)) {
        (Ok(a), Ok(b)) => !equal(&a, &b, spent),
        _ => true,
    });
    Some(keys)
}

fn keys(value: &Val<'_>) -> Option<Vec<String>> {
    if matches!(value, Val::Null) {
        return Some(Vec::new());
    }
    let keys = value.keys()?;
    let texts = keys.iter().filter_map(Val::as_text);
    Some(texts.map(str::to_owned).collect())
}

/// Whether two values are equal when the members at these paths are left out of both.
pub(crate) fn equal_except(a: &Val<'_>, b: &Val<'_>, paths: &[Path], spent: &mut usize) -> bool {
    let paths: Vec<&[Step]> = paths.iter().map(|path| path.0.as_slice()).collect();
    same(a, b, &paths, spent)
}

fn same(a: &Val<'_>, b: &Val<'_>, paths: &[&[Step]], spent: &mut usize) -> bool {
    *spent += 1 + paths.len();
    if paths.is_empty() {
        return equal(a, b, spent);
    }
    if a.is_list() && b.is_list() {
        let longest = a.count().max(b.count()).unwrap_or_default();
        return (0..longest).all(|index| {
            let Some(below) = below(paths, |step| step.fits_index(index)) else {
                return true;
            };
            match (a.entry(index), b.entry(index)) {
                (Some(a), Some(b)) => same(&a, &b, &below, spent),
                _ => false,
            }
        });
    }
    let (Some(keys_of_a), Some(keys_of_b)) = (a.keys(), b.keys()) else {
        return equal(a, b, spent);
    };
    let all = keys_of_a.iter().chain(&keys_of_b).filter_map(Val::as_text);
    for key in all {
        let Some(below) = below(paths, |step| step.fits(key)) else {
            continue;
        };
        let equal = match (a.member(key), b.member(key)) {
            (Ok(a), Ok(b)) => same(&a, &b, &below, spent),
            _ => false,
        };
        if !equal {
            return false;
        }
    }
    true
}

/// What is left of the paths behind a step that fits; nothing if one ends there, so that what it leads to
/// is left out.
fn below<'p>(paths: &[&'p [Step]], fits: impl Fn(&Step) -> bool) -> Option<Vec<&'p [Step]>> {
    let mut below = Vec::new();
    for path in paths {
        match path {
            [step] if fits(step) => return None,
            [step, rest @ ..] if fits(step) => below.push(rest),
            _ => {}
        }
    }
    Some(below)
}
