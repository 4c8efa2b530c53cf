//! Computing an expression, every step counted.

use std::cmp::Ordering;
use std::rc::Rc;

use serde_json::Value;

use super::compare::equal_except;
use super::node::{Each, Node, Order, What};
use super::path::{Path, Step};
use super::value::{MAX_STEPS, Val, equal};
use super::{ExpressionError, Scope};

/// How many bytes of text an expression may make.
const MAX_TEXT: usize = 8 << 20;
/// How many objects are asked for at once.
const MAX_NEEDS: usize = 100;

mod calls;

type Result<'s> = std::result::Result<Val<'s>, ExpressionError>;

fn failed<T>(words: impl Into<String>) -> std::result::Result<T, ExpressionError> {
    Err(ExpressionError::Failed(words.into()))
}

/// Of two reasons why there is no value, the one to report: what must be read first, all of it; then what
/// could not be read; then what is wrong.
fn graver(a: ExpressionError, b: ExpressionError) -> ExpressionError {
    use ExpressionError::{Failed, Missing, Needs, Unavailable};
    match (a, b) {
        (Needs(mut a), Needs(b)) => {
            for wanted in b {
                if a.len() < MAX_NEEDS && !a.contains(&wanted) {
                    a.push(wanted);
                }
            }
            Needs(a)
        }
        (Needs(needs), _) | (_, Needs(needs)) => Needs(needs),
        (Unavailable(words), _) | (_, Unavailable(words)) => Unavailable(words),
        (Failed(words), _) | (_, Failed(words)) => Failed(words),
        (Missing, Missing) => Missing,
    }
}

/// One computation.
pub(crate) struct Run<'s> {
    scope: &'s Scope<'s>,
    names: &'s [String],
    locals: Vec<Val<'s>>,
    steps: usize,
    text: usize,
}

impl<'s> Run<'s> {
    /// Ready to compute in this scope, with the names of its variables.
    pub(crate) fn new(scope: &'s Scope<'_>, names: &'s [String]) -> Self {
        Self {
            scope,
            names,
            locals: Vec::new(),
            steps: MAX_STEPS,
            text: MAX_TEXT,
        }
    }

    fn spend(&mut self, steps: usize) -> std::result::Result<(), ExpressionError> {
        match self.steps.checked_sub(steps) {
            Some(left) => {
                self.steps = left;
                Ok(())
            }
            None => {
                self.steps = 0;
                failed("it takes too many steps")
            }
        }
    }

    /// A text made here.
    fn made(&mut self, text: impl Into<Rc<str>>) -> Result<'s> {
        let text = text.into();
        match self.text.checked_sub(text.len()) {
            Some(left) => self.text = left,
            None => return failed("it makes too much text"),
        }
        self.spend(text.len() / 64)?;
        Ok(Val::Made(text))
    }

    /// The value of an expression, as JSON.
    pub(crate) fn json(&mut self, node: &'s Node) -> std::result::Result<Value, ExpressionError> {
        let value = self.value(node)?;
        match value.to_json(&mut self.steps) {
            Some(value) => Ok(value),
            None => failed("its value is too large"),
        }
    }

    /// The value of a part.
    pub(crate) fn value(&mut self, node: &'s Node) -> Result<'s> {
        self.spend(1)?;
        match node {
            Node::Null => Ok(Val::Null),
            Node::Bool(value) => Ok(Val::Bool(*value)),
            Node::Int(value) => Ok(Val::Int(*value)),
            Node::Double(value) => Ok(Val::Double(*value)),
            Node::Text(text) => Ok(Val::Text(text)),
            Node::Variable(number) => {
                let name = self.names.get(*number).map_or("", String::as_str);
                match self.scope.variable(name) {
                    Some(value) => Ok(value.into()),
                    None => failed(format!("unknown name `{name}`")),
                }
            }
            Node::Local(number) => match self.locals.get(*number) {
                Some(value) => Ok(value.clone()),
                None => failed("unknown name"),
            },
            Node::Member(of, name) => self.value(of)?.member(name),
            Node::Has(of, name) => match self.value(of).and_then(|of| of.member(name)) {
                Ok(_) => Ok(Val::Bool(true)),
                Err(ExpressionError::Missing) => Ok(Val::Bool(false)),
                Err(error) => Err(error),
            },
            Node::Index(of, by) => {
                let (of, by) = self.both(of, by)?;
                index(&of, &by)
            }
            Node::List(entries) => Ok(Val::list(self.all(entries)?)),
            Node::Map(entries) => self.map(entries),
            Node::Logic(is_and, a, b) => self.logic(*is_and, a, b),
            Node::Not(of) => {
                let of = self.value(of)?;
                Ok(Val::Bool(!truth(&of)?))
            }
            Node::Negate(of) => match self.value(of)? {
                Val::Int(value) => match value.checked_neg() {
                    Some(value) => Ok(Val::Int(value)),
                    None => failed("a number is too large"),
                },
                Val::Double(value) => Ok(Val::Double(-value)),
                other => failed(format!("`-` of {}", other.type_name())),
            },
            Node::Choice(which, yes, no) => {
                let which = self.value(which)?;
                match truth(&which)? {
                    true => self.value(yes),
                    false => self.value(no),
                }
            }
            Node::Equal(wanted, a, b) => {
                let (a, b) = self.both(a, b)?;
                Ok(Val::Bool(self.equal(&a, &b)? == *wanted))
            }
            Node::Compare(order, a, b) => {
                let (a, b) = self.both(a, b)?;
                compare(*order, &a, &b)
            }
            Node::In(what, of) => {
                let (what, of) = self.both(what, of)?;
                self.is_in(&what, &of)
            }
            Node::Arithmetic(operator, a, b) => {
                let (a, b) = self.both(a, b)?;
                self.arithmetic(*operator, &a, &b)
            }
            Node::Each(each) => self.each(each),
            Node::Matches(text, pattern) => {
                let text = self.value(text)?;
                let text = text_of("matches", &text)?;
                self.spend(text.len() / 16)?;
                Ok(Val::Bool(pattern.is_match(text)))
            }
            Node::Get(of, path, default) => {
                let of = self.or_null(of)?;
                match at(&of, path) {
                    Some(value) => Ok(value),
                    None => self.value(default),
                }
            }
            Node::EqualExcept(a, b, paths) => {
                let (a, b) = (self.or_null(a)?, self.or_null(b)?);
                self.equal_except(&a, &b, paths)
            }
            Node::Call(function, arguments) => self.call(*function, arguments),
        }
    }

    /// The values of several parts. What must be read first is reported for all of them.
    fn all(&mut self, nodes: &'s [Node]) -> std::result::Result<Vec<Val<'s>>, ExpressionError> {
        let mut values = Vec::with_capacity(nodes.len());
        let mut wrong: Option<ExpressionError> = None;
        for node in nodes {
            match (self.value(node), wrong.take()) {
                (Ok(value), None) => values.push(value),
                (Ok(_), Some(before)) => wrong = Some(before),
                (Err(error), None) => wrong = Some(error),
                (Err(error), Some(before)) => wrong = Some(graver(before, error)),
            }
            if wrong
                .as_ref()
                .is_some_and(|w| !matches!(w, ExpressionError::Needs(_)))
            {
                break;
            }
        }
        wrong.map_or(Ok(values), Err)
    }

    fn both(
        &mut self,
        a: &'s Node,
        b: &'s Node,
    ) -> std::result::Result<(Val<'s>, Val<'s>), ExpressionError> {
        match self.value(a) {
            Ok(a) => Ok((a, self.value(b)?)),
            Err(needs @ ExpressionError::Needs(_)) => match self.value(b) {
                Ok(_) => Err(needs),
                Err(error) => Err(graver(needs, error)),
            },
            Err(error) => Err(error),
        }
    }

    fn or_null(&mut self, node: &'s Node) -> Result<'s> {
        match self.value(node) {
            Err(ExpressionError::Missing) => Ok(Val::Null),
            value => value,
        }
    }

    fn map(&mut self, entries: &'s [(Node, Node)]) -> Result<'s> {
        let mut members: Vec<(String, Val<'s>)> = Vec::with_capacity(entries.len());
        for (key, value) in entries {
            let (key, value) = self.both(key, value)?;
            let Some(key) = key.as_text() else {
                return failed(format!("{} can't be the key of a map", key.type_name()));
            };
            if members.iter().any(|(known, _)| known == key) {
                return failed(format!("duplicate key `{key}`"));
            }
            members.push((key.to_owned(), value));
        }
        Ok(Val::Map(Rc::new(members)))
    }

    /// `&&` and `||`: what decides counts, whatever is wrong with the other side.
    fn logic(&mut self, is_and: bool, a: &'s Node, b: &'s Node) -> Result<'s> {
        let a = self.value(a).and_then(|a| truth(&a));
        if a == Ok(!is_and) {
            return Ok(Val::Bool(!is_and));
        }
        let b = self.value(b).and_then(|b| truth(&b));
        match (a, b) {
            (_, Ok(b)) if b != is_and => Ok(Val::Bool(!is_and)),
            (Ok(_), Ok(_)) => Ok(Val::Bool(is_and)),
            (Err(a), Err(b)) => Err(graver(a, b)),
            (Err(error), _) | (_, Err(error)) => Err(error),
        }
    }

    fn equal(&mut self, a: &Val<'_>, b: &Val<'_>) -> std::result::Result<bool, ExpressionError> {
        let mut spent = 0;
        let equal = equal(a, b, &mut spent);
        self.spend(spent)?;
        Ok(equal)
    }

    fn is_in(&mut self, what: &Val<'_>, of: &Val<'s>) -> Result<'s> {
        if matches!(of, Val::Null) {
            return Err(ExpressionError::Missing);
        }
        if of.is_list() {
            for number in 0..of.count().unwrap_or_default() {
                if let Some(entry) = of.entry(number)
                    && self.equal(what, &entry)?
                {
                    return Ok(Val::Bool(true));
                }
            }
            return Ok(Val::Bool(false));
        }
        if of.count().is_none() {
            return failed(format!("`in` of {}", of.type_name()));
        }
        if what.is_list() || what.count().is_some() || matches!(what, Val::Null) {
            return failed(format!("{} can't be the key of a map", what.type_name()));
        }
        let is_there = what.as_text().is_some_and(|key| of.member(key).is_ok());
        Ok(Val::Bool(is_there))
    }

    fn arithmetic(&mut self, operator: char, a: &Val<'s>, b: &Val<'s>) -> Result<'s> {
        match (a, b) {
            (Val::Int(a), Val::Int(b)) => {
                let result = match operator {
                    '+' => a.checked_add(*b),
                    '-' => a.checked_sub(*b),
                    '*' => a.checked_mul(*b),
                    '/' => a.checked_div(*b),
                    _ => a.checked_rem(*b),
                };
                match result {
                    Some(result) => Ok(Val::Int(result)),
                    None if *b == 0 => failed(format!("`{operator}` by zero")),
                    None => failed("a number is too large"),
                }
            }
            (Val::Double(a), Val::Double(b)) if operator != '%' => {
                Ok(Val::Double(match operator {
                    '+' => a + b,
                    '-' => a - b,
                    '*' => a * b,
                    _ => a / b,
                }))
            }
            _ if operator == '+' && a.is_list() && b.is_list() => {
                let (n, m) = (a.count().unwrap_or_default(), b.count().unwrap_or_default());
                self.spend(n + m)?;
                let entries = (0..n).filter_map(|i| a.entry(i));
                let entries = entries.chain((0..m).filter_map(|i| b.entry(i)));
                Ok(Val::list(entries.collect()))
            }
            _ => match (a.as_text(), b.as_text()) {
                (Some(a), Some(b)) if operator == '+' => {
                    if a.len() + b.len() > self.text {
                        return failed("it makes too much text");
                    }
                    self.made(format!("{a}{b}"))
                }
                _ => {
                    let (a, b) = (a.type_name(), b.type_name());
                    failed(format!("`{operator}` of {a} and {b}"))
                }
            },
        }
    }

    fn each(&mut self, each: &'s Each) -> Result<'s> {
        let range = self.value(&each.range)?;
        let range = match range {
            Val::Null => return Err(ExpressionError::Missing),
            list if list.is_list() => list,
            other => match other.keys() {
                Some(keys) => {
                    self.spend(keys.len())?;
                    Val::list(keys)
                }
                None => return failed(format!("{} has no entries", other.type_name())),
            },
        };
        let count = range.count().unwrap_or_default();
        let depth = self.locals.len();
        let mut wrong: Option<ExpressionError> = None;
        let mut kept = Vec::new();
        let mut times = 0_usize;
        for number in 0..count {
            let Some(entry) = range.entry(number) else {
                break;
            };
            self.locals.truncate(depth);
            self.locals.push(entry);
            let outcome = match &each.what {
                What::Exists(body) | What::All(body) | What::ExistsOne(body) => self
                    .value(body)
                    .and_then(|v| truth(&v))
                    .map(|truth| (truth, None)),
                What::Map(filter, body) => {
                    let wanted = match filter {
                        Some(filter) => self.value(filter).and_then(|v| truth(&v)),
                        None => Ok(true),
                    };
                    match wanted {
                        Ok(true) => self.value(body).map(|value| (true, Some(value))),
                        Ok(false) => Ok((false, None)),
                        Err(error) => Err(error),
                    }
                }
            };
            match outcome {
                Ok((truth, value)) => match each.what {
                    What::Exists(_) if truth => {
                        self.locals.truncate(depth);
                        return Ok(Val::Bool(true));
                    }
                    What::All(_) if !truth => {
                        self.locals.truncate(depth);
                        return Ok(Val::Bool(false));
                    }
                    _ => {
                        times += usize::from(truth);
                        kept.extend(value);
                    }
                },
                Err(error) => {
                    // A later entry may decide all the same, or need to be read too.
                    let goes_on = matches!(each.what, What::Exists(_) | What::All(_))
                        || matches!(error, ExpressionError::Needs(_));
                    wrong = Some(match wrong {
                        Some(before) => graver(before, error),
                        None => error,
                    });
                    if !goes_on || self.steps == 0 {
                        break;
                    }
                }
            }
        }
        self.locals.truncate(depth);
        if let Some(error) = wrong {
            return Err(error);
        }
        Ok(match each.what {
            What::Exists(_) => Val::Bool(false),
            What::All(_) => Val::Bool(true),
            What::ExistsOne(_) => Val::Bool(times == 1),
            What::Map(..) => Val::list(kept),
        })
    }

    fn equal_except(&mut self, a: &Val<'s>, b: &Val<'s>, paths: &[Path]) -> Result<'s> {
        let mut spent = 0;
        let equal = equal_except(a, b, paths, &mut spent);
        self.spend(spent)?;
        Ok(Val::Bool(equal))
    }
}

fn truth(value: &Val<'_>) -> std::result::Result<bool, ExpressionError> {
    match value {
        Val::Bool(truth) => Ok(*truth),
        other => failed(format!(
            "expected true or false, found {}",
            other.type_name()
        )),
    }
}

fn text_of<'v>(
    function: &str,
    value: &'v Val<'_>,
) -> std::result::Result<&'v str, ExpressionError> {
    match value.as_text() {
        Some(text) => Ok(text),
        None => failed(format!("`{function}` with {}", value.type_name())),
    }
}

fn index<'s>(of: &Val<'s>, by: &Val<'_>) -> Result<'s> {
    match (of, by) {
        (Val::Null, _) => Err(ExpressionError::Missing),
        (of, Val::Int(number)) if of.is_list() => {
            let entry = usize::try_from(*number).ok().and_then(|n| of.entry(n));
            entry.ok_or(ExpressionError::Missing)
        }
        (of, by) => match by.as_text() {
            Some(key) if !of.is_list() => of.member(key),
            Some(_) => failed("a string can't be an index"),
            None if of.is_list() => failed(format!("{} can't be an index", by.type_name())),
            None => failed(format!("{} can't be a member name", by.type_name())),
        },
    }
}

#[allow(
    clippy::cast_precision_loss,
    reason = "order is all that is wanted of integers beside doubles"
)]
fn compare<'s>(order: Order, a: &Val<'_>, b: &Val<'_>) -> Result<'s> {
    let ordering = match (a, b) {
        (Val::Int(a), Val::Int(b)) => Some(a.cmp(b)),
        (Val::Double(a), Val::Double(b)) => a.partial_cmp(b),
        (Val::Int(a), Val::Double(b)) => (*a as f64).partial_cmp(b),
        (Val::Double(a), Val::Int(b)) => a.partial_cmp(&(*b as f64)),
        (Val::Bool(a), Val::Bool(b)) => Some(a.cmp(b)),
        _ => match (a.as_text(), b.as_text()) {
            (Some(a), Some(b)) => Some(a.cmp(b)),
            _ => {
                let (a, b) = (a.type_name(), b.type_name());
                return failed(format!("{a} and {b} can't be compared"));
            }
        },
    };
    Ok(Val::Bool(match order {
        Order::Less => ordering == Some(Ordering::Less),
        Order::LessOrEqual => matches!(ordering, Some(Ordering::Less | Ordering::Equal)),
        Order::Greater => ordering == Some(Ordering::Greater),
        Order::GreaterOrEqual => matches!(ordering, Some(Ordering::Greater | Ordering::Equal)),
    }))
}

/// The member at a path; nothing if it is missing or null.
fn at<'s>(of: &Val<'s>, path: &Path) -> Option<Val<'s>> {
    let mut here = of.clone();
    for step in &path.0 {
        let Step::Member(name) = step else {
            return None;
        };
        here = if here.is_list() {
            here.entry(name.parse().ok()?)?
        } else {
            here.member(name).ok()?
        };
    }
    (!matches!(here, Val::Null)).then_some(here)
}
