//! A pooler between servers and PostgreSQL, with fewer connections than its clients have.

use portcullis_testing::Postgres;

use crate::bouncer::Bouncer;
use crate::scene::{Scene, Setup, is_wanted, number};

#[test]
fn nothing_is_lost_behind_a_pooler_in_transaction_mode() {
    if !is_wanted() {
        return;
    }
    let postgres = Postgres::start(&[]);
    let mut bouncer = Bouncer::start(&postgres);
    let mut scene = Scene::start(&Setup {
        name: "pooler",
        servers: 2,
        store: Some(bouncer.url()),
    });
    let load = scene.clients();
    for _ in 0..number("FAULTS_RESTARTS_POOLER", 10) {
        scene.more_submissions(20);
        bouncer.kill();
        bouncer.begin();
        scene.kill_any();
    }
    scene.finish(load);
}
