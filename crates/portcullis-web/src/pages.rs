//! The pages, one module each, and the list of their routes.

mod candidate_report;
mod candidate_set;
mod controller;
mod controllers;
mod decision;
mod decisions;
mod deliveries;
mod eligibility;
mod exemptions;
mod graph;
mod job;
mod jobs;
mod overview;
mod pipeline;
mod playground;
mod policies;
mod projects;
mod queue;
mod replay;
mod roles;
mod runner;
mod runners;
mod status;
mod tenant;
mod tenants;

use crate::route::Route;

const ROUTES: &[&[Route]] = &[
    overview::ROUTES,
    decisions::ROUTES,
    decision::ROUTES,
    replay::ROUTES,
    tenants::ROUTES,
    projects::ROUTES,
    tenant::ROUTES,
    tenant::actions::ROUTES,
    jobs::ROUTES,
    job::ROUTES,
    pipeline::ROUTES,
    runners::ROUTES,
    runner::ROUTES,
    controllers::ROUTES,
    controller::ROUTES,
    exemptions::ROUTES,
    policies::ROUTES,
    candidate_set::ROUTES,
    graph::ROUTES,
    roles::ROUTES,
    status::ROUTES,
    playground::ROUTES,
];

/// Every path with what is there. A path that fits several is the first one's.
pub(crate) fn routes() -> impl Iterator<Item = &'static Route> {
    ROUTES.iter().copied().flatten()
}
