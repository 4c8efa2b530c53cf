//! The pages, one module each, and the list of their routes.

mod decision;
mod decisions;
mod overview;
mod tenant;
mod tenants;

use crate::router::Route;

const ROUTES: &[&[Route]] = &[
    overview::ROUTES,
    decisions::ROUTES,
    decision::ROUTES,
    tenants::ROUTES,
    tenant::ROUTES,
    tenant::actions::ROUTES,
];

/// Every path with what is there. A path that fits several is the first one's.
pub(crate) fn routes() -> impl Iterator<Item = &'static Route> {
    ROUTES.iter().copied().flatten()
}
