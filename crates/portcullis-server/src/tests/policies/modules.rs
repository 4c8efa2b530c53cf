//! Policies in files: modules, TypeScript, and their metadata.

use serde_json::json;

use super::gate_with_folder;
use crate::tests::harness::{Folder, examined};
use portcullis_testing::policies::{fruit, named, review_of};

const IMAGES: &str = "\
export interface Image { registry: string; name: string }
export function parse(image: string): Image {
  const [registry, ...rest] = image.split('/')
  return { registry, name: rest.join('/') }
}
export function fails(): never {
  throw new Error('in a module')
}
let asked = 0
export const count = (): number => ++asked
";

#[test]
fn typescript_and_imports() {
    let policy = "\
import { parse, count, type Image } from './lib/images.ts'

export const policy = { match: { kinds: ['Pod'], namespaces: ['ns*'] } } as const

export default function (): string | undefined {
  const containers = object.spec.containers as { image: string }[]
  const image: Image = parse(containers[0]!.image)
  return image.registry + '|' + image.name + '|' + count()
}
";
    let gate = gate_with_folder(&[("p.ts", policy), ("lib/images.ts", IMAGES)]);
    let mut object = fruit();
    object["spec"]["containers"][0]["image"] = "r.example/shop/web:1".into();
    for _ in 0..3 {
        // What a module counts does not outlive the request.
        let verdict = gate.ask("/validate", &review_of(&object));
        assert_eq!(verdict.message(), "p: r.example|shop/web:1|1");
    }
    let other = review_of(&object).set("namespace", "other");
    gate.ask("/validate", &other).allowed();
}

#[test]
fn a_file_says_its_mode() {
    let policy = "export const policy = { mode: 'warn' }\nexport default () => 'only a warning'\n";
    let gate = gate_with_folder(&[("p.js", policy)]);
    let verdict = gate.ask("/validate", &named("any"));
    verdict.allowed();
    assert_eq!(verdict.warnings(), ["p: only a warning"]);
}

#[test]
fn an_error_in_a_module_names_its_file_and_line() {
    let policy = "import { fails } from './lib/images'\nexport default function () { fails() }\n";
    let gate = gate_with_folder(&[("p.js", policy), ("lib/images.ts", IMAGES)]);
    let verdict = gate.ask("/validate", &named("any"));
    verdict.denied("p: unable to evaluate policy:Error: in a module");
    verdict.denied("lib/images.ts:7");
}

#[test]
fn a_module_is_shared_by_the_policies_of_one_request() {
    let policy = |text: &str| {
        format!(
            "import {{ count }} from './lib/images.ts'\nexport default async function () {{ {text} }}\n"
        )
    };
    let gate = gate_with_folder(&[
        ("a.js", &policy("count()")),
        ("b.js", &policy("return 'asked ' + await count()")),
        ("lib/images.ts", IMAGES),
    ]);
    for _ in 0..3 {
        let verdict = gate.ask("/validate", &named("any"));
        assert_eq!(verdict.message(), "b: asked 2");
    }
}

#[test]
fn the_default_export_must_be_a_function() {
    let gate = gate_with_folder(&[("p.js", "export default 7\n")]);
    gate.ask("/validate", &named("any")).denied("p: ");
}

/// What is wrong with a folder of policies.
fn checked(files: &[(&str, &str)]) -> String {
    let folder = Folder::new();
    let config = json!({"policyDirs": ["policies"]});
    folder.write("portcullis.yaml", config.to_string());
    folder.write("outside.js", "export const x = 1\n");
    for (name, text) in files {
        folder.write(&format!("policies/{name}"), text);
    }
    examined(&folder)
}

#[test]
fn faults_are_found_before_anything_runs() {
    assert_eq!(checked(&[("p.js", "export default () => true\n")]), "");
    let other = (
        "other.js",
        "export const known = 1\nexport default () => true\n",
    );
    for (text, place) in [
        ("export const x = 1\n", "p.js"),
        (
            "import { x } from './nowhere.js'\nexport default () => x\n",
            "p.js:1",
        ),
        (
            "import { x } from '../outside.js'\nexport default () => x\n",
            "p.js:1",
        ),
        (
            "import fs from 'node:fs'\nexport default () => fs\n",
            "p.js:1",
        ),
        (
            "\nimport { unknown } from './other.js'\nexport default () => unknown\n",
            "p.js:2",
        ),
        (
            "export const policy = { mode: 'loud' }\nexport default () => true\n",
            "p.js:1",
        ),
        (
            "export const policy = { match: { kinds: [] } }\nexport default () => true\n",
            "p.js:1",
        ),
        (
            "const m = 'warn'\nexport const policy = { mode: m }\nexport default () => true\n",
            "p.js:2",
        ),
        ("export default () => import('./other.js')\n", "p.js:1"),
        ("export default () => true\nreturn 1\n", "p.js:2"),
    ] {
        let said = checked(&[("p.js", text), other]);
        assert!(said.contains(place), "{text}`{place}` is not in: {said}");
    }
}

#[test]
fn two_policies_of_one_name_are_a_fault() {
    let said = checked(&[("p.js", "return true"), ("p.ts", "return true")]);
    assert!(said.contains("`p`"), "{said}");
}
