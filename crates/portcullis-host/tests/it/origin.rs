//! `slsaEnsureComingFrom` with stand-ins for all the services it calls.

use portcullis_core::HostFunction::SlsaEnsureComingFrom;
use portcullis_host::ExternalHost;
use portcullis_testing::Reply;
use serde_json::{Value, json};

use crate::origin_world::{World, builds, digest, image, keeping_verifier, occurrence};
use crate::script::Folder;
use crate::support::{call, pod};

const YAML: &str = "/o/r/main/cloudbuild.yaml";
const YML: &str = "/o/r/main/cloudbuild.yml";
const ENTRY: &str = "us-docker.pkg.dev/$PROJECT_ID/repo/img:$SHORT_SHA";
const GOOD: &str = "exit 0";

fn one_page() -> Vec<Value> {
    vec![json!({"occurrences": [occurrence("only", "2023-01-01T00:00:00Z")]})]
}

fn ensure(host: &ExternalHost, images: &[&str]) -> Result<Value, String> {
    call(
        host,
        SlsaEnsureComingFrom,
        &[json!(["github.com/o/r"])],
        &pod(images),
    )
}

#[test]
fn an_image_of_the_repository() {
    let folder = Folder::new();
    let world = World::new(&[(YAML, builds(&["other.example/x", ENTRY]))], one_page());
    let host = world.host(&keeping_verifier(&folder));
    assert_eq!(ensure(&host, &[&image()]), Ok(json!(true)));

    let seen = folder.read("seen");
    let arguments: Vec<_> = seen.lines().collect();
    assert_eq!(arguments[..2], ["verify-image", "--provenance-path"]);
    assert_eq!(
        arguments[3..],
        [
            "--builder-id",
            "https://cloudbuild.googleapis.com/GoogleHostedWorker",
            "--source-uri",
            "github.com/o/r",
            "--",
            &image()
        ]
    );
    assert_eq!(folder.read("mode").trim(), "-rw-------");
    assert!(!std::path::Path::new(arguments[2]).exists());
    let kept: Value = serde_json::from_str(&folder.read("provenance")).unwrap();
    assert_eq!(kept["image_summary"]["digest"], json!(digest()));
    assert_eq!(kept["image_summary"]["registry"], "us-docker.pkg.dev");
    assert_eq!(kept["image_summary"]["repository"], "repo");
    assert_eq!(kept["provenance_summary"]["provenance"][0]["name"], "only");
}

#[test]
fn container_analysis_is_asked_with_a_token_and_others_are_not() {
    let folder = Folder::new();
    let world = World::new(&[(YAML, builds(&[ENTRY]))], one_page());
    let host = world.host(&folder.script("slsa-verifier", GOOD));
    assert_eq!(ensure(&host, &[&image()]), Ok(json!(true)));
    assert_eq!(ensure(&host, &[&image()]), Ok(json!(true)));
    let asked = world.analysis.requests().remove(0);
    assert_eq!(
        asked.target(),
        format!(
            "/v1/projects/project/occurrences?filter=kind%3D%22BUILD%22%20AND%20resourceUrl%3D%22https%3A%2F%2F\
             us-docker.pkg.dev%2Fproject%2Frepo%2Fimg%40sha256%3A{}%22&pageSize=1000",
            "0a".repeat(32)
        )
    );
    assert_eq!(asked.header("authorization"), Some("Bearer hidden"));
    assert_eq!(world.github.requests()[0].header("authorization"), None);
    let metadata = world.metadata.requests();
    assert_eq!(metadata.len(), 1, "the token is kept");
    assert_eq!(metadata[0].header("metadata-flavor"), Some("Google"));
}

#[test]
fn the_newest_provenance_of_all_pages() {
    let folder = Folder::new();
    let mut unsigned = occurrence("unsigned", "2029-01-01T00:00:00Z");
    unsigned.as_object_mut().unwrap().remove("envelope");
    let mut foreign = occurrence("foreign", "2029-01-01T00:00:00Z");
    foreign["resourceUri"] = json!("https://us-docker.pkg.dev/project/repo/img2@sha256:00");
    let mut other = occurrence("other", "2029-01-01T00:00:00Z");
    other["kind"] = json!("VULNERABILITY");
    let pages = vec![
        json!({"occurrences": [occurrence("old", "2023-01-01T00:00:00.5Z"), unsigned]}),
        json!({"occurrences": [foreign, occurrence("new", "2023-01-01T00:00:01.25Z"), other]}),
        json!({}),
        json!({"occurrences": [occurrence("last", "2023-01-01T00:00:01Z")]}),
    ];
    let world = World::new(&[(YAML, builds(&[ENTRY]))], pages);
    let host = world.host(&keeping_verifier(&folder));
    assert_eq!(ensure(&host, &[&image()]), Ok(json!(true)));
    let kept: Value = serde_json::from_str(&folder.read("provenance")).unwrap();
    let names = &kept["provenance_summary"]["provenance"];
    assert_eq!(
        (names[0]["name"].as_str(), names.as_array().unwrap().len()),
        (Some("new"), 1)
    );
}

#[test]
fn the_second_name_of_the_configuration() {
    let folder = Folder::new();
    let world = World::new(&[(YML, builds(&[ENTRY]))], one_page());
    let host = world.host(&folder.script("slsa-verifier", GOOD));
    assert_eq!(ensure(&host, &[&image()]), Ok(json!(true)));
    let asked: Vec<_> = world
        .github
        .requests()
        .iter()
        .map(|seen| seen.target().to_owned())
        .collect();
    assert_eq!(asked, [YAML, YML]);
}

#[test]
fn an_image_that_no_repository_builds() {
    let folder = Folder::new();
    let world = World::new(&[(YAML, builds(&[ENTRY, "h.example/a.b"]))], one_page());
    let host = world.host(&folder.script("slsa-verifier", "touch \"$D/ran\""));
    for other in [
        "us-docker.pkg.dev/project/repo/img2",
        "h.example/axb",
        "nginx",
    ] {
        let other = format!("{other}@{}", digest());
        assert_eq!(ensure(&host, &[&other]), Ok(json!(false)));
        assert_eq!(ensure(&host, &[&image(), &other]), Ok(json!(false)));
    }
    assert!(!folder.path("ran").exists());
    assert!(world.analysis.requests().is_empty());
}

#[test]
fn one_of_several_repositories_is_enough() {
    let folder = Folder::new();
    let files = [
        (YAML, builds(&[ENTRY])),
        ("/o/second/main/cloudbuild.yaml", builds(&[ENTRY])),
    ];
    let world = World::new(&files, one_page());
    let second_only = "case \"$*\" in *github.com/o/second*) exit 0;; esac; echo FAILED; exit 1";
    let host = world.host(&folder.script("slsa-verifier", second_only));
    let ensure = |repositories: Value| {
        call(
            &host,
            SlsaEnsureComingFrom,
            &[repositories],
            &pod(&[&image()]),
        )
    };
    assert_eq!(
        ensure(json!(["github.com/o/r", "github.com/o/second"])),
        Ok(json!(true))
    );
    let message = ensure(json!(["github.com/o/r"])).unwrap_err();
    assert!(
        message.starts_with("invoking the slsa-verifier cli failed: FAILED"),
        "{message}"
    );
}

#[test]
fn what_is_not_certain_is_an_error() {
    let folder = Folder::new();
    let verifier = folder.script("slsa-verifier", GOOD);
    let text = |status: &str, text: &str| Reply::with(status, "", text.as_bytes());
    let large = format!("images: [x]\n#{}", "x".repeat(110_000));
    for (reply, problem) in [
        (None, "has no Cloud Build configuration"),
        (
            Some(text("500 Internal Server Error", "images: [x]")),
            "status 500",
        ),
        (Some(text("302 Found", "images: [x]")), "status 302"),
        (Some(text("200 OK", "<html>")), "can't be read"),
        (Some(text("200 OK", "steps: []")), "names no images"),
        (Some(text("200 OK", &large)), "more than 102400 bytes"),
    ] {
        let files: Vec<_> = reply.into_iter().map(|reply| (YAML, reply)).collect();
        let world = World::new(&files, one_page());
        let message = ensure(&world.host(&verifier), &[&image()]).unwrap_err();
        assert!(message.contains(problem), "{message}");
    }

    let without_digest = "us-docker.pkg.dev/project/repo/img:v1";
    for (pages, image, problem) in [
        (vec![json!({})], image(), "there is no provenance"),
        (vec![json!([1])], image(), "not a list of occurrences"),
        (
            vec![json!({"occurrences": [occurrence("x", "yesterday")]})],
            image(),
            "no time of creation",
        ),
        (vec![json!({}); 11], image(), "too much provenance"),
        (
            one_page(),
            without_digest.to_owned(),
            "only for images of docker.pkg.dev with a sha256 digest",
        ),
    ] {
        let world = World::new(&[(YAML, builds(&[ENTRY]))], pages);
        let message = ensure(&world.host(&verifier), &[&image]).unwrap_err();
        assert!(message.contains(problem), "{message}");
        assert!(!message.contains("hidden"), "{message}");
    }
}

#[test]
fn repositories_must_be_given() {
    let folder = Folder::new();
    let world = World::new(&[], one_page());
    let host = world.host(&folder.script("slsa-verifier", GOOD));
    let object = pod(&[&image()]);
    for bad in [
        json!([]),
        json!(null),
        json!("github.com/o/r"),
        json!(["gitlab.com/o/r"]),
        json!(["github.com/o/r", null]),
        json!(["github.com/../r"]),
        json!(vec!["github.com/o/r"; 65]),
    ] {
        assert!(call(&host, SlsaEnsureComingFrom, &[bad], &object).is_err());
    }
    assert!(
        call(
            &host,
            SlsaEnsureComingFrom,
            &[json!(["github.com/o/r"])],
            &pod(&[])
        )
        .is_err()
    );
    assert!(world.github.requests().is_empty());
}
