//! Walks the tree of a TypeScript text and finds what isn't JavaScript.
//!
//! All of that is blanked. Where the text would mean something else without it (a line that continues
//! the one before, a directive that wasn't one, a required statement) a `;` or a
//! parenthesis is written into the blank. What has no counterpart in JavaScript, or needs code in
//! its place, is an error. The rules are those of `swc_ts_fast_strip`.

use swc_common::{BytePos, Span, Spanned};
use swc_ecma_ast::{
    ArrayPat, ArrowExpr, AutoAccessor, BinExpr, BinaryOp, BindingIdent, Class, ClassMember,
    ClassMethod, ClassProp, Constructor, Decl, DoWhileStmt, ExportAll, ExportDecl,
    ExportDefaultDecl, Expr, ForInStmt, ForOfStmt, ForStmt, FunctionBody, IfStmt, ImportDecl,
    LabeledStmt, Module, NamedExport, ObjectPat, Pat, PrivateMethod, PrivateProp, Program, Script,
    Stmt, TsAsExpr, TsConstAssertion, TsEnumDecl, TsExportAssignment, TsImportEqualsDecl,
    TsIndexSignature, TsInstantiation, TsInterfaceDecl, TsModuleDecl, TsNamespaceExportDecl,
    TsNonNullExpr, TsParamProp, TsSatisfiesExpr, TsThisParam, TsTypeAliasDecl, TsTypeAnn,
    TsTypeAssertion, TsTypeParamDecl, TsTypeParamInstantiation, VarDeclarator, WhileStmt, WithStmt,
};
use swc_ecma_parser::unstable::{Token, TokenAndSpan};
use swc_ecma_visit::{Visit, VisitWith};

use super::tokens::{Tokens, between};
use crate::canvas::Canvas;
use crate::parse::{self, ANGLES, Complaint};

/// The text without its types, or what can't be taken out of it.
pub(super) fn erase(
    text: &str,
    program: &Program,
    tokens: &[TokenAndSpan],
) -> Result<String, Vec<Complaint>> {
    let mut eraser = Eraser {
        text,
        tokens: Tokens(tokens),
        blanks: Vec::new(),
        writes: Vec::new(),
        complaints: Vec::new(),
        item: Item::default(),
    };
    program.visit_with(&mut eraser);
    if !eraser.complaints.is_empty() {
        parse::order(&mut eraser.complaints);
        return Err(eraser.complaints);
    }
    let mut canvas = Canvas::new(text);
    for span in eraser.blanks {
        canvas.blank(&parse::bytes(span));
    }
    for (at, character) in eraser.writes {
        canvas.write(parse::offset(at), character);
    }
    Ok(canvas.text())
}

#[derive(Debug)]
pub(super) struct Eraser<'a> {
    pub(super) text: &'a str,
    pub(super) tokens: Tokens<'a>,
    blanks: Vec<Span>,
    /// Written after everything is blanked.
    writes: Vec<(BytePos, &'static str)>,
    complaints: Vec<Complaint>,
    item: Item,
}

/// What is known of the statement or class member that is being looked at.
#[derive(Debug, Clone, Copy, Default)]
struct Item {
    /// The last one before it that stays.
    kept_before: Option<Span>,
    /// Only directives stand before it.
    in_prologue: bool,
    /// It is a directive itself.
    is_directive: bool,
    /// It is the body of `if`, of a loop or a label.
    is_required: bool,
    is_erased: bool,
}

impl Eraser<'_> {
    pub(super) fn blank(&mut self, span: Span) {
        self.blanks.push(span);
    }

    /// Puts a character in the place of the one that begins at a position.
    pub(super) fn write(&mut self, at: BytePos, character: &'static str) {
        self.writes.push((at, character));
    }

    pub(super) fn refuse(&mut self, span: Span, message: &str) {
        self.complaints.push(Complaint {
            at: parse::offset(span.lo),
            message: message.to_owned(),
            is_return: false,
        });
    }

    pub(super) fn blank_first(&mut self, span: Span, kind: Token) {
        if let Some(token) = self.tokens.first(span, kind) {
            self.blank(token.span);
        }
    }

    /// Blanks a whole statement or member of a class.
    pub(super) fn blank_item(&mut self, span: Span) {
        self.blank(span);
        self.item.is_erased = true;
        if (self.item.in_prologue || self.joins_the_one_before())
            && let Some(first) = self.tokens.within(span).next()
        {
            self.write(first.span.lo, ";");
        }
    }

    /// Whether what follows the item would go on with what stands before it.
    pub(super) fn joins_the_one_before(&self) -> bool {
        let ends = |span| {
            let last = self.tokens.within(span).next_back();
            last.is_some_and(|token| token.token == Token::Semi)
        };
        self.item.is_required || self.item.kept_before.is_some_and(|span| !ends(span))
    }

    fn items<N: Spanned + VisitWith<Self>>(&mut self, items: &[N], mut in_prologue: bool) {
        let outer = self.item;
        let mut kept_before = None;
        for item in items {
            self.item = Item {
                kept_before,
                in_prologue,
                ..Item::default()
            };
            item.visit_with(self);
            in_prologue &= self.item.is_directive;
            if !self.item.is_erased {
                kept_before = Some(item.span());
            }
        }
        self.item = outer;
    }

    fn required(&mut self, statement: &Stmt) {
        let outer = self.item;
        self.item = Item {
            is_required: true,
            ..Item::default()
        };
        statement.visit_with(self);
        self.item = outer;
    }
}

impl Visit for Eraser<'_> {
    fn visit_stmt(&mut self, n: &Stmt) {
        self.item.is_directive = n.can_precede_directive();
        n.visit_children_with(self);
    }

    fn visit_script(&mut self, n: &Script) {
        self.items(&n.body, true);
    }

    fn visit_module(&mut self, n: &Module) {
        self.items(&n.body, true);
    }

    fn visit_function_body(&mut self, n: &FunctionBody) {
        self.items(&n.stmts, true);
    }

    fn visit_stmts(&mut self, n: &[Stmt]) {
        self.items(n, false);
    }

    fn visit_class_members(&mut self, n: &[ClassMember]) {
        self.items(n, false);
    }

    fn visit_if_stmt(&mut self, n: &IfStmt) {
        n.test.visit_with(self);
        self.required(&n.cons);
        if let Some(otherwise) = &n.alt {
            self.required(otherwise);
        }
    }

    fn visit_labeled_stmt(&mut self, n: &LabeledStmt) {
        self.required(&n.body);
    }

    fn visit_while_stmt(&mut self, n: &WhileStmt) {
        n.test.visit_with(self);
        self.required(&n.body);
    }

    fn visit_do_while_stmt(&mut self, n: &DoWhileStmt) {
        self.required(&n.body);
        n.test.visit_with(self);
    }

    fn visit_for_stmt(&mut self, n: &ForStmt) {
        n.init.visit_with(self);
        n.test.visit_with(self);
        n.update.visit_with(self);
        self.required(&n.body);
    }

    fn visit_for_in_stmt(&mut self, n: &ForInStmt) {
        n.left.visit_with(self);
        n.right.visit_with(self);
        self.required(&n.body);
    }

    fn visit_for_of_stmt(&mut self, n: &ForOfStmt) {
        n.left.visit_with(self);
        n.right.visit_with(self);
        self.required(&n.body);
    }

    fn visit_with_stmt(&mut self, n: &WithStmt) {
        n.obj.visit_with(self);
        self.required(&n.body);
    }

    fn visit_decl(&mut self, n: &Decl) {
        self.declaration(n);
    }

    fn visit_export_decl(&mut self, n: &ExportDecl) {
        self.exported_declaration(n);
    }

    fn visit_export_default_decl(&mut self, n: &ExportDefaultDecl) {
        self.default_declaration(n);
    }

    fn visit_import_decl(&mut self, n: &ImportDecl) {
        self.import(n);
    }

    fn visit_named_export(&mut self, n: &NamedExport) {
        self.export(n);
    }

    fn visit_export_all(&mut self, n: &ExportAll) {
        if n.type_only {
            self.blank_item(n.span);
        }
    }

    fn visit_ts_module_decl(&mut self, n: &TsModuleDecl) {
        self.namespace(n);
    }

    fn visit_ts_enum_decl(&mut self, n: &TsEnumDecl) {
        self.refuse(n.span, ENUM);
    }

    fn visit_ts_import_equals_decl(&mut self, n: &TsImportEqualsDecl) {
        if n.is_type_only {
            self.blank_item(n.span);
        } else {
            self.refuse(n.span, IMPORT_EQUALS);
        }
    }

    fn visit_ts_export_assignment(&mut self, n: &TsExportAssignment) {
        self.refuse(n.span, EXPORT_EQUALS);
    }

    fn visit_ts_namespace_export_decl(&mut self, n: &TsNamespaceExportDecl) {
        self.blank_item(n.span);
    }

    fn visit_ts_interface_decl(&mut self, n: &TsInterfaceDecl) {
        self.blank_item(n.span);
    }

    fn visit_ts_type_alias_decl(&mut self, n: &TsTypeAliasDecl) {
        self.blank_item(n.span);
    }

    fn visit_class(&mut self, n: &Class) {
        self.class(n);
    }

    fn visit_class_prop(&mut self, n: &ClassProp) {
        self.class_prop(n);
    }

    fn visit_private_prop(&mut self, n: &PrivateProp) {
        self.private_prop(n);
    }

    fn visit_auto_accessor(&mut self, n: &AutoAccessor) {
        self.auto_accessor(n);
    }

    fn visit_class_method(&mut self, n: &ClassMethod) {
        self.class_method(n);
    }

    fn visit_private_method(&mut self, n: &PrivateMethod) {
        self.private_method(n);
    }

    fn visit_constructor(&mut self, n: &Constructor) {
        self.constructor(n);
    }

    fn visit_ts_index_signature(&mut self, n: &TsIndexSignature) {
        self.blank_item(n.span);
    }

    fn visit_ts_param_prop(&mut self, n: &TsParamProp) {
        self.refuse(n.param.span(), PARAMETER_PROPERTY);
    }

    fn visit_ts_type_ann(&mut self, n: &TsTypeAnn) {
        self.blank(n.span);
    }

    fn visit_ts_type_param_decl(&mut self, n: &TsTypeParamDecl) {
        self.blank(n.span);
    }

    fn visit_ts_type_param_instantiation(&mut self, n: &TsTypeParamInstantiation) {
        self.blank(n.span);
    }

    fn visit_ts_this_param(&mut self, n: &TsThisParam) {
        let comma = self.tokens.next_is(n.span.hi, Token::Comma);
        self.blank(between(
            n.span.lo,
            comma.map_or(n.span.hi, |token| token.span.hi),
        ));
    }

    fn visit_var_declarator(&mut self, n: &VarDeclarator) {
        if let (true, Pat::Ident(name)) = (n.definite, &n.name) {
            self.blank_first(between(name.id.span.hi, n.span.hi), Token::Bang);
        }
        n.visit_children_with(self);
    }

    fn visit_binding_ident(&mut self, n: &BindingIdent) {
        self.pattern(n.id.optional, n.span(), n.type_ann.as_deref());
        n.visit_children_with(self);
    }

    fn visit_array_pat(&mut self, n: &ArrayPat) {
        self.pattern(n.optional, n.span, n.type_ann.as_deref());
        n.visit_children_with(self);
    }

    fn visit_object_pat(&mut self, n: &ObjectPat) {
        self.pattern(n.optional, n.span, n.type_ann.as_deref());
        n.visit_children_with(self);
    }

    fn visit_expr(&mut self, n: &Expr) {
        if !n.is_ident() {
            n.visit_children_with(self);
        }
    }

    fn visit_bin_expr(&mut self, n: &BinExpr) {
        if n.op == BinaryOp::Exp {
            self.power(&n.left);
        }
        n.visit_children_with(self);
    }

    fn visit_arrow_expr(&mut self, n: &ArrowExpr) {
        self.arrow(n);
    }

    fn visit_ts_as_expr(&mut self, n: &TsAsExpr) {
        self.assertion(&n.expr, n.span);
    }

    fn visit_ts_satisfies_expr(&mut self, n: &TsSatisfiesExpr) {
        self.assertion(&n.expr, n.span);
    }

    fn visit_ts_const_assertion(&mut self, n: &TsConstAssertion) {
        if n.span.lo < n.expr.span_lo() {
            self.refuse(n.span, ANGLES);
            n.expr.visit_children_with(self);
        } else {
            self.assertion(&n.expr, n.span);
        }
    }

    fn visit_ts_type_assertion(&mut self, n: &TsTypeAssertion) {
        self.refuse(n.span, ANGLES);
        n.expr.visit_children_with(self);
    }

    fn visit_ts_non_null_expr(&mut self, n: &TsNonNullExpr) {
        self.suffix(&n.expr, n.span);
    }

    fn visit_ts_instantiation(&mut self, n: &TsInstantiation) {
        self.suffix(&n.expr, n.span);
    }
}

const ENUM: &str = "`enum` is not supported: write `const X = { A: \"a\" } as const`";
const IMPORT_EQUALS: &str = "`import x = …` is not supported: write `import x from \"…\"`";
const EXPORT_EQUALS: &str = "`export =` is not supported: write `export default`";
const PARAMETER_PROPERTY: &str =
    "parameter properties are not supported: declare a field and assign it in the constructor";
