//! `portcullis graph export`, read here.

use std::process::{Command, Stdio};

use serde_json::{Value, json};

use super::{PLACES, ask, json_of, office};

#[test]
fn json_has_all_vertices_and_edges_with_their_owners() {
    let folder = office();
    for place in PLACES {
        let ran = ask(&folder, &["graph", "export", "-o", "json"], place);
        assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""));
        let long = ask(&folder, &["graph", "export", "--json"], place);
        assert_eq!(long.out, ran.out);
        let value = json_of(&ran);
        let vertices = value["vertices"].as_array().unwrap();
        let name =
            |v: &Value| format!("{}:{}/{}", v["kind"], v["namespace"], v["name"]).replace('"', "");
        let names: Vec<String> = vertices.iter().map(name).collect();
        assert_eq!(
            names,
            [
                "Badge:hq/b1",
                "Desk:hq/d1",
                "Desk:hq/d2",
                "Floor:/f1",
                "Robot:/r1",
                "Robot:/r2"
            ]
        );
        let edges = value["edges"].as_array().unwrap();
        assert_eq!(edges.len(), 4, "{edges:?}");
        assert!(edges.contains(&json!({
            "from": "Badge:hq/b1", "to": "Desk:hq/d1", "owner": "Desk:hq/d1",
        })));
    }
    let floors = ["graph", "export", "--json", "--target", "Floor"];
    let value = json_of(&ask(&folder, &floors, PLACES[0]));
    assert!(!value["edges"].to_string().contains("Robot"), "{value}");
    let ran = ask(
        &folder,
        &["graph", "export", "--json", "--target", "Desk"],
        PLACES[0],
    );
    assert_eq!(ran.code, Some(2));
    ran.says(&["invalid target `Desk`", "Floor, Robot"]);
}

#[test]
fn dot_is_taken_by_graphviz_whatever_names_hold() {
    let folder = office();
    folder.write(
        "objects/odd.yaml",
        r#"{apiVersion: office.example/v1, kind: Desk, metadata: {namespace: "a\"b", name: "c\\"}, spec: {robot: "x\"]; y"}}"#,
    );
    let ran = ask(&folder, &["graph", "export", "--dot"], PLACES[1]);
    assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""));
    assert!(ran.out.starts_with("digraph \""), "{}", ran.out);
    for line in [
        "  \"Badge:hq/b1\" -> \"Desk:hq/d1\" [tooltip=\"by Desk:hq/d1\"];",
        r#"  "Desk:a\"b/c\\";"#,
        r#"  "Robot:x\"]; y";"#,
    ] {
        assert!(
            ran.out.lines().any(|own| own == line),
            "{line}: {}",
            ran.out
        );
    }
    let dot = Command::new("dot")
        .args(["-Tcanon"])
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .spawn();
    let Ok(mut dot) = dot else {
        eprintln!("skipped: there is no Graphviz here");
        return;
    };
    std::io::Write::write_all(&mut dot.stdin.take().unwrap(), ran.out.as_bytes()).unwrap();
    assert!(dot.wait().unwrap().success());
}
