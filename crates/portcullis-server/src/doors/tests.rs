//! Every door is found, and only where it is served.

use std::path::Path;

use portcullis_core::Door as Name;

use super::*;

const ALL: &[Service] = &[
    Service::Kubernetes,
    Service::Api,
    Service::Ci,
    Service::Web,
    Service::Health,
    Service::Metrics,
];

fn lookup<'a>(method: &'a Method, path: &'a str) -> Lookup<'a> {
    Lookup {
        method,
        path,
        is_acjs: false,
        wants_page: false,
    }
}

#[test]
fn every_door_is_in_the_table_once() {
    for name in Name::ALL {
        let entrances = DOORS.iter().filter(|door| door.name == name).count();
        assert_eq!(entrances, 1, "{name}");
    }
}

#[test]
fn the_files_of_a_door_are_there() {
    let repository = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let listed = include_str!("../doors.rs").lines();
    let listed = listed.filter_map(|line| line.strip_prefix("//! - `")?.split('`').next());
    let listed: Vec<&str> = listed.collect();
    assert!((3..=4).contains(&listed.len()), "{listed:?}");
    for file in listed {
        assert!(repository.join(file).exists(), "{file}");
    }
}

#[test]
fn people_are_told_of_every_door() {
    let page = include_str!("../../../../docs/decision-log.md");
    let row = page
        .lines()
        .find(|line| line.starts_with("| `--door DOOR` |"));
    for name in Name::ALL {
        let is_listed = row.is_some_and(|row| row.contains(&format!("`{name}`")));
        assert!(is_listed, "{name}");
    }
}

#[test]
fn every_call_is_served_where_the_door_of_the_api_is_open() {
    for endpoint in api::all() {
        assert!(!endpoint.services.is_empty(), "{}", endpoint.id);
        for service in endpoint.services {
            assert!(Api::SERVICES.contains(service), "{}", endpoint.id);
        }
        // Programs call the API, people open pages; scripts of pages can only follow a stream.
        let is_with_web = endpoint.services.contains(&Service::Web);
        let is_for_pages = !endpoint.path.starts_with("/api/") || endpoint.id == "followDecisions";
        assert_eq!(is_with_web, is_for_pages, "{}", endpoint.id);
    }
}

/// What was found, in words.
fn seen(found: &Found<'_>) -> String {
    match found {
        Found::Route(Route::Admission(door)) => format!("admission {}", door.webhook),
        Found::Route(Route::Authorization(chain)) => format!("authorization {chain}"),
        Found::Route(Route::Call(endpoint, _)) => format!("call {}", endpoint.id),
        Found::Route(Route::Page(_)) => "page".to_owned(),
        Found::Route(Route::Asset(_)) => "asset".to_owned(),
        Found::WrongMethod(allow) => format!("only {allow}"),
        Found::Nothing => "nothing".to_owned(),
    }
}

#[test]
fn paths_lead_to_their_doors() {
    for (method, path, wanted) in [
        (Method::POST, "/mutate", "admission mutate"),
        (Method::POST, "/mutate/a/b", "admission mutate"),
        (Method::POST, "/validate/", "admission validate"),
        (Method::POST, "/admit/x", "admission admit"),
        (Method::POST, "/authorize", "authorization default"),
        (Method::POST, "/authorize/", "authorization default"),
        (Method::POST, "/authorize/seed", "authorization seed"),
        (Method::GET, "/api/info", "call info"),
        (Method::GET, "/", "call home"),
        (Method::POST, "/api/v1/jobs", "call submitJob"),
        (
            Method::PATCH,
            "/api/v1/controllers/3",
            "call changeController",
        ),
        (
            Method::PUT,
            "/api/v1/controllers/3",
            "only GET, HEAD, PATCH, DELETE",
        ),
        (Method::GET, "/mutate", "only POST"),
        (Method::PUT, "/authorize/seed", "only POST"),
        (Method::POST, "/api/info", "only GET, HEAD"),
        (Method::GET, "/livez", "nothing"),
        (Method::POST, "/mutated", "nothing"),
        (Method::POST, "/acjs", "nothing"),
        (Method::POST, "//mutate", "nothing"),
        (Method::POST, "/api", "nothing"),
        (Method::POST, "*", "nothing"),
    ] {
        let found = find(&lookup(&method, path), ALL);
        assert_eq!(seen(&found), wanted, "{method} {path}");
    }
}

#[test]
fn what_a_listener_does_not_serve_is_not_there() {
    for (path, others) in [
        ("/mutate", &[Service::Api, Service::Health][..]),
        ("/authorize", &[Service::Metrics, Service::Web][..]),
        ("/api/info", &[Service::Kubernetes, Service::Ci][..]),
        ("/api/v1/jobs", &[Service::Kubernetes, Service::Web][..]),
    ] {
        for method in [Method::GET, Method::POST] {
            let found = find(&lookup(&method, path), others);
            assert_eq!(seen(&found), "nothing", "{method} {path}");
        }
    }
}

#[test]
fn in_the_style_of_acjs_every_path_is_a_review() {
    for (method, path) in [
        (Method::GET, "/"),
        (Method::PUT, "/validate"),
        (Method::POST, "/authorize"),
        (Method::POST, "/readyz"),
    ] {
        let lookup = Lookup {
            is_acjs: true,
            ..lookup(&method, path)
        };
        assert_eq!(seen(&find(&lookup, ALL)), "admission acjs", "{path}");
        assert_eq!(seen(&find(&lookup, &[Service::Health])), "nothing");
    }
}
