//! A database that stands still: connections stay open, and nothing answers.

use portcullis_testing::Postgres;
use serde_json::Value;

use crate::history::Answered;
use crate::plan::{PLAIN, Planned, submission};
use crate::scene::{Scene, Setup, is_wanted};

#[test]
fn nothing_is_acknowledged_while_the_store_stands_still() {
    if !is_wanted() {
        return;
    }
    let postgres = Postgres::start(&[]);
    let scene = Scene::start(&Setup {
        name: "stopped",
        servers: 2,
        store: Some(postgres.url("postgres")),
    });
    let load = scene.clients();
    scene.more_submissions(50);
    postgres.pause();
    let before = scene.ledger.with(|history| history.submissions.len());
    for number in 0..scene.servers.len() {
        let mut client = scene.client(number);
        let job = Planned::new(format!("stopped-{number}"), PLAIN, "main");
        let (path, body) = submission(std::slice::from_ref(&job));
        // It may be done later, once.
        scene.ledger.submit(vec![job], false);
        let answer = client.call("POST", path, &body).unwrap();
        let (error, _) = answer.error(503);
        assert_eq!(error["code"], "busy", "{error}");
        let alive = scene.client(number).call("GET", "/livez", &Value::Null);
        assert_eq!(alive.unwrap().status, 200);
    }
    let acknowledged = scene.ledger.with(|history| {
        let since = history.submissions[before..].iter();
        since
            .filter(|one| matches!(one.answer, Answered::Yes(_)))
            .count()
    });
    assert_eq!(
        acknowledged, 0,
        "acknowledged while nothing could be stored"
    );
    postgres.resume();
    scene.more_submissions(50);
    scene.finish(load);
}
