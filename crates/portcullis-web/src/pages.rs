//! The pages, one module each, and the list of their routes.

mod decision;
mod decisions;
mod graph;
mod overview;
mod playground;
mod policies;
mod roles;
mod status;

use crate::router::Route;

const ROUTES: &[&[Route]] = &[
    overview::ROUTES,
    decisions::ROUTES,
    decision::ROUTES,
    policies::ROUTES,
    graph::ROUTES,
    roles::ROUTES,
    status::ROUTES,
    playground::ROUTES,
];

/// Every path with what is there. A path that fits several is the first one's.
pub(crate) fn routes() -> impl Iterator<Item = &'static Route> {
    ROUTES.iter().copied().flatten()
}
