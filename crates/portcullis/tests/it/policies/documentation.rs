//! What the guides show is accepted as shown.

use crate::harness::{Folder, Pki, repository, run_in};

const LISTENER: &str =
    "listeners:\n- {name: a, tcp: \"127.0.0.1:8443\", serves: [kubernetes, health]}\n";

/// The fenced blocks of a language.
fn blocks(guide: &str, language: &str) -> Vec<String> {
    let text = std::fs::read_to_string(repository().join("docs").join(guide)).unwrap();
    let mut found = Vec::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        let indent = line.len() - line.trim_start().len();
        if line.trim() == format!("```{language}") {
            let inner = lines.by_ref().take_while(|l| l.trim() != "```");
            let inner: Vec<&str> = inner.map(|l| l.get(indent..).unwrap_or_default()).collect();
            found.push(inner.join("\n") + "\n");
        }
    }
    found
}

#[test]
fn configurations_and_policies_of_the_guides_are_accepted() {
    let lib = repository().join("examples/policies/policies/lib/images.ts");
    let scripts = blocks("policies.md", "ts");
    assert_eq!(scripts.len(), 1);
    let mut tried = 0;
    for guide in ["policies.md", "acjs.md"] {
        for block in blocks(guide, "yaml") {
            let folder = Folder::new();
            folder.write("policies/10-registries.ts", &scripts[0]);
            folder.write("policies/lib/images.ts", std::fs::read(&lib).unwrap());
            for authority in ["ca.crt", "registry-ca.crt"] {
                folder.write(authority, Pki::new().authority.certificate_pem);
            }
            folder.write("config.json", "{}");
            let start = if block.contains("listeners:") {
                ""
            } else {
                LISTENER
            };
            folder.write("portcullis.yaml", format!("{start}{block}"));
            let ran = run_in(&folder, &["check", "--config", "portcullis.yaml"]);
            assert_eq!(ran.code, Some(0), "{guide}: {block}{}", ran.err);
            tried += 1;
        }
    }
    assert!(tried >= 4, "{tried}");
}
