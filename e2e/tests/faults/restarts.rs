//! Servers that are killed again and again while jobs flow.

use portcullis_testing::Postgres;

use crate::scene::{Scene, Setup, is_wanted, number};

#[test]
fn nothing_is_lost_when_the_server_is_killed_on_sqlite() {
    if !is_wanted() {
        return;
    }
    let mut scene = Scene::start(&Setup {
        name: "sqlite",
        servers: 1,
        store: None,
    });
    let load = scene.clients();
    for _ in 0..number("FAULTS_RESTARTS", 200) {
        scene.kill_any();
    }
    scene.finish(load);
}

#[test]
fn nothing_is_lost_when_the_server_is_killed_on_postgresql() {
    if !is_wanted() {
        return;
    }
    let postgres = Postgres::start(&[]);
    let mut scene = Scene::start(&Setup {
        name: "postgresql",
        servers: 1,
        store: Some(postgres.url("postgres")),
    });
    let load = scene.clients();
    for _ in 0..number("FAULTS_RESTARTS_POSTGRESQL", 50) {
        scene.kill_any();
    }
    scene.finish(load);
}
