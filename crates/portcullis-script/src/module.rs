//! Turns a module into a function body, in place.

use std::collections::{HashMap, HashSet};

use swc_common::{Span, Spanned};
use swc_ecma_ast::{
    Decl, ExportAll, ExportDecl, ExportSpecifier, Expr, ImportDecl, ImportPhase, ImportSpecifier,
    Module, ModuleDecl, ModuleExportName, ModuleItem, NamedExport, ObjectLit, Stmt, Str, VarDecl,
    VarDeclKind,
};

use crate::canvas::Canvas;
use crate::default_export;
use crate::fault::{Places, ScriptFault};
use crate::glue;
use crate::import::{Export, Import, ImportedName, Link};
use crate::metadata::{self, Metadata};
use crate::{names, parse, refuse};

/// A module's code and what stands around it.
#[derive(Debug)]
pub(crate) struct Rewritten {
    pub(crate) code: String,
    pub(crate) imports: Vec<Import>,
    pub(crate) links: Vec<Link>,
    pub(crate) exports: Vec<Export>,
    pub(crate) metadata: Option<Metadata>,
}

/// Rewrites a module.
pub(crate) fn rewrite(
    text: &str,
    places: &Places<'_>,
    module: &Module,
) -> Result<Rewritten, Vec<ScriptFault>> {
    let mut rewriter = Rewriter {
        text,
        places,
        canvas: Canvas::new(text),
        declared: names::of_module(module),
        exported: HashSet::new(),
        constants: HashMap::new(),
        imports: Vec::new(),
        links: Vec::new(),
        exports: Vec::new(),
        policy: None,
        faults: Vec::new(),
    };
    for (span, message) in refuse::of_module(module) {
        rewriter.refuse(span, message);
    }
    rewriter.find_constants(module);
    for item in &module.body {
        if let ModuleItem::ModuleDecl(declaration) = item {
            rewriter.declaration(declaration);
        }
    }
    rewriter.finish()
}

/// Where a policy describes itself.
#[derive(Debug)]
struct Policy<'m> {
    span: Span,
    literal: Option<&'m Expr>,
}

#[derive(Debug)]
struct Rewriter<'t, 'm> {
    text: &'t str,
    places: &'t Places<'t>,
    canvas: Canvas,
    declared: HashSet<String>,
    exported: HashSet<String>,
    /// What is declared by `const` at the top.
    constants: HashMap<String, &'m Expr>,
    imports: Vec<Import>,
    links: Vec<Link>,
    exports: Vec<Export>,
    policy: Option<Policy<'m>>,
    faults: Vec<ScriptFault>,
}

impl<'m> Rewriter<'_, 'm> {
    fn refuse(&mut self, span: Span, message: impl Into<String>) {
        let at = parse::offset(span.lo);
        self.faults.push(self.places.fault(at, message));
    }

    fn find_constants(&mut self, module: &'m Module) {
        for item in &module.body {
            let declaration = match item {
                ModuleItem::Stmt(Stmt::Decl(declaration)) => declaration,
                ModuleItem::ModuleDecl(ModuleDecl::ExportDecl(export)) => &export.decl,
                _ => continue,
            };
            let Decl::Var(var) = declaration else {
                continue;
            };
            let VarDecl { kind, decls, .. } = &**var;
            for declarator in decls.iter().filter(|_| *kind == VarDeclKind::Const) {
                if let (Some(name), Some(value)) = (declarator.name.as_ident(), &declarator.init) {
                    self.constants.insert(name.sym.to_string(), value);
                }
            }
        }
    }

    fn declaration(&mut self, declaration: &'m ModuleDecl) {
        match declaration {
            ModuleDecl::Import(import) => self.import(import),
            ModuleDecl::ExportDecl(export) => self.export_declaration(export),
            ModuleDecl::ExportNamed(export) => match &export.src {
                Some(source) => self.export_from(export, source),
                None => self.export_names(export),
            },
            ModuleDecl::ExportAll(export) => self.export_all(export),
            ModuleDecl::ExportDefaultDecl(export) => {
                let name = default_export::declaration(&mut self.canvas, self.text, export);
                match name {
                    Some(name) => self.export("default", export.span, name),
                    None => self.refuse(export.span, default_export::NO_ROOM),
                }
            }
            ModuleDecl::ExportDefaultExpr(export) => {
                match default_export::expression(&mut self.canvas, self.text, export) {
                    Some(name) => self.export("default", export.span, name),
                    None => self.refuse(export.span, default_export::NO_ROOM),
                }
            }
            other => self.refuse(other.span(), "this is not supported in a module"),
        }
    }

    /// Notes an export.
    fn export(&mut self, name: &str, span: Span, value: String) {
        if !self.exported.insert(name.to_owned()) {
            self.refuse(span, format!("`{name}` is exported twice"));
            return;
        }
        if name == metadata::NAME {
            self.policy = Some(Policy {
                span,
                literal: self.constants.get(&value).copied(),
            });
        }
        self.exports.push(Export {
            name: name.to_owned(),
            value,
        });
    }

    /// Notes an import and gives its place.
    fn link(&mut self, source: &Str, with: Option<&ObjectLit>, link: Link) -> usize {
        if let Some(with) = with {
            self.refuse(with.span, "import attributes (`with`) are not supported");
        }
        let (line, column) = self.places.at(parse::offset(source.span.lo));
        self.imports.push(Import {
            specifier: source.value.to_string_lossy().into_owned(),
            line,
            column,
            names: Vec::new(),
            wildcard: false,
            star: false,
        });
        self.links.push(link);
        self.imports.len() - 1
    }

    fn take_name(&mut self, index: usize, name: &str, span: Span) {
        let (line, column) = self.places.at(parse::offset(span.lo));
        if let Some(import) = self.imports.get_mut(index) {
            import.names.push(ImportedName {
                name: name.to_owned(),
                line,
                column,
            });
        }
    }

    fn take_all(&mut self, index: usize, star: bool) {
        if let Some(import) = self.imports.get_mut(index) {
            import.wildcard |= !star;
            import.star |= star;
        }
    }

    fn import(&mut self, import: &ImportDecl) {
        self.canvas.blank_statement(&parse::bytes(import.span));
        if import.phase != ImportPhase::Evaluation {
            self.refuse(import.span, "write `import` without `source` or `defer`");
        }
        let index = self.link(&import.src, import.with.as_deref(), Link::default());
        let mut link = Link::default();
        for specifier in &import.specifiers {
            let local = specifier.local().sym.to_string();
            match specifier {
                ImportSpecifier::Namespace(_) => {
                    link.namespace = Some(local);
                    self.take_all(index, false);
                }
                ImportSpecifier::Default(specifier) => {
                    self.take_name(index, "default", specifier.span);
                    link.named.push(("default".to_owned(), local));
                }
                ImportSpecifier::Named(specifier) => {
                    let name = specifier.imported.as_ref().map(name_of);
                    let name = name.unwrap_or_else(|| local.clone());
                    self.take_name(index, &name, specifier.span);
                    link.named.push((name, local));
                }
            }
        }
        if let Some(place) = self.links.get_mut(index) {
            *place = link;
        }
    }

    fn export_declaration(&mut self, export: &ExportDecl) {
        let start = parse::offset(export.span.lo);
        self.canvas
            .blank(&(start..parse::offset(export.decl.span().lo)));
        for (name, span) in names::of_declaration(&export.decl) {
            self.export(&name, span, name.clone());
        }
    }

    fn export_names(&mut self, export: &NamedExport) {
        self.canvas.blank_statement(&parse::bytes(export.span));
        for specifier in &export.specifiers {
            let ExportSpecifier::Named(specifier) = specifier else {
                self.refuse(specifier.span(), "this is not supported in a module");
                continue;
            };
            let local = name_of(&specifier.orig);
            let name = specifier.exported.as_ref().map(name_of);
            let name = name.unwrap_or_else(|| local.clone());
            if matches!(specifier.orig, ModuleExportName::Str(_)) || !self.declared.contains(&local)
            {
                let message = format!(
                    "`{local}` is not declared in this file; a type is exported by `export type`"
                );
                self.refuse(specifier.span, message);
                continue;
            }
            self.export(&name, specifier.span, local);
        }
    }

    fn export_from(&mut self, export: &NamedExport, source: &Str) {
        self.canvas.blank_statement(&parse::bytes(export.span));
        let link = Link {
            is_passed_on: !export.specifiers.is_empty(),
            ..Link::default()
        };
        let index = self.link(source, export.with.as_deref(), link);
        for specifier in &export.specifiers {
            match specifier {
                ExportSpecifier::Namespace(specifier) => {
                    self.take_all(index, false);
                    let value = format!("{}{index}", glue::FROM);
                    self.export(&name_of(&specifier.name), specifier.span, value);
                }
                ExportSpecifier::Named(specifier) => {
                    let theirs = name_of(&specifier.orig);
                    let name = specifier.exported.as_ref().map(name_of);
                    let name = name.unwrap_or_else(|| theirs.clone());
                    self.take_name(index, &theirs, specifier.span);
                    self.export(&name, specifier.span, glue::passed_on(index, &theirs));
                }
                ExportSpecifier::Default(specifier) => {
                    self.refuse(specifier.exported.span, "this is not supported in a module");
                }
            }
        }
    }

    fn export_all(&mut self, export: &ExportAll) {
        self.canvas.blank_statement(&parse::bytes(export.span));
        let link = Link {
            is_passed_on: true,
            ..Link::default()
        };
        let index = self.link(&export.src, export.with.as_deref(), link);
        self.take_all(index, true);
    }

    fn finish(mut self) -> Result<Rewritten, Vec<ScriptFault>> {
        let mut found = None;
        if let Some(policy) = self.policy.take() {
            let value = policy.literal.map(|literal| {
                let mut spans = Vec::new();
                metadata::spans(literal, "", literal.span(), &mut spans);
                let at = |span: Span| self.places.at(parse::offset(span.lo));
                let places = spans.into_iter().map(|(pointer, [key, value])| {
                    let (key, value) = (at(key), at(value));
                    (pointer, metadata::Place { key, value })
                });
                let places = places.collect();
                metadata::literal(literal).map(|value| Metadata { value, places })
            });
            match value.unwrap_or(Err(policy.span)) {
                Ok(metadata) => found = Some(metadata),
                Err(span) => self.refuse(span, metadata::MESSAGE),
            }
        }
        if !self.faults.is_empty() {
            self.faults.sort();
            return Err(self.faults);
        }
        Ok(Rewritten {
            code: self.canvas.text(),
            imports: self.imports,
            links: self.links,
            exports: self.exports,
            metadata: found,
        })
    }
}

fn name_of(name: &ModuleExportName) -> String {
    name.atom().to_string()
}
