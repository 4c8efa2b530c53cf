//! The playground, which is off.

use crate::backend::{Pending, Problem};
use crate::request::{Reply, Request};
use crate::router::Route;

pub(super) const ROUTES: &[Route] = &[Route::page("/playground", show)];

fn show(_: Request<'_>) -> Pending<'_, Result<Reply, Problem>> {
    let message =
        "the playground is off. To turn it on, set `web: {playground: true}` in the configuration";
    Box::pin(std::future::ready(Err(Problem::not_found(message))))
}

#[cfg(test)]
mod tests {
    use crate::testing::Fake;

    #[test]
    fn it_says_that_it_is_off() {
        let html = Fake::new().page_with("/playground", 404);
        assert!(html.contains("playground is off"), "{html}");
    }
}
