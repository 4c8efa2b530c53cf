//! Which texts can't change the objects they are given, determined from their trees.
//!
//! Reading an object back costs as much as running a short policy over it. A text that has no way to
//! write needs none of that. Everything here is a list of what is known to be harmless; whatever is not
//! on it counts as a change, so that the only possible mistake is an unnecessary read back.
//!
//! INVARIANT: a function that changes what it is given, like `Object.assign`, can be reached by a computed
//! key, but never be called. Calls are of methods with a known name, and no object that a text makes
//! has a member of such a name; of global functions whose names are bound nowhere; and of functions
//! written in place, whose bodies are looked at like the rest.

use swc_ecma_ast::{
    ArrowFunctionBody, AssignTarget, BlockStmt, CallExpr, Callee, Decl, Expr, ExprOrSpread,
    ForHead, Function, Lit, MemberExpr, MemberProp, ObjectLit, ObjectPatProp, OptChainBase, Pat,
    Prop, PropName, PropOrSpread, SimpleAssignTarget, Stmt, UnaryOp, VarDecl, VarDeclOrExpr,
};

/// Global functions that only read. No text that is harmless binds these names or assigns to them.
const FUNCTIONS: &[&str] = &[
    "allow",
    "deny",
    "warn",
    "exit",
    "print",
    "atob",
    "btoa",
    "isFinite",
    "isNaN",
    "parseInt",
    "parseFloat",
    "Number",
    "String",
    "Boolean",
];

/// Methods that only read, whatever they are called on and with.
const METHODS: &[&str] = &[
    "test",
    "exec",
    "match",
    "matchAll",
    "includes",
    "startsWith",
    "endsWith",
    "indexOf",
    "lastIndexOf",
    "at",
    "charAt",
    "charCodeAt",
    "codePointAt",
    "slice",
    "substring",
    "split",
    "trim",
    "trimStart",
    "trimEnd",
    "toLowerCase",
    "toUpperCase",
    "toString",
    "join",
    "concat",
    "flat",
    "keys",
    "values",
    "entries",
    "hasOwn",
    "hasOwnProperty",
    "isArray",
    "isInteger",
    "isFinite",
    "isNaN",
    "parseInt",
    "parseFloat",
    "has",
    "Get",
    "Values",
    "Query",
    "warn",
    "log",
    "info",
    "error",
    "debug",
    "localeCompare",
    "padStart",
    "padEnd",
    "repeat",
    "toFixed",
    "min",
    "max",
    "abs",
    "floor",
    "ceil",
    "round",
];

/// Methods that call a function, which must be written in place: which argument it is.
const CALLERS: &[(&str, usize)] = &[
    ("map", 0),
    ("filter", 0),
    ("some", 0),
    ("every", 0),
    ("find", 0),
    ("findIndex", 0),
    ("findLast", 0),
    ("forEach", 0),
    ("flatMap", 0),
    ("reduce", 0),
    ("replace", 1),
    ("replaceAll", 1),
];

/// Members by which the language itself calls functions of an object.
const CALLED: &[&str] = &["toString", "valueOf", "toJSON", "then", "__proto__"];

/// Names that stand for more than can be determined here.
const UNCLEAR: &[&str] = &["arguments", "eval"];

/// Whether these statements can't change anything that was not made by them.
pub(crate) fn statements(list: &[Stmt]) -> bool {
    list.iter().all(statement)
}

fn statement(statement: &Stmt) -> bool {
    match statement {
        Stmt::Empty(_) | Stmt::Break(_) | Stmt::Continue(_) => true,
        Stmt::Block(block) => self::block(block),
        Stmt::Expr(it) => expression(&it.expr),
        Stmt::Return(it) => it.arg.as_deref().is_none_or(expression),
        Stmt::Throw(it) => expression(&it.arg),
        Stmt::Labeled(it) => self::statement(&it.body),
        Stmt::If(it) => {
            expression(&it.test)
                && self::statement(&it.cons)
                && it.alt.as_deref().is_none_or(self::statement)
        }
        Stmt::Switch(it) => {
            let test =
                |case: &swc_ecma_ast::SwitchCase| case.test.as_deref().is_none_or(expression);
            let mut cases = it.cases.iter();
            expression(&it.discriminant) && cases.all(|case| test(case) && statements(&case.cons))
        }
        Stmt::Try(it) => {
            let handler = it.handler.as_ref().is_none_or(|handler| {
                handler.param.as_ref().is_none_or(binding) && block(&handler.body)
            });
            block(&it.block) && handler && it.finalizer.as_ref().is_none_or(block)
        }
        Stmt::While(it) => expression(&it.test) && self::statement(&it.body),
        Stmt::DoWhile(it) => expression(&it.test) && self::statement(&it.body),
        Stmt::For(it) => {
            let init = match &it.init {
                None => true,
                Some(VarDeclOrExpr::VarDecl(declaration)) => variables(declaration),
                Some(VarDeclOrExpr::Expr(init)) => expression(init),
            };
            init && it.test.as_deref().is_none_or(expression)
                && it.update.as_deref().is_none_or(expression)
                && self::statement(&it.body)
        }
        Stmt::ForIn(it) => head(&it.left) && expression(&it.right) && self::statement(&it.body),
        Stmt::ForOf(it) => {
            !it.is_await && head(&it.left) && expression(&it.right) && self::statement(&it.body)
        }
        Stmt::Decl(Decl::Var(declaration)) => variables(declaration),
        Stmt::Decl(Decl::Fn(it)) => is_free(&it.ident.sym) && function(&it.function),
        _ => false,
    }
}

fn block(block: &BlockStmt) -> bool {
    statements(&block.stmts)
}

fn variables(declaration: &VarDecl) -> bool {
    let init = |init: &Option<Box<Expr>>| init.as_deref().is_none_or(expression);
    let mut all = declaration.decls.iter();
    all.all(|one| binding(&one.name) && init(&one.init))
}

/// What a loop gives its values to: names, no members.
fn head(head: &ForHead) -> bool {
    match head {
        ForHead::VarDecl(declaration) => variables(declaration),
        ForHead::Pat(pattern) => matches!(&**pattern, Pat::Ident(name) if is_free(&name.sym)),
        ForHead::UsingDecl(_) => false,
    }
}

/// What binds names, by which nothing but these names gets another value.
fn binding(pattern: &Pat) -> bool {
    match pattern {
        Pat::Ident(name) => is_free(&name.sym),
        Pat::Array(it) => it.elems.iter().flatten().all(binding),
        Pat::Rest(it) => binding(&it.arg),
        Pat::Assign(it) => binding(&it.left) && expression(&it.right),
        Pat::Object(it) => it.props.iter().all(|member| match member {
            ObjectPatProp::KeyValue(it) => {
                let key = match &it.key {
                    PropName::Computed(key) => expression(&key.expr),
                    _ => true,
                };
                key && binding(&it.value)
            }
            ObjectPatProp::Assign(it) => {
                is_free(&it.key.id.sym) && it.value.as_deref().is_none_or(expression)
            }
            ObjectPatProp::Rest(it) => binding(&it.arg),
        }),
        Pat::Expr(_) | Pat::Invalid(_) => false,
    }
}

fn function(function: &Function) -> bool {
    let parameters = function
        .params
        .iter()
        .all(|parameter| binding(&parameter.pat));
    let body = function
        .body
        .as_ref()
        .is_some_and(|body| statements(&body.stmts));
    !function.is_generator && parameters && body
}

fn expression(expression: &Expr) -> bool {
    let all = self::expression;
    match expression {
        Expr::Ident(name) => !UNCLEAR.contains(&name.sym.as_str()),
        Expr::Lit(it) => !matches!(it, Lit::JSXText(_)),
        Expr::Paren(it) => all(&it.expr),
        Expr::Tpl(it) => it.exprs.iter().all(|part| all(part)),
        Expr::Seq(it) => it.exprs.iter().all(|part| all(part)),
        Expr::Array(it) => it.elems.iter().flatten().all(|part| all(&part.expr)),
        Expr::Object(it) => object(it),
        Expr::Cond(it) => all(&it.test) && all(&it.cons) && all(&it.alt),
        Expr::Bin(it) => all(&it.left) && all(&it.right),
        Expr::Unary(it) => it.op != UnaryOp::Delete && all(&it.arg),
        Expr::Await(it) => all(&it.arg),
        Expr::Update(it) => matches!(&*it.arg, Expr::Ident(name) if is_free(&name.sym)),
        Expr::Assign(it) => {
            let target = match &it.left {
                AssignTarget::Simple(SimpleAssignTarget::Ident(name)) => is_free(&name.id.sym),
                _ => false,
            };
            target && all(&it.right)
        }
        Expr::Member(it) => member(it),
        Expr::OptChain(it) => match &*it.base {
            OptChainBase::Member(it) => member(it),
            OptChainBase::Call(it) => call(&it.callee, &it.args),
        },
        Expr::Call(CallExpr {
            callee: Callee::Expr(callee),
            args,
            ..
        }) => call(callee, args),
        Expr::Fn(_) | Expr::Arrow(_) => is_function(expression),
        _ => false,
    }
}

/// Whether this is a function, written in place, that is harmless.
fn is_function(expression: &Expr) -> bool {
    match expression {
        Expr::Fn(it) => {
            it.ident.as_ref().is_none_or(|name| is_free(&name.sym)) && function(&it.function)
        }
        Expr::Arrow(it) => {
            let body = match &*it.body {
                ArrowFunctionBody::FunctionBody(body) => statements(&body.stmts),
                ArrowFunctionBody::Expr(body) => self::expression(body),
            };
            it.params.iter().all(binding) && body
        }
        _ => false,
    }
}

fn member(member: &MemberExpr) -> bool {
    let key = match &member.prop {
        MemberProp::Ident(_) => true,
        MemberProp::Computed(key) => expression(&key.expr),
        MemberProp::PrivateName(_) => false,
    };
    key && expression(&member.obj)
}

/// An object has no functions by which the language, or a call by a known name, would call them.
fn object(object: &ObjectLit) -> bool {
    let is_plain = |name: &str| !CALLED.contains(&name) && !is_known_method(name);
    object.props.iter().all(|member| match member {
        PropOrSpread::Spread(it) => expression(&it.expr),
        PropOrSpread::Prop(member) => match &**member {
            Prop::Shorthand(name) => is_plain(&name.sym) && !UNCLEAR.contains(&name.sym.as_str()),
            Prop::KeyValue(it) => {
                let key = match &it.key {
                    PropName::Ident(name) => is_plain(&name.sym),
                    PropName::Str(text) => text.value.as_str().is_some_and(is_plain),
                    PropName::Num(_) => true,
                    PropName::Computed(_) | PropName::BigInt(_) => false,
                };
                key && expression(&it.value)
            }
            _ => false,
        },
    })
}

fn call(callee: &Expr, arguments: &[ExprOrSpread]) -> bool {
    let callee = match callee {
        Expr::Ident(name) => return FUNCTIONS.contains(&&*name.sym) && all_of(arguments),
        Expr::Member(it) => it,
        Expr::OptChain(it) => match &*it.base {
            OptChainBase::Member(it) => it,
            OptChainBase::Call(_) => return false,
        },
        _ => return false,
    };
    let MemberProp::Ident(name) = &callee.prop else {
        return false;
    };
    let is_good = match CALLERS.iter().find(|(known, _)| name.sym == **known) {
        Some((_, place)) => {
            // With a spread it is not known which argument is which.
            let is_plain = arguments.iter().all(|argument| argument.spread.is_none());
            let given = arguments.get(*place).map(|argument| &*argument.expr);
            is_plain && given.is_some_and(|given| is_function(given) || is_text(given))
        }
        None => METHODS.contains(&&*name.sym),
    };
    is_good && expression(&callee.obj) && all_of(arguments)
}

fn all_of(arguments: &[ExprOrSpread]) -> bool {
    arguments.iter().all(|argument| expression(&argument.expr))
}

/// Whether this is certainly no function.
fn is_text(expression: &Expr) -> bool {
    matches!(expression, Expr::Lit(_) | Expr::Tpl(_))
}

fn is_known_method(name: &str) -> bool {
    METHODS.contains(&name) || CALLERS.iter().any(|(known, _)| *known == name)
}

/// Whether a name may be bound: it stands for no function that is called by its name.
fn is_free(name: &str) -> bool {
    !FUNCTIONS.contains(&name) && !UNCLEAR.contains(&name)
}
