//! `unwatched-kind`: `kube.get` or `kube.list` of a kind that the configuration does not name, which always fails.

use std::ops::Range;

use portcullis_document::nearest;
use swc_common::Spanned;
use swc_ecma_ast::{CallExpr, Callee, Expr, ExprOrSpread, Lit, MemberProp};
use swc_ecma_visit::{Visit, VisitWith};

use super::Context;
use crate::finding::Report;
use crate::rule::Rule;

pub(super) fn check(context: &Context<'_>, report: &mut Report) {
    let Some(watched) = context.watched else {
        return;
    };
    if context.bound.contains("kube") {
        return;
    }
    let mut found = Found::default();
    let items = context.tree.items();
    items.iter().for_each(|item| item.visit_with(&mut found));
    for (span, kind) in found.0 {
        if watched.contains(&kind) {
            continue;
        }
        let at: Range<usize> = context.tree.range(span);
        let message = format!("`kube.kinds` does not contain `{kind}`, so this always fails");
        let known = watched.iter().map(String::as_str);
        let fix = match nearest(&kind, known) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("add `{kind}` to the key `kube.kinds` of the configuration"),
        };
        report.at(at, Rule::UnwatchedKind, message, fix);
    }
}

/// The kinds that are looked up, as far as they are written in place.
#[derive(Default)]
struct Found(Vec<(swc_common::Span, String)>);

impl Visit for Found {
    fn visit_call_expr(&mut self, node: &CallExpr) {
        if let Callee::Expr(callee) = &node.callee
            && let Expr::Member(member) = callee.unwrap_parens()
            && let (Expr::Ident(owner), MemberProp::Ident(name)) = (&*member.obj, &member.prop)
            && &*owner.sym == "kube"
            && matches!(&*name.sym, "get" | "list")
            && let [version, kind, ..] = node.args.as_slice()
            && let (Some(version), Some(kind_name)) = (text(version), text(kind))
        {
            self.0.push((kind.span(), format!("{version}/{kind_name}")));
        }
        node.visit_children_with(self);
    }
}

fn text(argument: &ExprOrSpread) -> Option<String> {
    match &*argument.expr {
        Expr::Lit(Lit::Str(text)) if argument.spread.is_none() => {
            Some(text.value.to_string_lossy().into_owned())
        }
        _ => None,
    }
}
