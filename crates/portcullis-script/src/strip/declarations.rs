//! Declarations, imports and exports that are of types alone, entirely or in part.

use swc_common::{Span, Spanned};
use swc_ecma_ast::{
    Decl, DefaultDecl, ExportDecl, ExportDefaultDecl, ExportSpecifier, ImportDecl, ImportSpecifier,
    ModuleDecl, ModuleItem, NamedExport, Stmt, TsModuleDecl, TsNamespaceBody,
};
use swc_ecma_parser::unstable::Token;
use swc_ecma_visit::VisitWith;

use super::eraser::Eraser;
use super::tokens::between;

const NAMESPACE: &str = "`namespace` is not supported: write a file of its own and import it";

impl Eraser<'_> {
    pub(super) fn declaration(&mut self, declaration: &Decl) {
        if is_type(declaration) {
            self.blank_item(declaration.span());
        } else {
            declaration.visit_children_with(self);
        }
    }

    pub(super) fn exported_declaration(&mut self, export: &ExportDecl) {
        if is_type(&export.decl) {
            self.blank_item(export.span);
        } else {
            export.decl.visit_with(self);
        }
    }

    pub(super) fn default_declaration(&mut self, export: &ExportDefaultDecl) {
        let is_type = match &export.decl {
            DefaultDecl::TsInterfaceDecl(_) => true,
            DefaultDecl::Fn(function) => function.function.body.is_none(),
            DefaultDecl::Class(_) => false,
        };
        if is_type {
            self.blank_item(export.span);
        } else {
            export.visit_children_with(self);
        }
    }

    pub(super) fn namespace(&mut self, namespace: &TsModuleDecl) {
        if is_type_namespace(namespace) {
            self.blank_item(namespace.span);
        } else {
            self.refuse(namespace.span, NAMESPACE);
        }
    }

    pub(super) fn import(&mut self, import: &ImportDecl) {
        if import.type_only {
            self.blank_item(import.span);
            return;
        }
        let specifiers = import.specifiers.iter().map(|specifier| {
            let is_type = matches!(specifier, ImportSpecifier::Named(n) if n.is_type_only);
            (specifier.span(), is_type)
        });
        self.specifiers(import.span, specifiers);
    }

    pub(super) fn export(&mut self, export: &NamedExport) {
        if export.type_only {
            self.blank_item(export.span);
            return;
        }
        let specifiers = export.specifiers.iter().map(|specifier| {
            let is_type = matches!(specifier, ExportSpecifier::Named(n) if n.is_type_only);
            (specifier.span(), is_type)
        });
        self.specifiers(export.span, specifiers);
    }

    /// Blanks the specifiers that are types, with the commas behind them.
    fn specifiers(&mut self, list: Span, specifiers: impl Iterator<Item = (Span, bool)>) {
        for (specifier, _) in specifiers.filter(|(_, is_type)| *is_type) {
            let comma = self.tokens.next_is(specifier.hi, Token::Comma);
            let end = comma.map_or(specifier.hi, |token| token.span.hi);
            self.blank(between(specifier.lo, end.min(list.hi)));
        }
    }
}

/// Whether a declaration leaves nothing when the program runs.
fn is_type(declaration: &Decl) -> bool {
    match declaration {
        Decl::TsInterface(_) | Decl::TsTypeAlias(_) => true,
        Decl::Class(class) => class.declare,
        Decl::Fn(function) => function.declare || function.function.body.is_none(),
        Decl::Var(variable) => variable.declare,
        Decl::TsEnum(enumeration) => enumeration.declare,
        Decl::TsModule(namespace) => is_type_namespace(namespace),
        Decl::Using(_) => false,
    }
}

fn is_type_namespace(namespace: &TsModuleDecl) -> bool {
    namespace.declare
        || namespace.global
        || namespace.id.is_str()
        || namespace.body.as_ref().is_some_and(has_types_alone)
}

fn has_types_alone(body: &TsNamespaceBody) -> bool {
    match body {
        TsNamespaceBody::TsNamespaceDecl(inner) => has_types_alone(&inner.body),
        TsNamespaceBody::TsModuleBlock(block) => block.body.iter().all(|item| match item {
            ModuleItem::Stmt(Stmt::Decl(declaration)) => is_type_in_namespace(declaration),
            ModuleItem::Stmt(_) => false,
            ModuleItem::ModuleDecl(declaration) => match declaration {
                ModuleDecl::Import(_) | ModuleDecl::TsNamespaceExport(_) => true,
                ModuleDecl::ExportDecl(export) => is_type_in_namespace(&export.decl),
                ModuleDecl::ExportNamed(export) => export.type_only,
                ModuleDecl::TsImportEquals(import) => import.is_type_only,
                _ => false,
            },
        }),
    }
}

fn is_type_in_namespace(declaration: &Decl) -> bool {
    match declaration {
        Decl::TsInterface(_) | Decl::TsTypeAlias(_) => true,
        Decl::TsModule(namespace) => is_type_namespace(namespace),
        _ => false,
    }
}
