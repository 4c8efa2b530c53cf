use super::*;
use portcullis_config::ConfigSource;

/// What is found in a folder with these files, the first of which is the configuration.
fn report(files: &[(&str, &str)]) -> Report {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in files {
        std::fs::write(folder.path().join(name), text).unwrap();
    }
    let (name, _) = files.first().unwrap();
    examine(&LoadOptions {
        source: ConfigSource::File(&folder.path().join(name)),
        admission_control: None,
        admission_control_config_file: None,
        known_plugins: &["AlwaysAdmit", "Policies"],
        listeners: Listening::Needed,
        objects: None,
        coverage: false,
        env: &|_| None,
    })
}

#[test]
fn what_is_odd_is_told_together_with_what_is_wrong() {
    let odd = "listener: {path: {socketPath: gate.sock}}\npolicies: [{name: a, cod: return}]\n";
    let Report { faults, warnings } = report(&[("a.yaml", odd)]);
    assert_eq!(faults, []);
    let fault = warnings.iter().find_map(Warning::fault).unwrap();
    assert_eq!(fault.path, "policies[0].cod");
    let wrong = format!("{odd}limits: {{deadline: 0s}}\n");
    let Report { faults, warnings } = report(&[("a.yaml", &wrong)]);
    assert!(
        faults.iter().any(|fault| fault.path == "limits.deadline"),
        "{faults:?}"
    );
    assert!(
        warnings.iter().any(|warning| warning.contains("cod")),
        "{warnings:?}"
    );
}

#[test]
fn a_faulty_tenant_is_named_whatever_is_wrong_with_it() {
    let config = "tenants: {file: t.yaml}\n";
    for wrong in [
        "role-mappings: 5",
        "projects: 5",
        "role-mappings: {x: nosuch}",
        "private: x",
    ] {
        let tenants = format!("- tenant:\n    name: shop\n    {wrong}\n- tenant: {{name: fine}}\n");
        let Report { faults, .. } = report(&[("a.yaml", config), ("t.yaml", &tenants)]);
        assert!(!faults.is_empty(), "{wrong}");
        for fault in faults {
            assert!(fault.message.contains("tenant `shop`"), "{wrong}: {fault}");
            assert_eq!(fault.message.matches("tenant `shop`").count(), 1, "{fault}");
            assert!(fault.file.ends_with("t.yaml"), "{fault}");
        }
    }
    // Also beside a fault that is not a tenant's.
    let tenants = "- tenant: {name: shop, projects: 5}\n- role: {name: r, permissions: 5}\n";
    let Report { faults, .. } = report(&[("a.yaml", config), ("t.yaml", tenants)]);
    let named = |fault: &&Fault| fault.message.contains("tenant `shop`");
    assert_eq!(faults.iter().filter(named).count(), 1, "{faults:?}");
    assert!(faults.len() > 1, "{faults:?}");
}
