//! Several servers on one PostgreSQL: they share the work, and take over what one of them leaves.

use portcullis_testing::Postgres;

use crate::load::Amount;
use crate::scene::{Scene, Setup, is_wanted, number};

#[test]
fn servers_share_the_work_and_take_over_from_each_other() {
    if !is_wanted() {
        return;
    }
    let postgres = Postgres::start(&[]);
    let mut scene = Scene::start(&Setup {
        name: "servers",
        servers: 3,
        store: Some(postgres.url("postgres")),
    });
    // As long as nothing fails, nothing is done twice.
    let calm = scene.load(Amount {
        clients: 4,
        pause: 30,
        is_calm: true,
        most: number("FAULTS_CALM_SUBMISSIONS", 60),
    });
    calm.join();
    scene.settle();
    let load = scene.clients();
    for _ in 0..number("FAULTS_RESTARTS_SERVERS", 50) {
        scene.kill_any();
    }
    scene.finish(load);
}
