//! What expressions and messages of admission rules see of a request.

use serde_json::{Value, json};

use super::{AdmissionRequest, Judgement, Refusal};
use crate::access_rules::Subject;
use crate::expression::Scope;
use crate::kinds::Kinds;

/// The variables of expressions.
pub(super) const VARIABLES: [&str; 4] = ["object", "oldObject", "request", "subject"];

/// Names of values in texts, besides those of `let`.
pub(super) const TEXT_VALUES: [&str; 12] = [
    "name",
    "namespace",
    "subject.id",
    "subject.kind",
    "subject.namespace",
    "subject.name",
    "request.operation",
    "request.group",
    "request.resource",
    "request.subresource",
    "request.namespace",
    "request.name",
];

static NULL: Value = Value::Null;

/// A request as values.
#[derive(Debug)]
pub(super) struct Inputs<'a> {
    subject: &'a Subject,
    kind: &'a str,
    request: &'a AdmissionRequest<'a>,
}

impl<'a> Inputs<'a> {
    /// Of this request of this agent.
    pub(super) fn new(
        subject: &'a Subject,
        request: &'a AdmissionRequest<'a>,
        kinds: &'a Kinds,
    ) -> Self {
        let kind = kinds.name(subject.kind);
        Self {
            subject,
            kind,
            request,
        }
    }

    /// Gives expressions the [`VARIABLES`].
    pub(super) fn fill(&self, scope: &mut Scope<'a>) {
        let (request, subject) = (self.request, self.subject);
        scope.set("object", request.object.unwrap_or(&NULL));
        scope.set("oldObject", request.old_object.unwrap_or(&NULL));
        let asked = json!({
            "operation": request.operation,
            "group": request.group,
            "resource": request.resource,
            "subresource": request.subresource,
            "namespace": request.namespace,
            "name": request.effective_name(),
            "user": request.user.username,
            "groups": request.user.groups,
            "options": request.options,
        });
        scope.set_owned("request", asked);
        let agent = json!({
            "id": &*subject.id,
            "kind": self.kind,
            "namespace": subject.namespace,
            "name": subject.name,
        });
        scope.set_owned("subject", agent);
    }

    /// The value of one of [`TEXT_VALUES`].
    pub(super) fn text_value(&self, name: &str) -> Value {
        let (request, subject) = (self.request, self.subject);
        Value::from(match name {
            "name" | "subject.name" => &subject.name,
            "namespace" | "subject.namespace" => &subject.namespace,
            "subject.id" => &*subject.id,
            "subject.kind" => self.kind,
            "request.operation" => request.operation,
            "request.group" => request.group,
            "request.resource" => request.resource,
            "request.subresource" => request.subresource,
            "request.namespace" => request.namespace,
            "request.name" => request.effective_name(),
            _ => "",
        })
    }

    /// This denial, if there is one; otherwise the profile does not apply.
    pub(super) fn refusal(&self, refusal: Option<&Refusal>) -> Judgement {
        match refusal {
            Some(refusal) => refusal.judgement(|name| self.text_value(name)),
            None => Judgement::NotApplicable,
        }
    }
}

impl Refusal {
    /// The denial with these values in its text.
    pub(super) fn judgement(&self, value_of: impl Fn(&str) -> Value) -> Judgement {
        Judgement::Refuse {
            code: self.code,
            message: self.message.render(value_of),
            rule: self.place.clone(),
        }
    }
}
