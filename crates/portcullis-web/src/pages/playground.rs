//! Where the playground would be: says that there is none.

use crate::backend::{Pending, Problem};
use crate::frame::Frame;
use crate::reply::{Reply, page_with};
use crate::request::Request;
use crate::route::Route;

pub(super) const ROUTES: &[Route] = &[Route::page("/playground", show)];

#[derive(Debug, askama::Template)]
#[template(path = "playground.html")]
struct PlaygroundPage {
    frame: Frame,
}

fn show(request: Request<'_>) -> Pending<'_, Result<Reply, Problem>> {
    Box::pin(async move {
        let frame = request.frame("Playground");
        page_with(404, &PlaygroundPage { frame })
    })
}

#[cfg(test)]
mod tests {
    use crate::testing::Fake;

    #[test]
    fn it_says_that_it_is_off() {
        let html = Fake::new().page_with("/playground", 404);
        assert!(html.contains("playground is off"), "{html}");
        assert!(html.contains("portcullis eval"), "{html}");
    }
}
