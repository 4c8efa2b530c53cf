//! What each function computes.

use std::rc::Rc;
use std::time::SystemTime;

use serde_json::Value;
use sha2::{Digest, Sha256};
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

use super::super::certificate;
use super::super::compare::changed_keys;
use super::super::compile::pattern;
use super::super::functions::Function;
use super::super::path::{Path, Step};
use super::{ExpressionError, Node, Result, Run, Val, at, failed, text_of};
use crate::vertex::Vertex;

/// What compiling a pattern costs, in steps.
const PATTERN_STEPS: usize = 5_000;
/// How long a pattern that is not constant may be.
const MAX_PATTERN: usize = 256;

impl<'s> Run<'s> {
    /// The value of a function.
    pub(super) fn call(&mut self, function: Function, arguments: &'s [Node]) -> Result<'s> {
        match (function, arguments) {
            (Function::Neighbours, _) => {
                let arguments = self.all(arguments)?;
                self.neighbours(&arguments)
            }
            (Function::Lookup | Function::Exists, _) => {
                let arguments = self.all(arguments)?;
                self.look_up(function, &arguments)
            }
            (Function::Expired, [text]) => {
                let text = self.or_null(text)?;
                let moment = text.as_text().and_then(moment);
                let is_past = moment.is_none_or(|moment| self.scope.is_past(moment));
                Ok(Val::Bool(is_past))
            }
            (Function::ChangedKeys, [a, b]) => {
                let (a, b) = (self.or_null(a)?, self.or_null(b)?);
                let mut spent = 0;
                let keys = changed_keys(&a, &b, &mut spent);
                self.spend(spent)?;
                match keys {
                    Some(keys) => {
                        self.spend(keys.len())?;
                        Ok(Val::list(keys.into_iter().map(Val::text).collect()))
                    }
                    None => failed("`changedKeys` takes two maps"),
                }
            }
            (Function::EqualExcept, [a, b, paths]) => {
                let (a, b) = (self.or_null(a)?, self.or_null(b)?);
                let paths = self.value(paths)?;
                let mut read = Vec::new();
                for number in 0..paths.count().unwrap_or_default() {
                    self.spend(10)?;
                    read.extend(paths.entry(number).map(|p| path(&p)).transpose()?);
                }
                self.equal_except(&a, &b, &read)
            }
            (Function::Get, [of, by, default]) => {
                let of = self.or_null(of)?;
                let by = self.value(by)?;
                self.spend(10)?;
                match at(&of, &path(&by)?) {
                    Some(value) => Ok(value),
                    None => self.value(default),
                }
            }
            _ => {
                let arguments = self.all(arguments)?;
                match arguments.as_slice() {
                    [of] => self.unary(function, of),
                    [of, by] => self.binary(function, of, by),
                    [of, from, to] => self.substring(of, from, Some(to)),
                    _ => failed("a function has too many arguments"),
                }
            }
        }
    }

    fn look_up(&mut self, function: Function, arguments: &[Val<'s>]) -> Result<'s> {
        let [kind, namespace, name] = arguments else {
            return failed("`lookup` takes kind, namespace and name");
        };
        let text = |value: &Val<'_>| match value {
            Val::Null => Ok(String::new()),
            value => text_of("lookup", value).map(str::to_owned),
        };
        let wanted = Vertex {
            kind: text(kind)?,
            namespace: text(namespace)?,
            name: text(name)?,
        };
        self.spend(20)?;
        let found = match wanted.name.is_empty() {
            true => None,
            false => self.scope.object(wanted)?,
        };
        Ok(match (function, found) {
            (Function::Exists, found) => Val::Bool(found.is_some()),
            (_, Some(object)) => object.into(),
            (_, None) => Val::Null,
        })
    }

    /// Not among what the value depends on: sources may not ask this.
    fn neighbours(&mut self, arguments: &[Val<'s>]) -> Result<'s> {
        let [kind, namespace, name, other] = arguments else {
            return failed("`neighbours` takes kind, namespace, name and the other kind");
        };
        let text = |value: &Val<'_>| text_of("neighbours", value).map(str::to_owned);
        let wanted = Vertex {
            kind: text(kind)?,
            namespace: text(namespace)?,
            name: text(name)?,
        };
        let found = self.scope.lookups.neighbours(&wanted, &text(other)?);
        self.spend(20 + found.len())?;
        let entry = |one: Vertex| {
            Val::Map(Rc::new(vec![
                ("kind".to_owned(), Val::text(one.kind)),
                ("namespace".to_owned(), Val::text(one.namespace)),
                ("name".to_owned(), Val::text(one.name)),
            ]))
        };
        Ok(Val::list(found.into_iter().map(entry).collect()))
    }

    fn unary(&mut self, function: Function, of: &Val<'s>) -> Result<'s> {
        match function {
            Function::Dyn => Ok(of.clone()),
            Function::Size => {
                let text = of.as_text().map(|text| text.chars().count());
                match text.or_else(|| of.count()) {
                    Some(size) => Ok(Val::Int(i64::try_from(size).unwrap_or(i64::MAX))),
                    None => failed(format!("`size` of {}", of.type_name())),
                }
            }
            Function::Sha256 => {
                let text = text_of("sha256", of)?;
                self.spend(text.len() / 16)?;
                let digest = Sha256::digest(text.as_bytes());
                let digits = digest.iter().map(|byte| format!("{byte:02x}"));
                self.made(digits.collect::<String>())
            }
            Function::Csr => {
                self.spend(1_000)?;
                let request = of.as_text().and_then(certificate::request);
                Ok(request.map_or(Val::Null, owned))
            }
            Function::Base64Decode => {
                let Some(text) = of.as_text() else {
                    return Ok(Val::Null);
                };
                self.spend(text.len() / 16)?;
                let bytes = certificate::from_base64(text);
                match bytes.and_then(|bytes| String::from_utf8(bytes).ok()) {
                    Some(text) => self.made(text),
                    None => Ok(Val::Null),
                }
            }
            Function::ToText => match of {
                Val::Text(_) | Val::Made(_) => Ok(of.clone()),
                Val::Bool(value) => self.made(value.to_string()),
                Val::Int(value) => self.made(value.to_string()),
                Val::Double(value) => self.made(value.to_string()),
                other => failed(format!("`string` of {}", other.type_name())),
            },
            Function::ToInt => to_int(of),
            Function::ToDouble => to_double(of),
            Function::ToBool => match (of, of.as_text()) {
                (Val::Bool(value), _) => Ok(Val::Bool(*value)),
                (_, Some("true")) => Ok(Val::Bool(true)),
                (_, Some("false")) => Ok(Val::Bool(false)),
                _ => failed(format!("`bool` of {}", of.type_name())),
            },
            Function::LowerAscii => {
                let text = text_of("lowerAscii", of)?.to_ascii_lowercase();
                self.made(text)
            }
            Function::UpperAscii => {
                let text = text_of("upperAscii", of)?.to_ascii_uppercase();
                self.made(text)
            }
            Function::Trim => self.part(of, "trim", |text| Some(text.trim())),
            Function::Join => self.join(of, ""),
            _ => failed("a function has too few arguments"),
        }
    }

    fn binary(&mut self, function: Function, of: &Val<'s>, by: &Val<'s>) -> Result<'s> {
        match function {
            Function::StartsWith => {
                let (of, by) = (text_of("startsWith", of)?, text_of("startsWith", by)?);
                Ok(Val::Bool(of.starts_with(by)))
            }
            Function::EndsWith => {
                let (of, by) = (text_of("endsWith", of)?, text_of("endsWith", by)?);
                Ok(Val::Bool(of.ends_with(by)))
            }
            Function::Contains => {
                let (of, by) = (text_of("contains", of)?, text_of("contains", by)?);
                self.spend(of.len() / 16)?;
                Ok(Val::Bool(of.contains(by)))
            }
            Function::Matches => {
                let (of, by) = (text_of("matches", of)?, text_of("matches", by)?);
                if by.len() > MAX_PATTERN {
                    return failed("the pattern is too long");
                }
                self.spend(PATTERN_STEPS + of.len() / 16)?;
                match pattern(by) {
                    Ok(pattern) => Ok(Val::Bool(pattern.is_match(of))),
                    Err(words) => failed(words),
                }
            }
            Function::RemovePrefix => {
                let by = text_of("removePrefix", by)?;
                self.part(of, "removePrefix", |text| text.strip_prefix(by))
            }
            Function::RemoveSuffix => {
                let by = text_of("removeSuffix", by)?;
                self.part(of, "removeSuffix", |text| text.strip_suffix(by))
            }
            Function::Split => self.split(of, text_of("split", by)?),
            Function::Join => self.join(of, text_of("join", by)?),
            Function::Substring => self.substring(of, by, None),
            _ => failed("a function has too many arguments"),
        }
    }

    /// A part of a text; the text itself if there is no such part.
    fn part(&mut self, of: &Val<'s>, name: &str, cut: impl Fn(&str) -> Option<&str>) -> Result<'s> {
        match of {
            Val::Text(text) => Ok(Val::Text(cut(text).unwrap_or(text))),
            Val::Made(text) => match cut(text) {
                Some(part) => self.made(part),
                None => Ok(of.clone()),
            },
            other => failed(format!("`{name}` of {}", other.type_name())),
        }
    }

    fn split(&mut self, of: &Val<'s>, by: &str) -> Result<'s> {
        let text = text_of("split", of)?;
        let most = self.steps;
        self.spend(text.len() / 16)?;
        let parts: Vec<Val<'s>> = match of {
            Val::Text(text) if by.is_empty() => {
                let letters = text.split("").filter(|letter| !letter.is_empty());
                letters.take(most).map(Val::Text).collect()
            }
            Val::Text(text) => text.split(by).take(most).map(Val::Text).collect(),
            _ if by.is_empty() => {
                let letters = text.split("").filter(|letter| !letter.is_empty());
                letters.take(most).map(Val::text).collect()
            }
            _ => text.split(by).take(most).map(Val::text).collect(),
        };
        self.spend(parts.len())?;
        Ok(Val::list(parts))
    }

    fn join(&mut self, of: &Val<'s>, by: &str) -> Result<'s> {
        if !of.is_list() {
            return failed(format!("`join` of {}", of.type_name()));
        }
        let mut joined = String::new();
        for number in 0..of.count().unwrap_or_default() {
            self.spend(1)?;
            let Some(entry) = of.entry(number) else {
                break;
            };
            if number > 0 {
                joined.push_str(by);
            }
            joined.push_str(text_of("join", &entry)?);
            if joined.len() > self.text {
                return failed("it makes too much text");
            }
        }
        self.made(joined)
    }

    fn substring(&mut self, of: &Val<'s>, from: &Val<'s>, to: Option<&Val<'s>>) -> Result<'s> {
        let number = |value: &Val<'_>| match value {
            Val::Int(value) => match usize::try_from(*value) {
                Ok(value) => Ok(value),
                Err(_) => failed("`substring` takes non-negative integers"),
            },
            other => failed(format!("`substring` by {}", other.type_name())),
        };
        let from = number(from)?;
        let to = to.map(number).transpose()?;
        let text = text_of("substring", of)?;
        self.spend(text.len() / 16)?;
        let place = |text: &str, number: usize| {
            let places = text.char_indices().map(|(place, _)| place);
            places.chain([text.len()]).nth(number)
        };
        let start = place(text, from);
        let end = to.map_or(Some(text.len()), |to| place(text, to));
        let (Some(start), Some(end)) = (start, end) else {
            return failed("`substring` ends after the end of the string");
        };
        if start > end {
            return failed("`substring` ends before it begins");
        }
        self.part(of, "substring", |text| text.get(start..end))
    }
}

/// A path that was computed: a text, or a list of members.
fn path(value: &Val<'_>) -> std::result::Result<Path, ExpressionError> {
    if let Some(text) = value.as_text() {
        return Path::parse(text).map_err(ExpressionError::Failed);
    }
    let mut steps = Vec::new();
    for number in 0..value.count().unwrap_or_default().min(32) {
        let entry = value.entry(number);
        match entry.as_ref().and_then(Val::as_text) {
            Some("*") => steps.push(Step::Any),
            Some(name) => steps.push(Step::Member(name.to_owned())),
            None => return failed("a path is a string or a list of strings"),
        }
    }
    match steps.is_empty() {
        true => failed("a path is a string or a list of strings"),
        false => Ok(Path(steps)),
    }
}

fn moment(text: &str) -> Option<SystemTime> {
    let moment = OffsetDateTime::parse(text, &Rfc3339).ok()?;
    let since = moment.unix_timestamp();
    let nanos = std::time::Duration::from_nanos(u64::from(moment.nanosecond()));
    let seconds = std::time::Duration::from_secs(since.unsigned_abs());
    let second = match since >= 0 {
        true => SystemTime::UNIX_EPOCH.checked_add(seconds),
        false => SystemTime::UNIX_EPOCH.checked_sub(seconds),
    };
    second?.checked_add(nanos)
}

#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    reason = "numbers out of range are refused before"
)]
fn to_int<'s>(of: &Val<'_>) -> Result<'s> {
    match (of, of.as_text()) {
        (Val::Int(value), _) => Ok(Val::Int(*value)),
        (Val::Double(value), _) if value.abs() < i64::MAX as f64 => {
            Ok(Val::Int(value.trunc() as i64))
        }
        (_, Some(text)) => match text.parse() {
            Ok(value) => Ok(Val::Int(value)),
            Err(_) => failed("`int` of a string that is not an integer"),
        },
        _ => failed(format!("`int` of {}", of.type_name())),
    }
}

#[allow(
    clippy::cast_precision_loss,
    reason = "this is what the conversion means"
)]
fn to_double<'s>(of: &Val<'_>) -> Result<'s> {
    match (of, of.as_text()) {
        (Val::Int(value), _) => Ok(Val::Double(*value as f64)),
        (Val::Double(value), _) => Ok(Val::Double(*value)),
        (_, Some(text)) => match text.parse() {
            Ok(value) => Ok(Val::Double(value)),
            Err(_) => failed("`double` of a string that is not a number"),
        },
        _ => failed(format!("`double` of {}", of.type_name())),
    }
}

/// A value that was made here.
fn owned<'s>(value: Value) -> Val<'s> {
    match value {
        Value::String(text) => Val::text(text),
        Value::Array(entries) => Val::list(entries.into_iter().map(owned).collect()),
        Value::Object(members) => {
            let members = members.into_iter().map(|(k, v)| (k, owned(v)));
            Val::Map(Rc::new(members.collect()))
        }
        Value::Bool(value) => Val::Bool(value),
        Value::Number(number) => number.as_i64().map_or(Val::Null, Val::Int),
        Value::Null => Val::Null,
    }
}
