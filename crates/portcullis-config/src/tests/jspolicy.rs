//! Policies of jsPolicy in policy folders.

use portcullis_js::PolicyCode;
use serde_json::json;

use super::with_head;

const HEAD: &str = "apiVersion: policy.jspolicy.com/v1beta1\nkind: JsPolicy\n";

/// The fault of a policy whose `spec` has these lines, from line 4.
fn fault(spec: &str) -> String {
    let text = format!("{HEAD}metadata: {{name: p}}\nspec:\n{spec}");
    let setup = with_head("policyDirs: [policies]\n");
    setup.file("policies/p.yaml", &text).fault()
}

/// What a `spec` in one line needs besides.
fn with(more: &str) -> String {
    format!("  operations: [CREATE]\n  resources: [pods]\n  javascript: exit()\n  {more}\n")
}

#[test]
fn a_file_has_any_number_of_policies() {
    let first = "metadata: {name: a.example.com, labels: {x: y}}\nspec:\n  operations: [CREATE, UPDATE]\n  \
                 resources: [pods, deployments/scale]\n  apiGroups: [apps, '', '*']\n  apiVersions: [v1]\n  scope: Namespaced\n  \
                 objectSelector: {matchLabels: {app: web}}\n  violationPolicy: Warn\n  type: Mutating\n  javascript: |\n    mutate(request.object)\n    \
                 // ---\n";
    let second = "metadata: {name: b}\nspec: {operations: ['*'], resources: ['*'], scope: '*', violationPolicy: Dry, \
                  javascript: allow(), dependencies: {}}\nstatus: {bundleHash: x}\n";
    let text = format!("# A comment.\n---\n{HEAD}{first}---\n{HEAD}{second}");
    let setup = with_head("policies: [{name: mine, code: return}]\npolicyDirs: [policies]\n");
    let setup = setup.file("policies/10-shop.yaml", &text);
    let loaded = setup
        .file(
            "policies/20-own.yaml",
            "policies: [{name: own, code: return}]\n",
        )
        .loaded();
    let [_, a, b, own] = loaded.policies.list.as_slice() else {
        panic!("{:?}", loaded.policies.list)
    };
    assert_eq!(
        (a.name.as_str(), a.mode.as_str()),
        ("a.example.com", "warn")
    );
    assert_eq!(
        a.matcher.described(),
        json!({"doors": ["kubernetes"], "operations": ["CREATE", "UPDATE"], "scope": "Namespaced", "labels": {"app": "web"},
            "resources": ["pods.v1.apps", "pods.v1", "pods.v1.*",
                "deployments.v1.apps/scale", "deployments.v1/scale", "deployments.v1.*/scale"]})
    );
    let PolicyCode::JsPolicy(code) = &a.code else {
        panic!("{:?}", a.code)
    };
    assert_eq!(code, "mutate(request.object)\n// ---\n");
    assert!(
        a.text.place().ends_with("10-shop.yaml:16"),
        "{}",
        a.text.place()
    );
    assert_eq!((b.name.as_str(), b.mode.as_str()), ("b", "dry-run"));
    assert_eq!(b.matcher.described()["resources"], json!(["*"]));
    assert_eq!(b.matcher.described().get("scope"), None);
    assert_eq!(own.name, "own");
    assert_eq!(loaded.warnings.len(), 0, "{:?}", loaded.warnings);
}

#[test]
fn what_says_when_a_policy_decides_is_not_ignored() {
    for (spec, wanted) in [
        (
            "  resources: [pods]\n  javascript: exit()\n",
            "p.yaml:5:3: spec: the key `operations` is missing",
        ),
        (
            "  operations: [CREATE]\n  javascript: exit()\n",
            "p.yaml:5:3: spec: the key `resources` is missing",
        ),
        (
            "  operations: [CREATE]\n  resources: [pods]\n",
            "p.yaml:5:3: spec: the key `javascript` is missing; policies of a \
            JsPolicyBundle are not supported",
        ),
        (
            &with("type: Controller"),
            "p.yaml:8:9: spec.type: controller policies are not supported",
        ),
        (
            &with("violationPolicy: Never"),
            "p.yaml:8:20: spec.violationPolicy: unknown value `Never`: expected Deny, Warn or Dry",
        ),
        (
            &with("namespaceSelector: {matchLabels: {a: b}}"),
            "p.yaml:8:3: spec.namespaceSelector: `namespaceSelector` is not supported: look the namespace up \
            in `javascript`, with `get(\"Namespace\", \"v1\", request.namespace)`",
        ),
        (
            &with("objectSelector: {matchExpressions: [{key: a, operator: In}]}"),
            "p.yaml:8:39: \
            spec.objectSelector.matchExpressions[0]: invalid requirement: expected `key`, `operator: In` or \
            `NotIn` with `values`, or `operator: Exists` or `DoesNotExist` without",
        ),
        (
            &with("dependencies: {lodash: 1.0.0}"),
            "p.yaml:8:17: spec.dependencies: npm packages are not supported: bundle them \
            into `javascript`",
        ),
        (
            &with("scope: All"),
            "p.yaml:8:10: spec.scope: unknown scope `All`: expected Namespaced or Cluster",
        ),
        (
            "  operations: [MAKE]\n  resources: [pods]\n  javascript: exit()\n",
            "p.yaml:5:16: spec.operations[0]: unknown operation \
            `MAKE`: expected CREATE, UPDATE, DELETE or CONNECT",
        ),
        (
            "  operations: [CREATE]\n  resources: [Pod]\n  javascript: exit()\n",
            "p.yaml:6:14: spec.resources: invalid resource `Pod`: \
            expected the plural in lower case, like `pods`, `deployments.apps`, `deployments.v1.apps` or `pods/exec`",
        ),
    ] {
        assert_eq!(fault(spec).replace("policies/", ""), wanted, "{spec}");
    }
    let unknown = fault(&with("operation: [CREATE]"));
    assert!(
        unknown.contains("p.yaml:8:3: spec.operation: unknown key, did you mean `operations`?"),
        "{unknown}"
    );
    let module =
        fault("  operations: [CREATE]\n  resources: [pods]\n  javascript: import x from 'y'\n");
    assert!(
        module.contains("only a policy in a file of its own can import"),
        "{module}"
    );
}

#[test]
fn expressions_over_labels_of_the_object_are_a_part_of_match() {
    let spec =
        with("objectSelector: {matchExpressions: [{key: env, operator: NotIn, values: [dev]}]}");
    let text = format!("{HEAD}metadata: {{name: p}}\nspec:\n{spec}");
    let setup = with_head("policyDirs: [policies]\n").file("policies/p.yaml", &text);
    let loaded = setup.loaded();
    let matcher = &loaded.policies.list[0].matcher;
    assert!(matcher.looks_at_labels());
    assert_eq!(
        matcher.described()["labelExpressions"],
        json!([{"key": "env", "operator": "NotIn", "values": ["dev"]}])
    );
}

#[test]
fn other_objects_in_the_file_are_faults() {
    let text = format!(
        "{HEAD}metadata: {{name: p}}\nspec:\n{}---\napiVersion: v1\nkind: Pod\n",
        with("")
    );
    let setup = with_head("policyDirs: [policies]\n").file("policies/p.yaml", &text);
    assert_eq!(
        setup.fault(),
        "policies/p.yaml:11:7: kind: expected `kind: JsPolicy` of `apiVersion: policy.jspolicy.com/v1beta1`"
    );
}

#[test]
fn what_only_says_how_a_webhook_is_called_is_ignored_with_a_warning() {
    let spec = with("timeoutSeconds: 5\n  failurePolicy: Ignore");
    let text = format!("{HEAD}metadata: {{name: p}}\nspec:\n{spec}");
    let setup = with_head("policyDirs: [policies]\n").file("policies/p.yaml", &text);
    let warnings = setup.loaded().warnings;
    let [warning] = warnings.as_slice() else {
        panic!("{warnings:?}")
    };
    assert!(
        warning.ends_with(
            "p.yaml:9:18: spec.failurePolicy: policy `p`: failurePolicy, timeoutSeconds are ignored: not supported for a single policy"
        ),
        "{warning:?}"
    );
}

#[test]
fn another_text_of_a_policy_stays_one_of_jspolicy() {
    let text = format!("{HEAD}metadata: {{name: p}}\nspec:\n{}", with(""));
    let setup = with_head("policyDirs: [policies]\n").file("policies/p.yaml", &text);
    let after = setup.loaded().policies.with_text("p", "allow()").unwrap();
    assert_eq!(
        after.list[0].code,
        PolicyCode::JsPolicy("allow()".to_owned())
    );
}
