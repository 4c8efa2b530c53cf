//! Coverage: code that records which of its statements run.

use swc_common::{BytePos, Span, Spanned};
use swc_ecma_ast::{
    BlockStmt, Decl, DoWhileStmt, Expr, ForInStmt, ForOfStmt, ForStmt, FunctionBody, Ident, IfStmt,
    LabeledStmt, Lit, Module, ModuleItem, Stmt, SwitchCase, WhileStmt, WithStmt,
};
use swc_ecma_visit::{Visit, VisitWith};

use crate::fault::Places;
use crate::glue::COVER;
use crate::parse::{self, BodyOf};

/// A statement that records when it runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Mark {
    /// What `$cover` is called with.
    pub id: u32,
    /// Line of the statement, from 1.
    pub line: u32,
}

/// The code with a call of `$cover` before each statement. Code that can't be read, or that uses
/// the name itself, comes back as it is.
pub(crate) fn mark(code: &str, is_module: bool, first: u32) -> (String, Vec<Mark>) {
    let unmarked = || (code.to_owned(), Vec::new());
    if code.contains(COVER) {
        return unmarked();
    }
    let mut marker = Marker {
        places: Places::new(code),
        prefix: 0,
        next: first,
        marks: Vec::new(),
        insertions: Vec::new(),
    };
    if is_module {
        let (Some(module), complaints) = parse::javascript(code) else {
            return unmarked();
        };
        if !complaints.is_empty() {
            return unmarked();
        }
        module.visit_with(&mut marker);
    } else {
        let read = |kind: BodyOf| Some((kind, parse::body(code, kind)?));
        let Some((kind, statements)) = read(BodyOf::Async).or_else(|| read(BodyOf::Plain)) else {
            return unmarked();
        };
        marker.prefix = kind.prefix().len();
        marker.list(statements.iter(), true);
    }
    (marker.insert(code), marker.marks)
}

#[derive(Debug)]
struct Marker<'a> {
    places: Places<'a>,
    /// Bytes before the code in what was parsed.
    prefix: usize,
    next: u32,
    marks: Vec<Mark>,
    /// What to insert where. What is inserted at one place is in order.
    insertions: Vec<(usize, String)>,
}

impl Marker<'_> {
    fn offset(&self, position: BytePos) -> usize {
        parse::offset(position).saturating_sub(self.prefix)
    }

    fn mark(&mut self, span: Span, before: &str) {
        let at = self.offset(span.lo);
        let line = self.places.line(at);
        let id = self.next;
        self.next = self.next.saturating_add(1);
        self.marks.push(Mark { id, line });
        self.insertions
            .push((at, format!("{before}{COVER}({id});")));
    }

    fn list<'s>(&mut self, statements: impl Iterator<Item = &'s Stmt>, mut prologue: bool) {
        for statement in statements {
            prologue &= is_directive(statement);
            let is_bare = matches!(
                statement,
                Stmt::Empty(_) | Stmt::Block(_) | Stmt::Decl(Decl::Fn(_))
            );
            if !prologue && !is_bare {
                self.mark(statement.span(), "");
            }
            statement.visit_children_with(self);
        }
    }

    /// A statement that may be a block, but need not.
    fn part(&mut self, statement: &Stmt) {
        if matches!(
            statement,
            Stmt::Empty(_) | Stmt::Block(_) | Stmt::Decl(Decl::Fn(_))
        ) {
            statement.visit_children_with(self);
            return;
        }
        self.mark(statement.span(), "{");
        statement.visit_children_with(self);
        let end = self.offset(statement.span().hi);
        self.insertions.push((end, "}".to_owned()));
    }

    fn insert(&mut self, code: &str) -> String {
        self.insertions.sort_by_key(|(at, _)| *at);
        let mut marked = String::with_capacity(code.len() * 2);
        let mut done = 0;
        for (at, text) in &self.insertions {
            marked.push_str(code.get(done..*at).unwrap_or_default());
            marked.push_str(text);
            done = *at;
        }
        marked.push_str(code.get(done..).unwrap_or_default());
        marked
    }
}

fn is_directive(statement: &Stmt) -> bool {
    matches!(statement, Stmt::Expr(e) if matches!(&*e.expr, Expr::Lit(Lit::Str(_))))
}

impl Visit for Marker<'_> {
    fn visit_module(&mut self, node: &Module) {
        let statements = node.body.iter().filter_map(ModuleItem::as_stmt);
        self.list(statements, true);
    }

    fn visit_function_body(&mut self, node: &FunctionBody) {
        self.list(node.stmts.iter(), true);
    }

    fn visit_block_stmt(&mut self, node: &BlockStmt) {
        self.list(node.stmts.iter(), false);
    }

    fn visit_switch_case(&mut self, node: &SwitchCase) {
        node.test.visit_with(self);
        self.list(node.cons.iter(), false);
    }

    fn visit_if_stmt(&mut self, node: &IfStmt) {
        node.test.visit_with(self);
        self.part(&node.cons);
        if let Some(other) = &node.alt {
            self.part(other);
        }
    }

    fn visit_for_stmt(&mut self, node: &ForStmt) {
        node.init.visit_with(self);
        node.test.visit_with(self);
        node.update.visit_with(self);
        self.part(&node.body);
    }

    fn visit_for_in_stmt(&mut self, node: &ForInStmt) {
        node.left.visit_with(self);
        node.right.visit_with(self);
        self.part(&node.body);
    }

    fn visit_for_of_stmt(&mut self, node: &ForOfStmt) {
        node.left.visit_with(self);
        node.right.visit_with(self);
        self.part(&node.body);
    }

    fn visit_while_stmt(&mut self, node: &WhileStmt) {
        node.test.visit_with(self);
        self.part(&node.body);
    }

    fn visit_do_while_stmt(&mut self, node: &DoWhileStmt) {
        self.part(&node.body);
        node.test.visit_with(self);
    }

    /// A label has to stand right before its loop; the mark before the label is enough.
    fn visit_labeled_stmt(&mut self, node: &LabeledStmt) {
        node.body.visit_children_with(self);
    }

    /// In `with`, a name may be anything.
    fn visit_with_stmt(&mut self, _: &WithStmt) {}

    fn visit_ident(&mut self, _: &Ident) {}
}
