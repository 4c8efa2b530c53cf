//! The lines around a module's code: what it imports, and what it exports.

use crate::import::{Export, Import, Link};

/// The name of the default export where the author gave none. `export` and `default` have room for
/// it even if they stand on lines of their own.
pub(crate) const DEFAULT: &str = "$main";

/// The function that gives a module's exports, by its place.
pub(crate) const MODULE: &str = "$module";

/// The function that records what runs.
pub(crate) const COVER: &str = "$cover";

/// How names begin that stand for modules whose exports are passed on.
pub(crate) const FROM: &str = "$from";

/// How names begin that authors of modules can't use.
pub(crate) const RESERVED: [&str; 4] = [DEFAULT, MODULE, COVER, FROM];

/// Declares what a module imports, in one line.
pub(crate) fn header(imports: &[Import], links: &[Link], module: impl Fn(&str) -> usize) -> String {
    let mut line = "\"use strict\";".to_owned();
    for (index, (import, link)) in imports.iter().zip(links).enumerate() {
        let mut source = format!("{MODULE}({})", module(&import.specifier));
        if link.is_passed_on {
            line.push_str(&format!(" const {FROM}{index} = {source};"));
            source = format!("{FROM}{index}");
        }
        if let Some(name) = &link.namespace {
            line.push_str(&format!(" const {name} = {source};"));
            source.clone_from(name);
        }
        if !link.named.is_empty() {
            let names: Vec<_> = link
                .named
                .iter()
                .map(|(theirs, own)| match theirs == own {
                    true => own.clone(),
                    false => format!("{}: {own}", property(theirs)),
                })
                .collect();
            line.push_str(&format!(" const {{{}}} = {source};", names.join(", ")));
        } else if !link.is_passed_on && link.namespace.is_none() {
            line.push_str(&format!(" {source};"));
        }
    }
    line
}

/// Returns what a module exports, in one line. Getters make each reading see the value of its time.
pub(crate) fn footer(imports: &[Import], exports: &[Export]) -> String {
    let mut object = "{ __proto__: null".to_owned();
    for Export { name, value } in exports {
        object.push_str(&format!(", get {}() {{ return {value} }}", property(name)));
    }
    object.push_str(" }");
    let stars: Vec<_> = (0..)
        .zip(imports)
        .filter(|(_, import)| import.star)
        .map(|(index, _): (usize, _)| format!("{FROM}{index}"))
        .collect();
    if stars.is_empty() {
        return format!("return {object};");
    }
    // `Object` may be a name of the author's; an object's constructor is not.
    let (all, from, name) = ("$fromAll", "$fromEach", "$fromName");
    format!(
        "const {all} = {object}; for (const {from} of [{}]) for (const {name} in {from}) \
         if ({name} !== \"default\" && !({name} in {all})) ({{}}).constructor.defineProperty({all}, \
         {name}, {{ __proto__: null, enumerable: true, get: () => {from}[{name}] }}); return {all};",
        stars.join(", ")
    )
}

/// A value read from a module that is passed on.
pub(crate) fn passed_on(index: usize, name: &str) -> String {
    if is_identifier(name) {
        format!("{FROM}{index}.{name}")
    } else {
        format!("{FROM}{index}[{}]", quoted(name))
    }
}

fn property(name: &str) -> String {
    if is_identifier(name) {
        name.to_owned()
    } else {
        quoted(name)
    }
}

fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// Whether a name needs no quotes. Names beyond ASCII get them, to be sure.
fn is_identifier(name: &str) -> bool {
    let part = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '$';
    name.chars().all(part) && name.starts_with(|c: char| !c.is_ascii_digit())
}
