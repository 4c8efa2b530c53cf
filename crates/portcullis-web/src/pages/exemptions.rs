//! Exemptions: the list, a form to grant one, and revoking.

mod grant;

use serde::Deserialize;

use self::grant::Draft;
use crate::ask::{Question, ask};
use crate::backend::{Backend, Pending, Place, Problem, Verb};
use crate::form::Action;
use crate::frame::Frame;
use crate::listing::Listing;
use crate::query::{Query, segment};
use crate::reply::{Reply, page_with};
use crate::request::Request;
use crate::route::Route;
use crate::shown::{sentence, time};

pub(super) const ROUTES: &[Route] = &[
    Route::asking("/exemptions", show, grant),
    Route::asking("/exemptions/*/revoke", ask_revoke, revoke),
];

/// One that expires sooner is pointed out.
const SOON: u64 = 7 * DAY;
const DAY: u64 = 24 * 60 * 60;

const FILTERS: &[&str] = &["page", "limit"];
const MANAGES: &str = "manage-exemptions";
const LIST: &str = "/api/v1/exemptions";

#[derive(Debug, Deserialize)]
struct Exemption {
    id: u64,
    project: Option<String>,
    user: Option<String>,
    controller: Option<String>,
    policy: Option<String>,
    reason: String,
    until: String,
    ticket: Option<String>,
    granted_by: Option<String>,
    granted_at: Option<String>,
    expires_in_seconds: u64,
    uses: u64,
    last_used_at: Option<String>,
}

/// An exemption with what may be done about it.
#[derive(Debug)]
struct Row {
    one: Exemption,
    /// Where its uses are listed; empty for those who may not read decisions.
    uses: String,
    revoke: Action,
}

#[derive(Debug, askama::Template)]
#[template(path = "exemptions.html")]
struct ExemptionsPage<'a> {
    frame: Frame,
    csrf: &'a str,
    rows: Vec<Row>,
    /// How many of them expire soon, in words; empty if none does.
    soon: String,
    next: Option<String>,
    /// Why the person may grant none anywhere.
    denied: Option<String>,
    draft: Draft,
    problem: Option<String>,
}

impl Exemption {
    fn place(&self) -> Place<'_> {
        self.project.as_deref().map_or(Place::Root, Place::Project)
    }

    /// What it is from.
    fn from(&self) -> String {
        match (&self.controller, &self.policy) {
            (Some(name), _) => format!("controller {name}"),
            (None, Some(name)) => format!("policy {name}"),
            (None, None) => "every controller and policy".to_owned(),
        }
    }

    /// The decisions that it may have changed.
    fn decisions(&self) -> String {
        let by = self.controller.as_deref().or(self.policy.as_deref());
        let asked = [
            ("door", Some("ci")),
            ("namespace", self.project.as_deref()),
            ("user", self.user.as_deref()),
            ("policy", by),
        ];
        let asked = asked
            .into_iter()
            .fold(Query::default(), |query, (key, value)| {
                query.with(key, value.unwrap_or_default())
            });
        asked.of("/decisions")
    }

    /// How soon it expires, if that is soon.
    fn soon(&self) -> Option<String> {
        let left = self.expires_in_seconds;
        let left = match left {
            SOON.. => return None,
            0..60 => "less than a minute".to_owned(),
            60..3_600 => counted(left / 60, "minute"),
            3_600..172_800 => counted(left / 3_600, "hour"),
            _ => counted(left / DAY, "day"),
        };
        Some(format!("expires in {left}"))
    }
}

fn show(request: Request<'_>) -> Pending<'_, Result<Reply, Problem>> {
    Box::pin(async move {
        let query = request.query(FILTERS)?.capped();
        list(&request, &query, Draft::default(), None).await
    })
}

/// The list with the form, as it was filled in and with what is wrong with it.
async fn list(
    request: &Request<'_>,
    query: &Query,
    draft: Draft,
    problem: Option<Problem>,
) -> Result<Reply, Problem> {
    let backend = request.backend;
    let listing: Listing<Exemption> = backend.get(&query.of(LIST)).await?;
    let next = listing.next_path(query, "/exemptions");
    let items = listing.items.into_iter();
    let status = problem.as_ref().map_or(200, |problem| problem.status);
    let rows: Vec<Row> = items.map(|one| row(backend, one)).collect();
    let soon = rows.iter().filter(|row| row.one.soon().is_some()).count();
    let exemptions = ExemptionsPage {
        frame: request.frame("Exemptions"),
        csrf: &request.person().csrf,
        rows,
        soon: match soon {
            0 => String::new(),
            1 => "1 exemption expires within 7 days.".to_owned(),
            count => format!("{count} exemptions expire within 7 days."),
        },
        next,
        // Why the person may grant no exemption, neither at the root of the API nor in a tenant.
        denied: backend.refusal(MANAGES, Place::Anywhere),
        draft,
        problem: problem.map(|problem| sentence(&problem.message)),
    };
    page_with(status, &exemptions)
}

fn counted(count: u64, noun: &str) -> String {
    match count {
        1 => format!("1 {noun}"),
        _ => format!("{count} {noun}s"),
    }
}

fn row(backend: &dyn Backend, one: Exemption) -> Row {
    let path = format!("/exemptions/{}/revoke", one.id);
    let revoke = Action::new(backend, "Revoke", path, (MANAGES, one.place())).asking();
    let uses = match backend.refusal("read-decisions", Place::Root) {
        Some(_) => String::new(),
        None => one.decisions(),
    };
    Row { one, uses, revoke }
}

fn grant(request: Request<'_>) -> Pending<'_, Result<Reply, Problem>> {
    Box::pin(async move {
        let draft = Draft::of(&request);
        let granted = request
            .backend
            .call(Verb::Post, LIST, Some(draft.body()))
            .await;
        match granted {
            Ok(_) => Ok(Reply::SeeOther("/exemptions".to_owned())),
            // What can be mended is shown with what was typed.
            Err(mut problem) if matches!(problem.status, 400 | 403 | 409 | 422) => {
                if problem.status == 422 {
                    problem.status = 400;
                }
                list(&request, &Query::default(), draft, Some(problem)).await
            }
            Err(problem) => Err(problem),
        }
    })
}

fn ask_revoke(request: Request<'_>) -> Pending<'_, Result<Reply, Problem>> {
    Box::pin(async move {
        let all: Vec<Exemption> = request.backend.all(LIST).await?;
        let mut all = all.into_iter();
        let found = all.find(|one| one.id.to_string() == request.value(0));
        let one = found.ok_or_else(|| Problem::not_found("no such exemption"))?;
        let question = Question {
            title: format!("Revoke exemption {}?", one.id),
            text: format!(
                "Denials by {} count again at once. The exemption was granted until {} for this reason: {}",
                one.from(),
                time(&one.until),
                one.reason
            ),
            label: "Revoke exemption",
            back: "/exemptions".to_owned(),
        };
        ask(&request, &question)
    })
}

fn revoke(request: Request<'_>) -> Pending<'_, Result<Reply, Problem>> {
    Box::pin(async move {
        let path = format!("{LIST}/{}", segment(request.value(0)));
        request.backend.call(Verb::Delete, &path, None).await?;
        Ok(Reply::SeeOther("/exemptions".to_owned()))
    })
}

#[cfg(test)]
mod tests;
