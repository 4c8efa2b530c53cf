//! The address of the store, and the file that it may be in.

use std::path::Path;

use super::{Setup, with_head};

const ADDRESS: &str = "postgres://portcullis:s3cret@db.example/decisions";

fn in_file(text: &str) -> Setup {
    with_head("admission: {order: [AlwaysAdmit]}\nstore: {urlFile: store.key}\n")
        .file("store.key", text)
}

fn shown(setup: &Setup) -> String {
    setup.loaded().decisions.location.unwrap().to_string()
}

#[test]
fn an_address_in_a_file_is_the_same_as_one_in_the_configuration() {
    let written = with_head(&format!(
        "admission: {{order: [AlwaysAdmit]}}\nstore: {{url: \"{ADDRESS}\"}}\n"
    ));
    let expected = shown(&written);
    assert!(!expected.contains("s3cret"), "{expected}");
    assert_eq!(shown(&in_file(ADDRESS)), expected);
    assert_eq!(shown(&in_file(&format!("{ADDRESS}\n"))), expected);
}

#[test]
fn the_file_is_watched() {
    let files = in_file(ADDRESS).loaded().files;
    assert!(
        files
            .iter()
            .any(|file| file.ends_with(Path::new("store.key"))),
        "{files:?}"
    );
}

#[test]
fn an_invalid_address_in_a_file_is_reported_without_its_text() {
    let fault = in_file("mysql://portcullis:s3cret@db.example/decisions").fault();
    assert!(
        fault.starts_with("portcullis.yaml:4:") && fault.contains(": store.urlFile: "),
        "{fault}"
    );
    assert!(!fault.contains("s3cret"), "{fault}");
}

#[test]
fn a_missing_or_empty_file_is_a_fault() {
    let missing = with_head("admission: {order: [AlwaysAdmit]}\nstore: {urlFile: none.key}\n");
    let fault = missing.fault();
    assert!(
        fault.contains("store.urlFile: cannot read `none.key`"),
        "{fault}"
    );
    let fault = in_file("").fault();
    assert!(fault.contains("it is empty"), "{fault}");
}

#[test]
fn two_addresses_are_a_fault() {
    let both = with_head(&format!(
        "admission: {{order: [AlwaysAdmit]}}\nstore: {{url: \"{ADDRESS}\", urlFile: store.key}}\n"
    ));
    let fault = both.file("store.key", ADDRESS).fault();
    assert!(
        fault.ends_with("store.urlFile: `url` and `urlFile` can't be combined"),
        "{fault}"
    );
}
