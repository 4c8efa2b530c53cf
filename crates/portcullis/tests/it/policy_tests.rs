//! `portcullis test`: tests of policies, in YAML and in JavaScript.

mod cases;
mod coverage;
mod documentation;
mod faults;
mod kube;
mod outputs;
mod scripts;
mod update;

use serde_json::{Value, json};

use crate::harness::{Folder, run_in};

/// What `test` answered.
#[derive(Debug)]
struct Tested {
    code: Option<i32>,
    value: Value,
    err: String,
}

impl Tested {
    /// Name and outcome of each test.
    fn outcomes(&self) -> Vec<(&str, &str)> {
        let results = self.value["results"].as_array().unwrap().iter();
        results
            .map(|r| (r["name"].as_str().unwrap(), r["outcome"].as_str().unwrap()))
            .collect()
    }

    /// The failures of the test of this name, as text.
    fn failures(&self, name: &str) -> Vec<&str> {
        let results = self.value["results"].as_array().unwrap();
        let result = results.iter().find(|r| r["name"] == name).expect(name);
        let failures = result["failures"].as_array().unwrap().iter();
        failures.map(|f| f["message"].as_str().unwrap()).collect()
    }
}

/// Runs `test -o json` in a folder.
#[track_caller]
fn test(folder: &Folder, arguments: &[&str]) -> Tested {
    let ran = run_in(folder, &[&["test", "-o", "json"], arguments].concat());
    let value = serde_json::from_str(&ran.out)
        .unwrap_or_else(|e| panic!("{arguments:?}: {e}: {}{}", ran.out, ran.err));
    Tested {
        code: ran.code,
        value,
        err: ran.err,
    }
}

/// A pod with this image.
fn pod(name: &str, image: &str) -> Value {
    json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name},
        "spec": {"containers": [{"name": "c", "image": image}]}})
}

/// A folder with a few policies, and no tests yet.
fn folder() -> Folder {
    let folder = Folder::new();
    folder.write(
        "portcullis.yaml",
        "policyDirs: [policies]\ndefaultAction: allow\nnamespaces: [{name: shop}]\n",
    );
    folder.write(
        "policies/lib/images.ts",
        "export function isPinned(image: string): boolean {\n  if (image.includes(\"@\")) return true;\n  \
         return !image.endsWith(\":latest\");\n}\n",
    );
    folder.write(
        "policies/no-latest.ts",
        "import { isPinned } from \"./lib/images.ts\";\n\
         export default function () {\n  for (const c of object.spec?.containers ?? []) {\n    \
         if (!isPinned(c.image)) deny(\"pin a version\");\n  }\n}\n",
    );
    folder.write(
        "policies/owner.js",
        "if (req.operation === 'CREATE') {\n  object.metadata.labels = {owner: req.userInfo.username}\n  \
         warn('owned by ' + req.userInfo.username)\n}\n",
    );
    folder
}

fn cases(folder: &Folder, name: &str, cases: &Value) {
    folder.write(name, json!({"tests": cases}).to_string());
}
