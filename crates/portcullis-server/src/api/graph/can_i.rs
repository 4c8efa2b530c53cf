//! Whether a user may do something, and why.

use std::sync::Arc;

use hyper::StatusCode;

use super::super::answer;
use super::super::call::{Answering, Call};
use super::super::endpoint::{QueryParameter, schema_of, text};
use super::super::query::Query;
use super::reading;
use super::searches::search;
use crate::http::error::HttpError;
use portcullis_gate::graph_answers::{self, AccessQuestion, ResourceText};

pub(super) const DESCRIPTION: &str = "All authorizers are asked in the order of the configuration until one has an \
    opinion, or only the one that is named. Those that judge by a graph name the subject, the rule, and the path \
    or the nearest miss.";

pub(super) const QUERY: &[QueryParameter] = &[
    text("verb", "The verb. Required.", "get"),
    text(
        "user",
        "The user. Required.",
        "gardener.cloud:system:seed:my-seed",
    ),
    QueryParameter {
        name: "groups",
        description: "A group of the user; may be repeated.",
        schema: schema_of::<Vec<String>>,
        example: "[\"gardener.cloud:system:seeds\"]",
    },
    text(
        "resource",
        "The resource. Either `resource` or `path` is required.",
        "shoots",
    ),
    text(
        "group",
        "The API group of the resource; by default the core group.",
        "core.gardener.cloud",
    ),
    text("subresource", "The subresource.", "status"),
    text(
        "namespace",
        "The namespace of the object.",
        "garden-my-project",
    ),
    text("name", "The name of the object.", "my-shoot"),
    text("path", "A path that is not a resource.", "/healthz"),
    text("selector", "The label selector of a list.", "role=agent"),
    text(
        "field_selector",
        "The field selector of a list.",
        "metadata.name=my-shoot",
    ),
    text("authorizer", "Ask only this authorizer.", "gardener"),
];

/// `GET /api/v1/graph/can-i`
pub(super) fn can_i(call: Call<'_>) -> Answering<'_> {
    Box::pin(async move {
        reading(&call).await?;
        let mut query = Query::of(call.head);
        let authorizer = query.take("authorizer")?.filter(|name| !name.is_empty());
        let question = question(&mut query)?;
        query.done()?;
        let all = &call.gate.all_authorizers;
        let chain = match &authorizer {
            Some(name) => all.only(name),
            None => all.names().next().map(|_| all.clone()),
        };
        let chain = chain.ok_or_else(|| {
            let message = match authorizer {
                Some(_) => "unknown authorizer",
                None => "no authorizer is configured",
            };
            HttpError::new(StatusCode::NOT_FOUND, "unknown_authorizer", message)
        })?;
        let access = question.access();
        let access = access.map_err(|wrong| HttpError::bad_request(wrong.to_string()))?;
        let gate = Arc::clone(call.gate);
        let said = search(move || {
            let graphs: Vec<_> = gate.graphs.iter().map(|one| one.asked()).collect();
            graph_answers::can_i(&graphs, &chain, &access)
        });
        let said = said.await?;
        answer::ok(&said)
    })
}

fn question(query: &mut Query) -> Result<AccessQuestion, HttpError> {
    let needed = |name: &str| HttpError::bad_request(format!("{name} is required"));
    let some = |text: Option<String>| text.filter(|text| !text.is_empty());
    let path = some(query.take("path")?);
    let resource = some(query.take("resource")?);
    let (group, name) = (query.take("group")?, query.take("name")?);
    let what = match (path, resource) {
        (Some(path), None) if some(group.clone()).or(some(name.clone())).is_none() => {
            ResourceText::Path(path)
        }
        (Some(_), _) => {
            let message = "path can't be combined with resource, group or name";
            return Err(HttpError::bad_request(message));
        }
        (None, Some(resource)) => ResourceText::Resource {
            resource,
            group: group.unwrap_or_default(),
            name: name.unwrap_or_default(),
        },
        (None, None) => return Err(needed("resource")),
    };
    Ok(AccessQuestion {
        verb: some(query.take("verb")?).ok_or_else(|| needed("verb"))?,
        what,
        subresource: query.take("subresource")?.unwrap_or_default(),
        namespace: query.take("namespace")?.unwrap_or_default(),
        selector: some(query.take("selector")?),
        field_selector: some(query.take("field_selector")?),
        user: some(query.take("user")?).ok_or_else(|| needed("user"))?,
        groups: query.take_all("groups"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<AccessQuestion, HttpError> {
        let request = hyper::Request::get(format!("/x?{text}")).body(()).unwrap();
        let mut query = Query::of(&request.into_parts().0);
        let question = question(&mut query)?;
        query.done()?;
        Ok(question)
    }

    #[test]
    fn a_question_survives_the_way() {
        let question = AccessQuestion {
            verb: "list".into(),
            what: "shoots.core.gardener.cloud/a".parse().unwrap(),
            subresource: "status".into(),
            namespace: "garden-a".into(),
            selector: Some("a in (b,c),!d".into()),
            field_selector: Some("metadata.name=x".into()),
            user: "a&b=c d%".into(),
            groups: vec!["one,two".into(), "three".into()],
        };
        let mut text = form_urlencoded::Serializer::new(String::new());
        text.extend_pairs(question.parameters());
        assert_eq!(read(&text.finish()).unwrap(), question);
    }

    #[test]
    fn what_is_needed_is_said() {
        for (text, told) in [
            ("user=a&resource=pods", "verb is required"),
            ("verb=get&resource=pods", "user is required"),
            ("verb=get&user=a", "resource is required"),
            (
                "verb=get&user=a&path=/x&resource=pods",
                "path can't be combined",
            ),
            ("verb=get&user=a&path=/x&name=y", "path can't be combined"),
            ("verb=get&user=a&resource=pods&colour=red", "colour"),
        ] {
            let wrong = read(text).unwrap_err();
            assert!(
                wrong.message().contains(told),
                "{text}: {}",
                wrong.message()
            );
        }
    }
}
