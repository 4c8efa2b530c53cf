//! What a Secret holds, good and bad.

use super::{start, terms};
use crate::contents::{Contents, ContentsError, Data};
use crate::plan::{Step, apply};

fn created() -> Contents {
    let step = Step::Create { keep: Vec::new() };
    let terms = terms();
    apply(&step, None, &terms.names, &terms, start()).unwrap()
}

fn written(contents: &Contents) -> Data {
    let mut data = Data::new();
    contents.write(&mut data);
    data
}

#[test]
fn what_is_written_is_read_and_other_entries_stay() {
    let terms = terms();
    let first = created();
    let mut data = written(&first);
    data.insert("other".to_owned(), b"kept".to_vec());
    assert_eq!(Contents::read(&data).unwrap(), first);
    let names: Vec<_> = data.keys().map(String::as_str).collect();
    assert_eq!(names, ["ca.crt", "ca.key", "other", "tls.crt", "tls.key"]);
    let second = apply(
        &Step::AddAuthority,
        Some(&first),
        &terms.names,
        &terms,
        start(),
    )
    .unwrap();
    second.write(&mut data);
    assert_eq!(Contents::read(&data).unwrap(), second);
    assert_eq!(second.trusted().len(), 2);
    assert_eq!(second.serving(), first.serving());
    let third = apply(
        &Step::SwitchAuthority,
        Some(&second),
        &terms.names,
        &terms,
        start(),
    )
    .unwrap();
    third.write(&mut data);
    assert_eq!(Contents::read(&data).unwrap(), third);
    assert!(!data.contains_key("next-ca.key") && data["other"] == b"kept");
    assert_eq!(third.trusted(), second.trusted());
    assert_eq!(third.issuer(), second.trusted().get(1));
}

#[test]
fn nothing_in_it_is_not_damage() {
    let empty = |data: &Data| Contents::read(data) == Err(ContentsError::Empty);
    assert!(empty(&Data::new()));
    // As a chart makes it so that nothing has to be created.
    let blank = ["tls.crt", "tls.key"].map(|entry| (entry.to_owned(), Vec::new()));
    assert!(empty(&blank.into()));
    let others = [("other".to_owned(), b"x".to_vec())];
    assert!(empty(&others.into()));
}

#[test]
fn damage_is_told_by_its_place_without_what_is_there() {
    let (good, other) = (written(&created()), written(&created()));
    let cases: [(&str, Option<Vec<u8>>, &str); 10] = [
        ("tls.crt", None, "`tls.crt` of the Secret: missing"),
        (
            "tls.crt",
            Some(b"s3cret".to_vec()),
            "`tls.crt` of the Secret: no certificate found",
        ),
        ("tls.key", None, "`tls.key` of the Secret: missing"),
        (
            "tls.key",
            Some(b"\xff".to_vec()),
            "`tls.key` of the Secret: not valid PEM",
        ),
        (
            "tls.key",
            Some(other["tls.key"].clone()),
            "`tls.key` of the Secret: not the key of the certificate in `tls.crt`",
        ),
        ("ca.crt", None, "`ca.crt` of the Secret: missing"),
        (
            "ca.crt",
            Some(good["ca.key"].clone()),
            "`ca.crt` of the Secret: not valid PEM",
        ),
        ("ca.key", None, "`ca.key` of the Secret: missing"),
        (
            "ca.key",
            Some(other["ca.key"].clone()),
            "`ca.key` of the Secret: not the key of any certificate in `ca.crt`",
        ),
        (
            "next-ca.key",
            Some(b"s3cret".to_vec()),
            "`next-ca.key` of the Secret: not the key of any certificate in `ca.crt`",
        ),
    ];
    for (entry, value, said) in cases {
        let mut data = good.clone();
        match value {
            Some(value) => drop(data.insert(entry.to_owned(), value)),
            None => drop(data.remove(entry)),
        }
        let error = Contents::read(&data).unwrap_err();
        assert_eq!(error.to_string(), said);
        assert!(!format!("{error:?}").contains("s3cret"));
        let ContentsError::Damaged { trusted, .. } = error else {
            panic!("{entry} is damaged");
        };
        // What can be read of the authorities stays known.
        assert_eq!(trusted.len(), usize::from(entry != "ca.crt"), "{entry}");
    }
}
