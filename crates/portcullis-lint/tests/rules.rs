//! Each rule but `unknown-field`, by an example of what it finds and of what it leaves alone.

mod support;

use portcullis_core::{Door, Operation};
use portcullis_lint::Scope;
use portcullis_script::Language;
use support::{findings, of, place};

fn js(scope: Scope, code: &str) -> Vec<String> {
    findings(scope, Language::JavaScript, code)
}

fn places(scope: Scope, code: &str) -> Vec<String> {
    js(scope, code)
        .iter()
        .map(|one| place(one).to_owned())
        .collect()
}

fn on(operations: &[Operation], kinds: &[&str]) -> Scope {
    Scope {
        operations: Some(operations.to_vec()),
        ..of(kinds)
    }
}

/// Code with an effect, for policies whose `match` matters.
const DENIES: &str = "deny('x')";

#[test]
fn kinds_that_kubernetes_does_not_have() {
    for (kind, fix) in [
        ("Pods", Some("did you mean `Pod`?")),
        ("deployment", Some("did you mean `apps/Deployment`?")),
        ("apps/Pod", Some("did you mean `Pod`?")),
        (
            "apps/v2/Deployment",
            Some("did you mean `apps/v1/Deployment`?"),
        ),
        (
            "apps/v1beta1/Deployment",
            Some("did you mean `apps/v1/Deployment`?"),
        ),
        (
            "extensions/Ingress",
            Some("did you mean `networking.k8s.io/Ingress`?"),
        ),
        ("v1/Deployment", Some("did you mean `apps/Deployment`?")),
        ("PodList", Some("did you mean `Pod`?")),
        (
            "Xyzzy",
            Some("for a custom kind write its group: `example.org/Xyzzy`"),
        ),
        ("Pod", None),
        ("*", None),
        ("apps/*", None),
        ("v1/Pod", None),
        ("batch/v1/CronJob", None),
        ("PodExecOptions", None),
        ("autoscaling/Scale", None),
        ("cert-manager.io/Certificate", None),
        ("cert-manager.io/v1/Certificate", None),
        (
            "*/Certificate",
            Some("for a custom kind write its group: `example.org/Certificate`"),
        ),
    ] {
        let found = js(of(&[kind]), DENIES);
        match fix {
            None => assert_eq!(found, [""; 0], "{kind}"),
            Some(fix) => {
                assert_eq!(found.len(), 1, "{kind}: {found:?}");
                assert!(found[0].starts_with("unknown-kind kinds[0] "), "{found:?}");
                if kind != "PodList" && kind != "*/Certificate" {
                    assert!(found[0].ends_with(fix), "{kind}: {found:?}");
                }
            }
        }
    }
}

#[test]
fn tests_for_a_kind_that_match_excludes() {
    let scope = || of(&["Pod", "apps/Deployment"]);
    for (code, wanted) in [
        (
            "if (object.kind === 'Service') return 'x'",
            "excluded-kind 1:21",
        ),
        (
            "if ('Service' != req.kind.kind) return 'x'",
            "excluded-kind 1:5",
        ),
        (
            "if (req.Kind.Kind == `Service`) return 'x'",
            "excluded-kind 1:22",
        ),
        (
            "switch (object.kind) { case 'Pod': return 'x'; case 'Service': return 'y' }",
            "excluded-kind 1:53",
        ),
        (
            "if (['Pod', 'Deploymnet'].includes(object.kind)) return 'x'",
            "excluded-kind 1:13",
        ),
        (
            "const { kind } = object; if (kind === 'Service') return 'x'",
            "excluded-kind 1:39",
        ),
        ("if (object.kind === 'Pod') return 'x'", ""),
        (
            "if (object.spec.kind === 'x' && '?') return 'y'",
            "unknown-field 1:17",
        ),
    ] {
        let found = places(scope(), code);
        let wanted: &[&str] = if wanted.is_empty() { &[] } else { &[wanted] };
        assert_eq!(found, wanted, "{code}");
    }
    assert_eq!(
        places(of(&[]), "if (object.kind === 'pods') return 'x'"),
        ["unknown-kind 1:21"]
    );
    assert_eq!(
        places(of(&[]), "if (object.kind === 'Certificate') return 'x'"),
        [""; 0]
    );
}

#[test]
fn operations_that_never_come() {
    let scope = || on(&[Operation::Create, Operation::Update], &["Pod"]);
    let code = "if (req.operation === 'DELETE') return 'x'";
    assert_eq!(places(scope(), code), ["excluded-operation 1:23"]);
    let code = "if (req.operation === 'CREATE') return 'x'";
    assert_eq!(places(scope(), code), [""; 0]);
    let code = "if (req.Operation === 'create') return 'x'";
    let found = js(of(&[]), code);
    assert_eq!(
        found,
        [
            "excluded-operation 1:23 no operation is named `create`, so this never holds, did you mean `CREATE`?"
        ]
    );
}

#[test]
fn objects_that_are_always_null() {
    use Operation::{Connect, Create, Delete, Update};
    for (operations, code, wanted) in [
        (
            vec![Delete],
            "if (object.metadata.name) return 'x'",
            "null-object 1:12",
        ),
        (
            vec![Delete],
            "if (object?.metadata.name) return 'x'",
            "null-object 1:13",
        ),
        (
            vec![Create, Connect],
            "const { metadata } = oldObject; if (metadata.name) return 'x'",
            "null-object 1:9",
        ),
        (
            vec![Create],
            "if (req.oldObject.metadata.name) return 'x'",
            "null-object 1:19",
        ),
        (
            vec![Create, Delete],
            "if (req.operation === 'DELETE' && object.metadata.name) return 'x'",
            "null-object 1:42",
        ),
        (
            vec![Create, Delete],
            "if (req.operation === 'DELETE' && oldObject.metadata.name) return 'x'",
            "",
        ),
        (vec![Delete], "if (oldObject.metadata.name) return 'x'", ""),
        (
            vec![Delete],
            "if (object && object.metadata.name) return 'x'",
            "",
        ),
        (
            vec![Delete],
            "if ((object ?? oldObject).metadata.name) return 'x'",
            "",
        ),
        (
            vec![Create, Update],
            "if (oldObject.metadata.name) return 'x'",
            "",
        ),
        (
            vec![Create],
            "if (oldObject !== null) deny(oldObject.metadata.name)\nreturn 'x'",
            "",
        ),
    ] {
        let found = places(on(&operations, &["Secret"]), code);
        let wanted: &[&str] = if wanted.is_empty() { &[] } else { &[wanted] };
        assert_eq!(found, wanted, "{code}");
    }
}

#[test]
fn a_match_that_no_request_fulfils() {
    let with = |change: fn(&mut Scope)| {
        let mut scope = of(&[]);
        change(&mut scope);
        places(scope, DENIES)
    };
    for (found, wanted) in [
        (
            with(|scope| scope.namespaces = Some(vec!["Prod-*".into()])),
            "impossible-match namespaces[0]",
        ),
        (
            with(|scope| scope.namespaces = Some(vec!["a".into(), "a/b".into()])),
            "impossible-match namespaces[1]",
        ),
        (
            with(|scope| scope.paths = Some(vec!["mutate/*".into()])),
            "impossible-match paths[0]",
        ),
        (
            with(|scope| {
                scope.paths = Some(vec!["/reviews/*".into()]);
                scope.has_own_paths = true;
            }),
            "impossible-match paths[0]",
        ),
        (
            with(|scope| {
                scope.kinds = Some(vec!["Node".into()]);
                scope.namespaces = Some(vec!["prod-*".into()]);
            }),
            "impossible-match kinds[0]",
        ),
        (
            with(|scope| {
                scope.kinds = Some(vec!["Pod".into()]);
                scope.doors = vec![Door::Ci];
            }),
            "impossible-match kinds[0]",
        ),
        (
            with(|scope| {
                scope.selects_namespaces = true;
                scope.doors = vec![Door::Ci];
            }),
            "impossible-match namespaceSelector",
        ),
    ] {
        assert_eq!(found, [wanted]);
    }
    for found in [
        with(|scope| scope.namespaces = Some(vec!["prod-*".into(), "**".into(), "a?1".into()])),
        with(|scope| scope.paths = Some(vec!["/reviews/*".into(), "*".into()])),
        with(|scope| {
            scope.paths = Some(vec![
                "/mutate/shop/**".into(),
                "/*".into(),
                "/va*".into(),
                "/admit".into(),
            ]);
            scope.has_own_paths = true;
        }),
        with(|scope| {
            scope.kinds = Some(vec!["Namespace".into(), "Pod".into()]);
            scope.namespaces = Some(vec!["prod-*".into()]);
        }),
        with(|scope| {
            scope.namespaces = Some(vec!["group/Project".into()]);
            scope.doors = vec![Door::Ci];
        }),
    ] {
        assert_eq!(found, [""; 0]);
    }
}

#[test]
fn containers_that_are_forgotten() {
    let tests = "for (const c of object.spec.containers) if (c.image.includes('x')) return 'x'";
    assert_eq!(
        js(of(&["Pod"]), tests),
        [
            "forgotten-containers 1:29 `image` of `containers` is tested, but not that of `initContainers` and `ephemeralContainers`, test all of them: `[...spec.containers, ...(spec.initContainers ?? []), ...(spec.ephemeralContainers ?? [])]`"
        ]
    );
    let created = on(&[Operation::Create], &["Pod"]);
    assert!(js(created, tests)[0].contains("that of `initContainers`, test"));
    let template = "const { containers } = object.spec.template.spec\nif (containers.some(c => c.securityContext?.privileged)) return 'x'";
    assert_eq!(
        places(of(&["apps/Deployment"]), template),
        ["forgotten-containers 1:9"]
    );
    // A policy without kinds that looks as if it were for pods.
    assert_eq!(places(of(&[]), tests), ["forgotten-containers 1:29"]);
    for code in [
        "for (const c of object.spec.containers) if (!c.name) return 'x'",
        "const s = object.spec; for (const c of [...s.containers, ...(s.initContainers ?? []), ...(s.ephemeralContainers ?? [])]) if (c.image) return 'x'",
        "if (object.spec.containers.length > 3) return 'x'",
    ] {
        assert_eq!(places(of(&["Pod"]), code), [""; 0], "{code}");
    }
    let jobs = Scope {
        doors: vec![Door::Ci],
        ..Scope::default()
    };
    assert_eq!(places(jobs, tests), [""; 0]);
}

#[test]
fn comparisons_that_always_have_the_same_result() {
    for (code, is_found) in [
        (
            "if (object.metadata.name.includes('x') === 'x') return 'x'",
            true,
        ),
        (
            "if (object.metadata.name.startsWith('x') == 'yes') return 'x'",
            true,
        ),
        ("if (!object.metadata.name === 'x') return 'x'", true),
        ("if (object.metadata.generation == NaN) return 'x'", true),
        (
            "if (Number.NaN !== object.metadata.generation) return 'x'",
            true,
        ),
        (
            "if (typeof object.metadata.name === 'text') return 'x'",
            true,
        ),
        ("if (object.spec.hostNetwork === 'true') return 'x'", true),
        ("if (object.metadata.generation === '1') return 'x'", true),
        ("if (object.spec.volumes === 'x') return 'x'", true),
        (
            "switch (typeof object.spec) { case 'sting': return 'x' }",
            true,
        ),
        ("if (object.metadata.generation == '1') return 'x'", false),
        ("if (object.spec.hostNetwork == '1') return 'x'", false),
        (
            "if (object.metadata.name === undefined || object.metadata.name == null) return 'x'",
            false,
        ),
        ("if (object.metadata.labels.a === 'true') return 'x'", false),
        ("if (object.spec.volumes == 'x') return 'x'", false),
        (
            "if ((object.metadata.name.length > 3) === (req.name.length > 3)) return 'x'",
            false,
        ),
        ("if (typeof object.spec === 'object') return 'x'", false),
        (
            "const NaN = 1; if (object.metadata.generation === NaN) return 'x'",
            false,
        ),
    ] {
        let found = places(of(&["Pod"]), code);
        let is_it = found
            .iter()
            .any(|one| one.starts_with("constant-comparison "));
        assert_eq!(
            (is_it, found.len()),
            (is_found, usize::from(is_found)),
            "{code}: {found:?}"
        );
    }
}

#[test]
fn conditions_that_assign() {
    for (code, count) in [
        ("let a; if (a = req.name) return 'x'", 1),
        ("let a; if (req.name && (a = 1)) return 'x'", 0),
        ("let a; while (a = req.name) return 'x'", 1),
        ("let a; return (a = 1) ? 'x' : 'y'", 0),
        ("let a; if ((a = req.name)) return 'x'", 0),
        ("let a = 1; if (a ||= req.name) return 'x'", 0),
        ("let a; for (; a = req.name;) return 'x'", 1),
    ] {
        let found = places(of(&["Pod"]), code);
        assert_eq!(found.len(), count, "{code}: {found:?}");
        assert!(
            found
                .iter()
                .all(|one| one.starts_with("assignment-in-condition ")),
            "{found:?}"
        );
    }
}

#[test]
fn verdicts_that_are_none() {
    for (code, wanted) in [
        ("return 5", "meaningless-return 1:8"),
        (
            "if (req.name) return {denied: true}\nreturn 'x'",
            "meaningless-return 1:22",
        ),
        (
            "if (req.name) return []\nreturn 'x'",
            "meaningless-return 1:22",
        ),
        ("return req.name ? 'x' : 0", "meaningless-return 1:25"),
        (
            "export default () => 5\nfunction f() { deny('x') }",
            "meaningless-return 1:22",
        ),
        ("const f = () => { return {a: 1} }; return f().a || 'x'", ""),
        ("return req.name ? null : undefined, 'x'", ""),
        ("deny", "uncalled-verdict 1:1"),
        (
            "if (req.name) return deny\nreturn 'x'",
            "uncalled-verdict 1:22",
        ),
        ("req.name && warn; deny('x')", "uncalled-verdict 1:13"),
        (
            "object.spec.volumes.forEach(v => warn)\ndeny('x')",
            "uncalled-verdict 1:34",
        ),
        ("[req.name].forEach(warn)", ""),
        ("const d = deny; d('x')", ""),
        ("const warn = 1; return `${warn}`", ""),
    ] {
        let found = places(of(&["Pod"]), code);
        let found: Vec<&str> = found
            .iter()
            .map(String::as_str)
            .filter(|one| !one.starts_with("no-effect"))
            .collect();
        let wanted: &[&str] = if wanted.is_empty() { &[] } else { &[wanted] };
        assert_eq!(found, wanted, "{code}");
    }
}

#[test]
fn policies_without_an_effect() {
    for (code, is_found) in [
        ("if (object.spec.hostNetwork) return", true),
        ("console.log(object.metadata.name)", true),
        (
            "const bad = object.spec.volumes.some(v => v.hostPath)",
            true,
        ),
        ("export default () => undefined", true),
        (
            "export const policy = {}\nexport default function () { return }",
            true,
        ),
        ("return object.spec.hostNetwork", false),
        ("object.spec.hostNetwork = false", false),
        ("delete object.spec.hostNetwork", false),
        ("object.metadata.finalizers.push('x')", false),
        ("warn('x')", false),
        ("cosignVerify('k')", false),
        ("if (object.spec.hostNetwork) throw new Error('x')", false),
        ("ac.GlobalContext.seen = 1", false),
        ("export default () => req.name", false),
        (
            "import check from './lib/a.js'\nexport default check",
            false,
        ),
        ("check()", false),
    ] {
        let found = places(of(&["Pod"]), code);
        let is_it = found.iter().any(|one| one.starts_with("no-effect "));
        assert_eq!(is_it, is_found, "{code}: {found:?}");
    }
}

#[test]
fn imports_and_code_that_are_not_used() {
    let code = "import a, { b as c, d } from './x.js'\nimport * as e from './y.js'\nexport default () => deny(d)";
    assert_eq!(
        places(of(&["Pod"]), code),
        [
            "unused-import 1:8",
            "unused-import 1:18",
            "unused-import 2:13"
        ]
    );
    for (code, wanted) in [
        ("return 'x'\nwarn('y')", "unreachable-code 2:1"),
        ("deny('x'); warn('y'); warn('z')", "unreachable-code 1:12"),
        (
            "if (req.name) { allow(); object.metadata.name = 'x' }\nreturn 'x'",
            "unreachable-code 1:26",
        ),
        (
            "for (const v of []) { continue; warn(v) }\nreturn 'x'",
            "unreachable-code 1:33",
        ),
        ("throw new Error('x'); return 'y'", "unreachable-code 1:23"),
        (
            "switch (req.name) { case 'a': return 'x'; break; case 'b': return 'y'; warn('z'); break }",
            "unreachable-code 1:72",
        ),
        (
            "export default function () { return 'x'; warn('y') }",
            "unreachable-code 1:42",
        ),
        ("return f()\nfunction f() { return 'x' }\nvar a", ""),
        ("const deny = f => f; deny('x'); return 'y'", ""),
        ("if (req.name) deny('x')\nwarn('y')", ""),
    ] {
        let found = places(of(&["Pod"]), code);
        let wanted: &[&str] = if wanted.is_empty() { &[] } else { &[wanted] };
        assert_eq!(found, wanted, "{code}");
    }
}

#[test]
fn types_are_uses() {
    let code = "import { type A, b } from './x.ts'\nexport default (): A => b()";
    assert_eq!(findings(of(&["Pod"]), Language::TypeScript, code), [""; 0]);
}

#[test]
fn kinds_that_the_configuration_does_not_let_policies_look_up() {
    let found = js(
        of(&["Pod"]),
        "if (kube.get('v1', 'ConfigMaps', 'n', 'm')) return 'no'",
    );
    assert_eq!(
        found,
        [
            "unwatched-kind 1:20 `kube.kinds` does not contain `v1/ConfigMaps`, so this always fails, did you mean `v1/ConfigMap`?"
        ]
    );
    let found = js(
        of(&["Pod"]),
        "return kube.list('apps/v1', 'Deployment').length > 3",
    );
    assert_eq!(
        found,
        [
            "unwatched-kind 1:29 `kube.kinds` does not contain `apps/v1/Deployment`, so this always fails, add `apps/v1/Deployment` to the key `kube.kinds` of the configuration"
        ]
    );
    for fine in [
        "return kube.get('v1', 'ConfigMap', 'n', 'm') === null",
        "return kube.get('v1', req.kind.kind, 'n', 'm') === null",
        "const kube = { get: (a, b) => a }; return kube.get('v1', 'Secret') === 'x'",
        "return object.metadata.kube.get('v1', 'Secret') === 'x'",
    ] {
        let found = js(of(&[]), fine);
        assert!(
            !found.iter().any(|one| one.contains("unwatched")),
            "{found:?}"
        );
    }
}

/// A policy of jsPolicy: for these resources.
fn on_resources(resources: &[&str]) -> Scope {
    Scope {
        resources: Some(resources.iter().map(|&one| one.to_owned()).collect()),
        ..of(&[])
    }
}

#[test]
fn resources_say_which_kinds_come() {
    for (resources, code, wanted) in [
        (
            vec!["pods"],
            "if (request.object.spec.hostPid) deny('x')",
            vec!["unknown-field 1:25"],
        ),
        (
            vec!["pods", "deployments.apps"],
            "if (request.object.spec.replicas > 1) deny('x')",
            vec![],
        ),
        (
            vec!["pods"],
            "if (request.object.kind === 'Service') deny('x')",
            vec!["excluded-kind 1:29"],
        ),
        (
            vec!["pods/exec"],
            "if (object.command.includes('sh')) deny('x')",
            vec![],
        ),
        (vec!["*"], "if (object.spec.hostPid) deny('x')", vec![]),
        (
            vec!["certificates.cert-manager.io"],
            "if (object.kind === 'Certificate') deny('x')",
            vec![],
        ),
    ] {
        assert_eq!(places(on_resources(&resources), code), wanted, "{code}");
    }
}

#[test]
fn resources_that_kubernetes_does_not_have() {
    for (resource, fix) in [
        ("pod", Some("did you mean `pods`?")),
        ("deployment", Some("did you mean `deployments`?")),
        ("pods.apps", Some("did you mean `pods`?")),
        (
            "ingresses.extensions",
            Some("did you mean `ingresses.networking.k8s.io`?"),
        ),
        (
            "xyzzies",
            Some("for a custom resource write its group: `xyzzies.example.org`"),
        ),
        ("pods/exec", None),
        ("*/scale", None),
        ("certificates.cert-manager.io", None),
    ] {
        let found = js(on_resources(&[resource]), DENIES);
        match fix {
            None => assert_eq!(found, [""; 0], "{resource}"),
            Some(fix) => {
                assert_eq!(found.len(), 1, "{resource}: {found:?}");
                assert!(
                    found[0].starts_with("unknown-kind resources[0] "),
                    "{found:?}"
                );
                assert!(found[0].ends_with(fix), "{resource}: {found:?}");
            }
        }
    }
    // As jsPolicy's `apiGroups` combine them.
    let combined = ["pods.", "pods.apps", "deployments.", "deployments.apps"];
    assert_eq!(js(on_resources(&combined), DENIES), [""; 0]);
}

#[test]
fn types_hide_no_containers() {
    let on_creation = || on(&[Operation::Create], &["Pod"]);
    for code in [
        "if (object.spec.containers.some((c: C) => c.image === 'x')) return 'x'",
        "for (const c of object.spec.containers as { image: string }[]) if (c.image) return 'x'",
        "const all: C[] = object.spec.containers; if (all.every(c => c.image)) return 'x'",
        "const { containers }: Spec = object.spec; for (const c of containers) if (c.securityContext) return 'x'",
    ] {
        let found = findings(on_creation(), Language::TypeScript, code);
        let rules: Vec<&str> = found
            .iter()
            .map(|one| one.split(' ').next().unwrap())
            .collect();
        assert_eq!(rules, ["forgotten-containers"], "{code}");
    }
    // Everything else believes them.
    let code = "return (object.spec as Other).other === 'x'";
    assert_eq!(findings(on_creation(), Language::TypeScript, code), [""; 0]);
}
