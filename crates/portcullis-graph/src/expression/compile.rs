//! From text to [`Node`]: the parser of the `cel` crate, then names, functions, constants and limits.
//!
//! The parser is generated code that follows the nesting of the text with its stack, and it is not
//! written for hostile texts; so it runs with a large stack, and a panic there is a fault of the text.
//! Callers that compile many do so within [`together`], since a thread for each costs more than compiling.

use cel::common::ast::{
    CallExpr, ComprehensionExpr, EntryExpr, Expr, IdedExpr, LiteralValue, SourceInfo, operators,
};
use cel::parser::{ParseErrors, Parser};
use portcullis_core::deep_stack::{self, Failure};
use regex::{Regex, RegexBuilder};

use super::functions::{self, Function, suggestion};
use super::node::{Each, Node, Order, What};
use super::path::{Path, Step};

/// How long an expression may be.
const MAX_LENGTH: usize = 4096;
/// How deep brackets may be nested.
const MAX_BRACKETS: u16 = 32;
/// How deep the parts of an expression may be nested.
const MAX_DEPTH: usize = 64;
/// How deep comprehensions may be nested.
const MAX_COMPREHENSIONS: usize = 2;
/// How large a compiled pattern may be.
const MAX_PATTERN: usize = 256 * 1024;
/// The stack of the parser.
const STACK: usize = 32 << 20;

/// Compiles what needs many expressions on one thread with a stack that is large enough.
///
/// # Errors
///
/// If the work panics, or if there can't be such a thread.
pub(crate) fn together<T: Send>(work: impl FnOnce() -> T + Send) -> Result<T, Failure> {
    deep_stack::run(STACK, work)
}

/// Compiles a text.
pub(crate) fn compile(text: &str, variables: &[&str]) -> Result<Node, String> {
    if text.trim().is_empty() {
        return Err("the expression is empty".to_owned());
    }
    if text.len() > MAX_LENGTH {
        return Err(format!("the expression is longer than {MAX_LENGTH} bytes"));
    }
    deep_stack::run(STACK, || parse(text, variables)).unwrap_or_else(|why| {
        Err(match why {
            Failure::Panicked => "invalid expression".to_owned(),
            why @ Failure::NoThread(_) => format!("cannot parse the expression: {why}"),
        })
    })
}

fn parse(text: &str, variables: &[&str]) -> Result<Node, String> {
    let parser = Parser::default()
        .max_recursion_depth(MAX_BRACKETS)
        .error_recovery_limit(4)
        .enable_ident_escape_syntax(true);
    let (tree, source) = parser
        .parse_with_source_info(text)
        .map_err(|errors| syntax(&errors))?;
    let mut compiler = Compiler {
        text,
        source: &source,
        variables,
        locals: Vec::new(),
        depth: 0,
    };
    compiler.node(&tree)
}

/// The first syntax error, in plain words.
fn syntax(errors: &ParseErrors) -> String {
    let Some(error) = errors.errors.first() else {
        return "invalid expression".to_owned();
    };
    let message = error.msg.as_str();
    let plain = message.strip_prefix("Syntax error: ").unwrap_or(message);
    let quoted = |text: &str, before: &str| {
        let rest = text.strip_prefix(before)?;
        let end = rest.find("' expecting").or_else(|| rest.rfind('\''))?;
        rest.get(..end)
            .map(|inside| format!("unexpected `{}`", inside.trim()))
    };
    let missing = plain
        .strip_prefix("missing '")
        .and_then(|rest| rest.split_once("' at "));
    let words = if let Some((missing, _)) = missing {
        format!("`{missing}` is missing")
    } else if plain.contains("Recursion limit") {
        format!("it is nested deeper than {MAX_BRACKETS} levels")
    } else if plain.contains("<EOF>' expecting") {
        "it ends too early".to_owned()
    } else {
        quoted(plain, "token recognition error at: '")
            .or_else(|| quoted(plain, "no viable alternative at input '"))
            .or_else(|| quoted(plain, "mismatched input '"))
            .or_else(|| quoted(plain, "extraneous input '"))
            .unwrap_or_else(|| plain.to_owned())
    };
    match error.pos {
        (line, column) if line > 0 && column > 0 => {
            format!("line {line}, column {column}: {words}")
        }
        _ => words,
    }
}

struct Compiler<'c> {
    text: &'c str,
    source: &'c SourceInfo,
    variables: &'c [&'c str],
    locals: Vec<&'c str>,
    depth: usize,
}

impl<'c> Compiler<'c> {
    fn wrong<T>(&self, id: u64, words: impl std::fmt::Display) -> Result<T, String> {
        let Some((start, _)) = self.source.offset_for(id) else {
            return Err(words.to_string());
        };
        let start = usize::try_from(start).unwrap_or_default();
        let (mut line, mut column) = (1, 1);
        for letter in self.text.chars().take(start) {
            column += 1;
            if letter == '\n' {
                line += 1;
                column = 1;
            }
        }
        Err(format!("line {line}, column {column}: {words}"))
    }

    fn node(&mut self, tree: &'c IdedExpr) -> Result<Node, String> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            let words = format!("it is nested deeper than {MAX_DEPTH} levels");
            return self.wrong(tree.id, words);
        }
        let node = self.part(tree);
        self.depth -= 1;
        node
    }

    fn boxed(&mut self, tree: &'c IdedExpr) -> Result<Box<Node>, String> {
        self.node(tree).map(Box::new)
    }

    fn part(&mut self, tree: &'c IdedExpr) -> Result<Node, String> {
        match &tree.expr {
            Expr::Unspecified => self.wrong(tree.id, "expected an expression"),
            Expr::Literal(literal) => self.literal(tree.id, literal),
            Expr::Ident(name) => self.name(tree.id, name),
            Expr::Select(select) => {
                let of = self.boxed(&select.operand)?;
                let name = select.field.clone();
                Ok(match select.test {
                    true => Node::Has(of, name),
                    false => Node::Member(of, name),
                })
            }
            Expr::List(list) => {
                let entries = list.elements.iter().map(|e| self.node(e));
                Ok(Node::List(entries.collect::<Result<_, _>>()?))
            }
            Expr::Map(map) => {
                let mut entries = Vec::new();
                for entry in &map.entries {
                    let EntryExpr::MapEntry(entry) = &entry.expr else {
                        return self.wrong(tree.id, "expected a map");
                    };
                    entries.push((self.node(&entry.key)?, self.node(&entry.value)?));
                }
                Ok(Node::Map(entries))
            }
            Expr::Struct(message) => {
                let words = format!(
                    "message types like `{}` are not supported",
                    message.type_name
                );
                self.wrong(tree.id, words)
            }
            Expr::Comprehension(comprehension) => self.comprehension(tree.id, comprehension),
            Expr::Call(call) => self.call(tree.id, call),
        }
    }

    fn literal(&self, id: u64, literal: &LiteralValue) -> Result<Node, String> {
        Ok(match literal {
            LiteralValue::Null => Node::Null,
            LiteralValue::Boolean(value) => Node::Bool(*value.inner()),
            LiteralValue::Int(value) => Node::Int(*value.inner()),
            LiteralValue::Double(value) => Node::Double(*value.inner()),
            LiteralValue::String(value) => Node::Text(value.inner().to_owned()),
            LiteralValue::UInt(value) => match i64::try_from(*value.inner()) {
                Ok(value) => Node::Int(value),
                Err(_) => return self.wrong(id, "this number is too large"),
            },
            LiteralValue::Bytes(_) => {
                return self.wrong(id, "bytes are not supported: use a string");
            }
        })
    }

    fn name(&self, id: u64, name: &str) -> Result<Node, String> {
        if let Some(number) = self.locals.iter().rposition(|local| *local == name) {
            return Ok(Node::Local(number));
        }
        if let Some(number) = self.variables.iter().position(|known| *known == name) {
            return Ok(Node::Variable(number));
        }
        let known = self.locals.iter().chain(self.variables).copied();
        let words = format!("unknown variable `{name}`{}", suggestion(name, known));
        self.wrong(id, words)
    }

    fn comprehension(
        &mut self,
        id: u64,
        comprehension: &'c ComprehensionExpr,
    ) -> Result<Node, String> {
        let range = self.node(&comprehension.iter_range)?;
        if self.locals.len() == MAX_COMPREHENSIONS {
            return self.wrong(
                id,
                format!("`map`, `filter`, `all` and `exists` can be nested at most {MAX_COMPREHENSIONS} levels deep"),
            );
        }
        self.locals.push(&comprehension.iter_var);
        let what = self.what(id, comprehension);
        self.locals.pop();
        Ok(Node::Each(Box::new(Each { range, what: what? })))
    }

    /// Recognizes what the parser's macros make.
    fn what(&mut self, id: u64, comprehension: &'c ComprehensionExpr) -> Result<What, String> {
        let step = &comprehension.loop_step.expr;
        let Expr::Call(call) = step else {
            return self.wrong(id, "unsupported expression");
        };
        let appended = |tree: &'c IdedExpr| match &tree.expr {
            Expr::Call(add) if add.func_name == operators::ADD => match add.args.as_slice() {
                [_, list] => match &list.expr {
                    Expr::List(list) => list.elements.first(),
                    _ => None,
                },
                _ => None,
            },
            _ => None,
        };
        let init = &comprehension.accu_init.expr;
        match (init, call.func_name.as_str(), call.args.as_slice()) {
            (Expr::Literal(_), operators::LOGICAL_OR, [_, body]) => {
                Ok(What::Exists(self.node(body)?))
            }
            (Expr::Literal(_), operators::LOGICAL_AND, [_, body]) => {
                Ok(What::All(self.node(body)?))
            }
            (Expr::Literal(_), operators::CONDITIONAL, [body, _, _]) => {
                Ok(What::ExistsOne(self.node(body)?))
            }
            (Expr::List(_), operators::ADD, _) => match appended(&comprehension.loop_step) {
                Some(body) => Ok(What::Map(None, self.node(body)?)),
                None => self.wrong(id, "unsupported expression"),
            },
            (Expr::List(_), operators::CONDITIONAL, [filter, add, _]) => match appended(add) {
                Some(body) => Ok(What::Map(Some(self.node(filter)?), self.node(body)?)),
                None => self.wrong(id, "unsupported expression"),
            },
            _ => self.wrong(id, "unsupported expression"),
        }
    }

    fn call(&mut self, id: u64, call: &'c CallExpr) -> Result<Node, String> {
        if call.target.is_none()
            && let Some(node) = self.operator(call)?
        {
            return Ok(node);
        }
        let is_method = call.target.is_some();
        let function = match functions::find(&call.func_name, is_method, call.args.len()) {
            Ok(function) => function,
            Err(words) => return self.wrong(id, words),
        };
        let mut arguments = Vec::new();
        for argument in call.target.as_deref().into_iter().chain(&call.args) {
            arguments.push(self.node(argument)?);
        }
        self.constant(id, function, arguments)
    }

    fn operator(&mut self, call: &'c CallExpr) -> Result<Option<Node>, String> {
        let node = match (call.func_name.as_str(), call.args.as_slice()) {
            (operators::CONDITIONAL, [a, b, c]) => {
                Node::Choice(self.boxed(a)?, self.boxed(b)?, self.boxed(c)?)
            }
            (operators::LOGICAL_NOT, [a]) => Node::Not(self.boxed(a)?),
            (operators::NEGATE, [a]) => Node::Negate(self.boxed(a)?),
            (name, [a, b]) => {
                let Some(make) = binary(name) else {
                    return Ok(None);
                };
                make(self.boxed(a)?, self.boxed(b)?)
            }
            _ => return Ok(None),
        };
        Ok(Some(node))
    }

    /// What can be made once: patterns and paths.
    fn constant(
        &self,
        id: u64,
        function: Function,
        mut arguments: Vec<Node>,
    ) -> Result<Node, String> {
        match (function, arguments.as_slice()) {
            (Function::Matches, [_, Node::Text(text)]) => {
                let pattern = match pattern(text) {
                    Ok(pattern) => pattern,
                    Err(words) => return self.wrong(id, words),
                };
                let of = Box::new(arguments.swap_remove(0));
                Ok(Node::Matches(of, pattern))
            }
            (Function::Get, [_, at, _]) => match constant_path(at) {
                Some(Ok(path)) => {
                    let default = Box::new(arguments.swap_remove(2));
                    let of = Box::new(arguments.swap_remove(0));
                    Ok(Node::Get(of, path, default))
                }
                Some(Err(words)) => self.wrong(id, words),
                None => Ok(Node::Call(function, arguments)),
            },
            (Function::EqualExcept, [_, _, Node::List(list)]) => {
                let paths: Option<Vec<_>> = list.iter().map(constant_path).collect();
                let Some(paths) = paths else {
                    return Ok(Node::Call(function, arguments));
                };
                match paths.into_iter().collect() {
                    Ok(paths) => {
                        let b = Box::new(arguments.swap_remove(1));
                        let a = Box::new(arguments.swap_remove(0));
                        Ok(Node::EqualExcept(a, b, paths))
                    }
                    Err(words) => self.wrong::<Node>(id, String::as_str(&words)),
                }
            }
            _ => Ok(Node::Call(function, arguments)),
        }
    }
}

type Binary = fn(Box<Node>, Box<Node>) -> Node;

fn binary(name: &str) -> Option<Binary> {
    Some(match name {
        operators::LOGICAL_AND => |a, b| Node::Logic(true, a, b),
        operators::LOGICAL_OR => |a, b| Node::Logic(false, a, b),
        operators::EQUALS => |a, b| Node::Equal(true, a, b),
        operators::NOT_EQUALS => |a, b| Node::Equal(false, a, b),
        operators::LESS => |a, b| Node::Compare(Order::Less, a, b),
        operators::LESS_EQUALS => |a, b| Node::Compare(Order::LessOrEqual, a, b),
        operators::GREATER => |a, b| Node::Compare(Order::Greater, a, b),
        operators::GREATER_EQUALS => |a, b| Node::Compare(Order::GreaterOrEqual, a, b),
        operators::IN => Node::In,
        operators::INDEX => Node::Index,
        operators::ADD => |a, b| Node::Arithmetic('+', a, b),
        operators::SUBSTRACT => |a, b| Node::Arithmetic('-', a, b),
        operators::MULTIPLY => |a, b| Node::Arithmetic('*', a, b),
        operators::DIVIDE => |a, b| Node::Arithmetic('/', a, b),
        operators::MODULO => |a, b| Node::Arithmetic('%', a, b),
        _ => return None,
    })
}

/// A path that is written out, as a text or a list of members.
fn constant_path(node: &Node) -> Option<Result<Path, String>> {
    match node {
        Node::Text(text) => Some(Path::parse(text)),
        Node::List(members) => {
            let members = members.iter().map(|member| match member {
                Node::Text(name) if name == "*" => Some(Step::Any),
                Node::Text(name) => Some(Step::Member(name.clone())),
                _ => None,
            });
            members
                .collect::<Option<Vec<_>>>()
                .map(|steps| match steps.is_empty() {
                    true => Err("a path can't have members".to_owned()),
                    false => Ok(Path(steps)),
                })
        }
        _ => None,
    }
}

/// Compiles a pattern. Matching takes time proportional to the text.
pub(crate) fn pattern(text: &str) -> Result<Regex, String> {
    RegexBuilder::new(text)
        .size_limit(MAX_PATTERN)
        .dfa_size_limit(MAX_PATTERN)
        .build()
        .map_err(|error| match error {
            regex::Error::CompiledTooBig(_) => "the pattern is too large".to_owned(),
            error => {
                let text = error.to_string();
                let last = text.lines().last().unwrap_or("it can't be read");
                let words = last.strip_prefix("error: ").unwrap_or(last);
                format!("invalid pattern: {words}")
            }
        })
}
