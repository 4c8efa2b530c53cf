//! Flag wins over environment, environment over file, file over default.

use super::{Setup, order, with_head};
use crate::LogFormat;

const AC: &str = "apiVersion: apiserver.config.k8s.io/v1\nkind: AdmissionConfiguration\n";

fn ordered() -> Setup {
    with_head("admission: {order: [AlwaysAdmit]}\nlog: {format: json, filter: warn}\n")
}

#[test]
fn the_order_of_the_flag_wins_over_environment_and_file() {
    let variable = "PORTCULLIS_ADMISSION_CONTROL";
    assert_eq!(order(&ordered().loaded()), ["AlwaysAdmit"]);
    assert_eq!(
        order(&ordered().env(variable, "AlwaysDeny, PodSecurity").loaded()),
        ["AlwaysDeny", "PodSecurity"]
    );
    assert_eq!(
        order(&ordered().env(variable, " ").loaded()),
        ["AlwaysAdmit"]
    );
    let both = ordered()
        .env(variable, "AlwaysDeny")
        .flag(&["PodSecurity", " EventRateLimit"]);
    assert_eq!(order(&both.loaded()), ["PodSecurity", "EventRateLimit"]);
}

#[test]
fn an_order_that_is_overridden_is_not_checked() {
    let setup = with_head("admission: {order: [Nope]}\n").flag(&["AlwaysAdmit"]);
    assert_eq!(order(&setup.loaded()), ["AlwaysAdmit"]);
}

#[test]
fn faults_of_the_flag_and_the_variable_name_them() {
    assert_eq!(
        ordered().flag(&["AlwaysAdmit", "AlwaysPullImage"]).fault(),
        "--admission-control: unknown plug-in `AlwaysPullImage`, did you mean `AlwaysPullImages`? \
         (known plug-ins: AlwaysAdmit, AlwaysDeny, AlwaysPullImages, EventRateLimit, PodSecurity)"
    );
    assert_eq!(
        ordered()
            .flag(&["AlwaysAdmit", "AlwaysPullImages", "AlwaysAdmit"])
            .fault(),
        "--admission-control: the plug-in `AlwaysAdmit` is in the order twice"
    );
    assert_eq!(
        ordered().flag(&[""]).fault(),
        "--admission-control: the name of a plug-in is empty"
    );
    let fault = ordered()
        .env("PORTCULLIS_ADMISSION_CONTROL", "Nope")
        .fault();
    assert!(
        fault.starts_with("PORTCULLIS_ADMISSION_CONTROL: unknown plug-in `Nope`"),
        "{fault}"
    );
}

#[test]
fn the_files_flag_wins_over_the_key_which_is_then_not_read() {
    let setup = with_head("admission: {configFile: gone.yaml}\n")
        .file(
            "flag.yaml",
            &format!("{AC}plugins: [{{name: AlwaysDeny}}]\n"),
        )
        .file_flag("flag.yaml");
    let loaded = setup.loaded();
    assert_eq!(order(&loaded), ["AlwaysDeny"]);
    assert_eq!(
        loaded.files,
        ["portcullis.yaml", "flag.yaml"].map(|name| setup.path(name))
    );
    assert_eq!(
        ordered().file_flag("gone.yaml").fault(),
        "gone.yaml: cannot read the file: no such file or directory (named by --admission-control-config-file)"
    );
}

#[test]
fn the_log_is_overridden_by_the_environment() {
    let loaded = ordered()
        .env("PORTCULLIS_LOG_FORMAT", "text")
        .env("PORTCULLIS_LOG", "debug")
        .loaded();
    assert_eq!(
        (loaded.log.format, loaded.log.filter.as_str()),
        (LogFormat::Text, "debug")
    );
    let loaded = ordered().loaded();
    assert_eq!(
        (loaded.log.format, loaded.log.filter.as_str()),
        (LogFormat::Json, "warn")
    );
    assert_eq!(
        ordered().env("PORTCULLIS_LOG_FORMAT", "jsno").fault(),
        "PORTCULLIS_LOG_FORMAT: unknown value `jsno`, did you mean `json`? (known values: json, text)"
    );
}
