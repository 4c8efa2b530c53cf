//! Members of the values of JavaScript, and of `req`.

use super::{Lookup, Root, Shape};

/// Members of every object.
const OBJECT: &[&str] = &[
    "constructor",
    "hasOwnProperty",
    "isPrototypeOf",
    "propertyIsEnumerable",
    "toLocaleString",
    "toString",
    "valueOf",
    "__proto__",
    "__defineGetter__",
    "__defineSetter__",
    "__lookupGetter__",
    "__lookupSetter__",
];

/// Members of lists.
const LIST: &[&str] = &[
    "at",
    "concat",
    "copyWithin",
    "entries",
    "every",
    "fill",
    "filter",
    "find",
    "findIndex",
    "findLast",
    "findLastIndex",
    "flat",
    "flatMap",
    "forEach",
    "includes",
    "indexOf",
    "join",
    "keys",
    "lastIndexOf",
    "length",
    "map",
    "pop",
    "push",
    "reduce",
    "reduceRight",
    "reverse",
    "shift",
    "slice",
    "some",
    "sort",
    "splice",
    "toReversed",
    "toSorted",
    "toSpliced",
    "unshift",
    "values",
    "with",
];

/// Members of strings.
const TEXT: &[&str] = &[
    "anchor",
    "at",
    "big",
    "blink",
    "bold",
    "charAt",
    "charCodeAt",
    "codePointAt",
    "concat",
    "endsWith",
    "fixed",
    "fontcolor",
    "fontsize",
    "includes",
    "indexOf",
    "isWellFormed",
    "italics",
    "lastIndexOf",
    "length",
    "link",
    "localeCompare",
    "match",
    "matchAll",
    "normalize",
    "padEnd",
    "padStart",
    "repeat",
    "replace",
    "replaceAll",
    "search",
    "slice",
    "small",
    "split",
    "startsWith",
    "strike",
    "sub",
    "substr",
    "substring",
    "sup",
    "toLocaleLowerCase",
    "toLocaleUpperCase",
    "toLowerCase",
    "toUpperCase",
    "toWellFormed",
    "trim",
    "trimEnd",
    "trimLeft",
    "trimRight",
    "trimStart",
];

/// Members of numbers.
const NUMBER: &[&str] = &["toExponential", "toFixed", "toPrecision"];

/// Members of `req`, under the names of JSON and of Go.
const REQUEST: &[&str] = &[
    "uid",
    "kind",
    "resource",
    "subResource",
    "requestKind",
    "requestResource",
    "requestSubResource",
    "name",
    "namespace",
    "operation",
    "userInfo",
    "dryRun",
    "options",
    "object",
    "oldObject",
    "Object",
    "OldObject",
    "UID",
    "Kind",
    "Resource",
    "SubResource",
    "RequestKind",
    "RequestResource",
    "RequestSubResource",
    "Name",
    "Namespace",
    "Operation",
    "UserInfo",
    "DryRun",
    "Options",
];

/// Members of `req.kind`.
const KIND: &[&str] = &["group", "version", "kind", "Group", "Version", "Kind"];

pub(super) fn is_of_every_object(name: &str) -> bool {
    OBJECT.contains(&name)
}

pub(super) fn of_list(name: &str) -> Lookup {
    match name {
        "length" => Lookup::Found(Shape::Number),
        name => one_of(LIST, name),
    }
}

pub(super) fn of_text(name: &str) -> Lookup {
    match name {
        "length" => Lookup::Found(Shape::Number),
        name => one_of(TEXT, name),
    }
}

pub(super) fn of_number(name: &str) -> Lookup {
    one_of(NUMBER, name)
}

pub(super) fn of_truth(name: &str) -> Lookup {
    one_of(&[], name)
}

pub(super) fn of_request(name: &str) -> Lookup {
    Lookup::Found(match name {
        "object" => Shape::Root(Root::New),
        "oldObject" => Shape::Root(Root::Old),
        "kind" | "Kind" => Shape::RequestKind,
        "operation" | "Operation" => Shape::OperationName,
        "name" | "Name" | "namespace" | "Namespace" | "uid" | "UID" => Shape::Text,
        name => return one_of(REQUEST, name),
    })
}

pub(super) fn of_kind(name: &str) -> Lookup {
    Lookup::Found(match name {
        "kind" | "Kind" => Shape::KindName,
        "group" | "version" | "Group" | "Version" => Shape::Text,
        _ => return Lookup::Missing(KIND.to_vec()),
    })
}

fn one_of(known: &[&'static str], name: &str) -> Lookup {
    match known.contains(&name) {
        true => Lookup::Unknown,
        false => Lookup::Missing(known.to_vec()),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn the_request_has_the_members_that_editors_know() {
        let types = include_str!("../../../portcullis/templates/common/portcullis.d.ts");
        let (_, inner) = types.split_once("interface PolicyRequest {").unwrap();
        let (inner, _) = inner.split_once("\n}").unwrap();
        let members = inner
            .lines()
            .filter_map(|line| line.trim().strip_prefix("readonly "));
        let members = members.filter_map(|member| Some(member.split_once(':')?.0));
        let members: BTreeSet<&str> = members.collect();
        assert_eq!(members, REQUEST.iter().copied().collect());
    }
}
