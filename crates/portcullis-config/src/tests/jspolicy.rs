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
                 objectSelector: {matchLabels: {app: web}}\n  namespaceSelector: {matchExpressions: [{key: env, operator: Exists}]}\n  \
                 matchPolicy: Exact\n  failurePolicy: Fail\n  reinvocationPolicy: Never\n  auditPolicy: Log\n  violationPolicy: Warn\n  type: Mutating\n  javascript: |\n    mutate(request.object)\n    \
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
        json!({"doors": ["kubernetes"], "operations": ["CREATE", "UPDATE"], "scope": "Namespaced",
            "objectSelector": {"matchLabels": {"app": "web"}}, "matchPolicy": "Exact",
            "namespaceSelector": {"matchExpressions": [{"key": "env", "operator": "Exists"}]},
            "resources": ["pods.v1.apps", "pods.v1", "pods.v1.*",
                "deployments.v1.apps/scale", "deployments.v1/scale", "deployments.v1.*/scale"]})
    );
    let PolicyCode::JsPolicy(code) = &a.code else {
        panic!("{:?}", a.code)
    };
    assert_eq!(code, "mutate(request.object)\n// ---\n");
    assert!(
        a.text.place().ends_with("10-shop.yaml:21"),
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
            &with("namespaceSelector: {matchExpressions: [{key: a, operator: Has}]}"),
            "p.yaml:8:42: \
            spec.namespaceSelector.matchExpressions[0]: invalid requirement: expected `key`, `operator: In` or \
            `NotIn` with `values`, or `operator: Exists` or `DoesNotExist` without",
        ),
        (
            &with("matchPolicy: Nearly"),
            "p.yaml:8:16: spec.matchPolicy: unknown value `Nearly` (known values: Equivalent, Exact)",
        ),
        (
            &with("failurePolicy: Deny"),
            "p.yaml:8:18: spec.failurePolicy: unknown value `Deny` (known values: Fail, Ignore)",
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
fn what_is_decided_elsewhere_is_ignored_with_a_warning_that_says_where() {
    let spec = with(
        "timeoutSeconds: 5\n  failurePolicy: Ignore\n  reinvocationPolicy: IfNeeded\n  \
        auditPolicy: Skip\n  auditLogSize: 3",
    );
    let text = format!("{HEAD}metadata: {{name: p}}\nspec:\n{spec}");
    let setup = with_head("policyDirs: [policies]\n").file("policies/p.yaml", &text);
    let mut warnings = setup.loaded().warnings.into_iter();
    for (line, key, instead) in [
        (9, "failurePolicy", "set it in the registration"),
        (10, "reinvocationPolicy", "set it in the registration"),
        (8, "timeoutSeconds", "`limits.deadline` is for all"),
        (11, "auditPolicy", "the decision log has every decision"),
        (12, "auditLogSize", "the decision log has every decision"),
    ] {
        let warning = warnings.next().unwrap().to_string();
        let place = format!("p.yaml:{line}:");
        let said = format!("spec.{key}: policy `p`: ignored: {instead}");
        assert!(
            warning.contains(&place) && warning.contains(&said),
            "{warning}"
        );
    }
    assert_eq!(warnings.next(), None);
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
