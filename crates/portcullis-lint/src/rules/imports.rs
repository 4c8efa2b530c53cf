//! `unused-import`: a name that is imported and stands nowhere else.

use std::collections::HashSet;

use swc_ecma_ast::{Ident, IdentName, ImportDecl, ImportSpecifier, ModuleDecl, ModuleItem};
use swc_ecma_visit::{Visit, VisitWith};

use super::Context;
use crate::finding::Report;
use crate::rule::Rule;

pub(super) fn check(context: &Context<'_>, report: &mut Report) {
    let items = context.tree.items();
    let imports = items.iter().filter_map(|item| match item {
        ModuleItem::ModuleDecl(ModuleDecl::Import(import)) => Some(import),
        _ => None,
    });
    let imported: Vec<&Ident> = imports
        .flat_map(|import| import.specifiers.iter().map(ImportSpecifier::local))
        .collect();
    if imported.is_empty() {
        return;
    }
    let mut used = Used::default();
    items.iter().for_each(|item| item.visit_with(&mut used));
    for name in imported {
        if !used.0.contains(&*name.sym) {
            let message = format!("`{}` is imported, but not used", name.sym);
            let at = context.tree.range(name.span);
            report.at(at, Rule::UnusedImport, message, "remove it");
        }
    }
}

/// Every identifier outside of imports, whatever it stands for.
#[derive(Default)]
struct Used(HashSet<String>);

impl Visit for Used {
    fn visit_import_decl(&mut self, _: &ImportDecl) {}

    fn visit_ident(&mut self, node: &Ident) {
        self.0.insert(node.sym.to_string());
    }

    fn visit_ident_name(&mut self, _: &IdentName) {}
}
