//! A primary that goes away, and its standby that takes its place.

use portcullis_testing::Postgres;

use crate::scene::{Scene, Setup, is_wanted};

#[test]
fn nothing_is_lost_when_a_standby_takes_over() {
    if !is_wanted() {
        return;
    }
    let primary = Postgres::start(&["synchronous_commit = on"]);
    let standby = primary.standby();
    let hosts = format!("127.0.0.1:{},127.0.0.1:{}", primary.port(), standby.port());
    let scene = Scene::start(&Setup {
        name: "standby",
        servers: 2,
        store: Some(format!(
            "postgres://portcullis@{hosts}/postgres?target_session_attrs=read-write"
        )),
    });
    let load = scene.clients();
    scene.more_submissions(100);
    primary.kill();
    standby.promote();
    // The servers go on by themselves.
    scene.more_submissions(100);
    scene.finish(load);
}
