//! An expression as it is computed: names are resolved, constants are made, patterns are compiled.

use regex::Regex;

use super::functions::Function;
use super::path::Path;

/// One part of an expression.
#[derive(Debug)]
pub(crate) enum Node {
    /// null.
    Null,
    /// true or false.
    Bool(bool),
    /// An integer.
    Int(i64),
    /// Another number.
    Double(f64),
    /// A text.
    Text(String),
    /// A variable of the scope, by its number among the names given at compile time.
    Variable(usize),
    /// A variable of a comprehension, by its number from the outermost.
    Local(usize),
    /// A member.
    Member(Box<Node>, String),
    /// Whether a member is there.
    Has(Box<Node>, String),
    /// An entry or a member.
    Index(Box<Node>, Box<Node>),
    /// A list.
    List(Vec<Node>),
    /// A map.
    Map(Vec<(Node, Node)>),
    /// `&&` (true) or `||` (false).
    Logic(bool, Box<Node>, Box<Node>),
    /// `!`.
    Not(Box<Node>),
    /// `-`.
    Negate(Box<Node>),
    /// `a ? b : c`.
    Choice(Box<Node>, Box<Node>, Box<Node>),
    /// `==` (true) or `!=` (false).
    Equal(bool, Box<Node>, Box<Node>),
    /// `<`, `<=`, `>`, `>=`.
    Compare(Order, Box<Node>, Box<Node>),
    /// `in`.
    In(Box<Node>, Box<Node>),
    /// Arithmetic; `+` joins texts and lists too.
    Arithmetic(char, Box<Node>, Box<Node>),
    /// A comprehension.
    Each(Box<Each>),
    /// A function; of a method, the first argument is what it is called on.
    Call(Function, Vec<Node>),
    /// `matches` with a constant pattern.
    Matches(Box<Node>, Regex),
    /// `get` with a constant path.
    Get(Box<Node>, Path, Box<Node>),
    /// `equalExcept` with constant paths.
    EqualExcept(Box<Node>, Box<Node>, Vec<Path>),
}

/// How two values are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Order {
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

/// What is done with each entry of a list (or key of a map).
#[derive(Debug)]
pub(crate) struct Each {
    /// The list.
    pub(crate) range: Node,
    /// What.
    pub(crate) what: What,
}

/// What is done with each entry. The entry is the next local variable.
#[derive(Debug)]
pub(crate) enum What {
    /// Whether it is true of any.
    Exists(Node),
    /// Whether it is true of all.
    All(Node),
    /// Whether it is true of just one.
    ExistsOne(Node),
    /// Those of which the first is true (all if there is none), as the second says.
    Map(Option<Node>, Node),
}

impl Node {
    /// Calls `see` for this part and all parts of it.
    pub(crate) fn walk<'n>(&'n self, see: &mut impl FnMut(&'n Node) -> bool) {
        if !see(self) {
            return;
        }
        match self {
            Self::Null
            | Self::Bool(_)
            | Self::Int(_)
            | Self::Double(_)
            | Self::Text(_)
            | Self::Variable(_)
            | Self::Local(_) => {}
            Self::Member(of, _)
            | Self::Has(of, _)
            | Self::Not(of)
            | Self::Negate(of)
            | Self::Matches(of, _) => of.walk(see),
            Self::Index(a, b)
            | Self::Logic(_, a, b)
            | Self::Equal(_, a, b)
            | Self::Compare(_, a, b)
            | Self::In(a, b)
            | Self::Arithmetic(_, a, b)
            | Self::Get(a, _, b)
            | Self::EqualExcept(a, b, _) => {
                a.walk(see);
                b.walk(see);
            }
            Self::Choice(a, b, c) => {
                a.walk(see);
                b.walk(see);
                c.walk(see);
            }
            Self::List(parts) | Self::Call(_, parts) => {
                for part in parts {
                    part.walk(see);
                }
            }
            Self::Map(parts) => {
                for (key, value) in parts {
                    key.walk(see);
                    value.walk(see);
                }
            }
            Self::Each(each) => {
                each.range.walk(see);
                match &each.what {
                    What::Exists(body) | What::All(body) | What::ExistsOne(body) => body.walk(see),
                    What::Map(filter, body) => {
                        if let Some(filter) = filter {
                            filter.walk(see);
                        }
                        body.walk(see);
                    }
                }
            }
        }
    }

    /// Whether it is a constant.
    pub(crate) fn is_constant(&self) -> bool {
        match self {
            Self::Null | Self::Bool(_) | Self::Int(_) | Self::Double(_) | Self::Text(_) => true,
            Self::List(entries) => entries.iter().all(Self::is_constant),
            Self::Map(entries) => {
                let mut entries = entries.iter();
                entries.all(|(key, value)| key.is_constant() && value.is_constant())
            }
            _ => false,
        }
    }

    /// The members that this part walks from a variable of the scope, if it does nothing else.
    pub(crate) fn chain(&self) -> Option<(usize, Vec<&str>)> {
        match self {
            Self::Variable(number) => Some((*number, Vec::new())),
            Self::Member(of, name) | Self::Has(of, name) => {
                let (number, mut chain) = of.chain()?;
                chain.push(name);
                Some((number, chain))
            }
            Self::Index(of, by) => match by.as_ref() {
                Self::Text(name) => {
                    let (number, mut chain) = of.chain()?;
                    chain.push(name);
                    Some((number, chain))
                }
                _ => None,
            },
            _ => None,
        }
    }
}
