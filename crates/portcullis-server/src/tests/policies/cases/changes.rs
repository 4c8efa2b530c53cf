//! Cases 12 to 21, 32 and 33: changes of the object.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use super::{check, check_fruit};
use portcullis_testing::policies::Want::{Changed, Default, No};
use portcullis_testing::policies::{VIOLATES, Want, fruit, native};

fn changed(edit: impl FnOnce(&mut Value)) -> Want {
    let mut object = fruit();
    edit(&mut object);
    Changed(object)
}

fn first(object: &mut Value) -> &mut Value {
    &mut object["spec"]["containers"][0]
}

#[test]
fn members() {
    let allow = |code: &str| {
        let mut config = native(&[("P", code)]);
        config["defaultAction"] = "Allow".into();
        config
    };
    check_fruit(vec![
        (
            12,
            native(&[("P", "object.spec.containers[0].image = 'new'; return true")]),
            changed(|o| first(o)["image"] = "new".into()),
        ),
        (13, allow("object.x = 1"), changed(|o| o["x"] = 1.into())),
        (14, native(&[("P", "object.x = 1")]), Default),
        (
            15,
            native(&[
                ("A", "object.x = 1"),
                ("B", "if (object.x === 1) { object.y = 2; return true }"),
            ]),
            changed(|o| {
                o["x"] = 1.into();
                o["y"] = 2.into();
            }),
        ),
        (
            16,
            native(&[("P", "object.x = 1; return 'no'")]),
            No(VIOLATES, "P: no"),
        ),
        (
            17,
            native(&[("P", "object.metadata.labels['x/y~z'] = 'q'; return true")]),
            changed(|o| o["metadata"]["labels"]["x/y~z"] = "q".into()),
        ),
    ]);
}

#[test]
fn lists() {
    let with_second = || {
        changed(|o| {
            let containers = o["spec"]["containers"].as_array_mut().unwrap();
            containers.push(json!({"name": "b"}));
        })
    };
    check_fruit(vec![
        (
            18,
            native(&[(
                "P",
                "const c = object.spec.containers[0]\nc.command = ['/bin/echo', 'hi']\nc.args = []\nreturn true",
            )]),
            changed(|o| {
                first(o)["command"] = json!(["/bin/echo", "hi"]);
                first(o)["args"] = json!([]);
            }),
        ),
        (
            19,
            native(&[(
                "P",
                "object.spec.containers = [...object.spec.containers, {name: 'b'}]; return true",
            )]),
            with_second(),
        ),
        (
            20,
            native(&[("P", "object.spec.containers.push({name: 'b'}); return true")]),
            with_second(),
        ),
        (
            21,
            native(&[("P", "object.spec.containers[0].args.pop(); return true")]),
            changed(|o| first(o)["args"] = json!(["a", "b"])),
        ),
    ]);
}

#[test]
fn the_specification_of_a_container() {
    let encoded = |spec: &Value| STANDARD.encode(spec.to_string());
    let container = |value: String| {
        let spec = json!({"type_url": "types.containerd.io/opencontainers/runtime-spec/1/Spec", "value": value});
        json!({"container": {"id": "c1", "image": "img", "spec": spec}})
    };
    let before = container(encoded(&json!({"process": {"env": ["A=1"]}})));
    let code = "const spec = JSON.parse(atob(object.container.spec.value))\n\
                spec.process.env.push('EXTRA=1')\n\
                object.container.spec.value = btoa(JSON.stringify(spec))";
    let mut config = native(&[("P", code)]);
    config["defaultAction"] = "Allow".into();
    let after = container(encoded(&json!({"process": {"env": ["A=1", "EXTRA=1"]}})));
    check(&before, vec![(32, config, Changed(after))]);
}

#[test]
fn volumes_of_git_repositories() {
    // The text of the example, as users have it.
    let text = include_str!("../../../../../../examples/acjs-gitrepo/portcullis.yaml");
    let (_, code) = text.split_once("code: |\n").unwrap();
    let repository = json!({"repository": "https://git.example/r.git", "revision": "v1"});
    let before = json!({"kind": "Pod", "spec": {
        "containers": [{"name": "c", "image": "img"}],
        "volumes": [{"name": "a", "emptyDir": {}}, {"name": "g", "gitRepo": repository}],
    }});
    let mut after = before.clone();
    after["spec"]["volumes"][1] = json!({"name": "g", "emptyDir": {}});
    after["spec"]["initContainers"] = json!([{
        "name": "gitrepo-init-1",
        "image": "bitnami/git",
        "workingDir": "/repo-volume",
        "command": ["git", "clone", "--branch", "v1", "--", "https://git.example/r.git"],
        "volumeMounts": [{"mountPath": "/repo-volume", "name": "g"}],
    }]);
    check(&before, vec![(33, native(&[("P", code)]), Changed(after))]);
}
