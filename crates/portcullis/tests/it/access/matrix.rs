//! `portcullis access-matrix`.

use serde_json::json;

use super::{ask, example, json_of};

#[test]
fn rules_and_permissions_are_a_table() {
    let ran = ask(&example(), &["access-matrix", "--tenant", "example"]);
    assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""));
    insta::assert_snapshot!(ran.out, @"
    RULE        read  autohold  enqueue   dequeue  promote  tenant-state  submit-job  retry-job  cancel-job  manage-controllers  manage-runners  manage-exemptions  manage-sessions  read-decisions  read-graph  playground
    admin-user  yes   yes       yes       yes      yes      yes           yes         yes        yes         yes                 yes             yes                yes              yes             yes         yes
    alice       -     -         when [1]  -        -        -             -           -          -           -                   -               -                  -                -               -           -
    everyone    yes   yes       -         -        -        -             -           -          -           -                   -               -                  -                -               -           -

    [1] rule alice, role enqueue-post: enqueue when project is foo and pipeline is post

    rule admin-user (admin): preferred_username is `admin`
    rule alice (enqueue-post): preferred_username is `alice`
    rule everyone (read, autohold): iss is `our-institution`
    reading requires signing in
    ");
}

#[test]
fn the_table_is_there_for_programs() {
    let folder = example();
    let ran = ask(
        &folder,
        &["access-matrix", "--tenant", "example", "-o", "json"],
    );
    let value = json_of(&ran);
    let alice = value["rules"].as_array().unwrap();
    let alice = alice.iter().find(|row| row["rule"] == "alice").unwrap();
    let conditions = json!({"pipeline": "post", "project": "foo"});
    let grant = json!({"rule": "alice", "role": "enqueue-post", "conditions": conditions});
    assert_eq!(
        alice,
        &json!({
            "rule": "alice", "roles": ["enqueue-post"], "asks": "preferred_username is `alice`",
            "permissions": {"enqueue": [grant]},
        })
    );
    let ran = ask(&folder, &["access-matrix", "--tenant", "nowhere"]);
    assert_eq!(ran.code, Some(6));
    ran.says(&["nowhere"]);
}
