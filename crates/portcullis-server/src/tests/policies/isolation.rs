//! Nothing of one review is visible to another.

use serde_json::{Value, json};

use crate::tests::harness::{Gate, Verdict};
use portcullis_testing::policies::{fruit, named, native, review_of};

/// Leaves something wherever it can be left, then passes.
const LEAVE: &str = r#"
    if (req.name !== 'leave') return
    const mark = 'left-by-another-review'
    undeclared = mark
    globalThis.onGlobal = mark
    globalThis[Symbol.for('mark')] = mark
    globalThis[7] = mark
    this.onThis = mark
    Function('onFunction = "' + mark + '"')()
    const seen = new Set()
    const visit = (value, depth) => {
      if (value === null || (typeof value !== 'object' && typeof value !== 'function')) return
      if (seen.has(value) || depth > 4 || seen.size > 3000) return
      seen.add(value)
      try { value.mark = mark } catch {}
      try { Object.defineProperty(value, 'defined', { value: mark, configurable: true }) } catch {}
      try { value[Symbol.for('mark')] = mark } catch {}
      try { visit(Object.getPrototypeOf(value), depth + 1) } catch {}
      for (const key of Reflect.ownKeys(value)) {
        const own = Object.getOwnPropertyDescriptor(value, key)
        for (const part of [own && own.value, own && own.get, own && own.set]) {
          try { visit(part, depth + 1) } catch {}
        }
      }
    }
    visit(globalThis, 0)
    for (const value of [function* () {}, async () => {}, async function* () {}, /x/, '', 1n, [][Symbol.iterator](), new Map().entries(), new Proxy({}, {})]) visit(value, 0)
    for (const f of [allow, deny, warn, console.log, atob, btoa, forwardToAdmissionController]) visit(f, 0)
    Array.prototype.push = () => mark
    JSON.stringify = () => mark
    Object.prototype.toString = () => mark
    String.prototype.includes = () => true
    ac.User = mark; req.mark = mark; ac.HTTPRequest.Header.mark = mark
    Math.mark = mark; console.mark = mark
    return 'left'
"#;

/// Looks for what was left.
const LOOK: &str = r#"
    if (req.name !== 'look') return
    const found = []
    const mark = 'left-by-another-review'
    for (const name of ['undeclared', 'onGlobal', 'onThis', 'onFunction']) {
      if (name in globalThis) found.push(name)
    }
    if (globalThis[7] !== undefined || globalThis[Symbol.for('mark')] !== undefined) found.push('odd keys')
    const seen = new Set()
    const visit = (value, path, depth) => {
      if (value === mark) { found.push(path); return }
      if (value === null || (typeof value !== 'object' && typeof value !== 'function')) return
      if (seen.has(value) || depth > 4 || seen.size > 3000) return
      seen.add(value)
      for (const key of ['mark', 'defined', Symbol.for('mark')]) {
        const own = Object.getOwnPropertyDescriptor(value, key)
        if (own !== undefined && own.value === mark) found.push(path + '.' + String(key))
      }
      visit(Object.getPrototypeOf(value), path + '.[[Prototype]]', depth + 1)
      for (const key of Reflect.ownKeys(value)) {
        const own = Object.getOwnPropertyDescriptor(value, key)
        visit(own.value, path + '.' + String(key), depth + 1)
        visit(own.get, path + '.get ' + String(key), depth + 1)
        visit(own.set, path + '.set ' + String(key), depth + 1)
      }
    }
    visit(globalThis, 'globalThis', 0)
    for (const f of [allow, deny, warn, console.log, atob, btoa, forwardToAdmissionController]) visit(f, 'function', 0)
    const list = []
    list.push(1)
    if (list.length !== 1 || JSON.stringify({}) !== '{}' || 'a'.includes('b')) found.push('built-ins')
    if (ac.User !== null || req.mark !== undefined || ac.HTTPRequest.Header.mark !== undefined) found.push('request')
    return 'found ' + found.length + ': ' + found.slice(0, 5).join()
"#;

#[test]
fn nothing_can_be_left_behind() {
    let gate = Gate::start(native(&[("Leave", LEAVE), ("Look", LOOK)]));
    for _ in 0..8 {
        let verdict = gate.ask("/validate", &named("leave"));
        assert_eq!(verdict.message(), "Leave: left");
        for _ in 0..4 {
            let verdict = gate.ask("/validate", &named("look"));
            assert_eq!(verdict.message(), "Look: found 0: ");
        }
    }
}

/// Remembers what it can of a tenant, and says everything it knows.
const TENANTS: &str = r#"
    const mine = object.metadata.labels.tenant
    if (typeof last !== 'undefined') return 'leak: ' + last
    last = mine
    cache = (typeof cache === 'undefined' ? [] : cache).concat(mine)
    object.metadata.labels.seen = mine
    return [mine, req.namespace, req.userInfo.username, ac.HTTPRequest.Header.Get('X-Tenant'), cache.join('+'),
      oldObject === null ? 'none' : oldObject.metadata.labels.tenant].join('|')
"#;

#[test]
fn tenants_never_see_each_other() {
    const THREADS: usize = 8;
    const REQUESTS: usize = 30;
    let gate = Gate::start(native(&[("P", TENANTS)]));
    let gate = &gate;
    std::thread::scope(|scope| {
        let clients: Vec<_> = (0..THREADS)
            .map(|n| {
                scope.spawn(move || {
                    let mut connection = gate.connect();
                    for request in 0..REQUESTS {
                        let tenant = format!("tenant-{}-{request}", n % 2);
                        let mut object: Value = fruit();
                        object["metadata"]["labels"]["tenant"] = tenant.as_str().into();
                        let review = review_of(&object)
                            .set("namespace", tenant.as_str())
                            .set("oldObject", object.clone())
                            .set("userInfo", json!({"username": tenant}));
                        let bytes = crate::tests::harness::request(
                            "POST",
                            "/validate",
                            &[("X-Tenant", &tenant)],
                            review.text().as_bytes(),
                        );
                        connection.send(&bytes).unwrap();
                        let verdict = Verdict::of(&connection.receive().unwrap(), &review);
                        let wanted = [tenant.as_str(); 6].join("|");
                        assert_eq!(verdict.message(), format!("P: {wanted}"));
                    }
                })
            })
            .collect();
        for client in clients {
            client.join().unwrap();
        }
    });
}

#[test]
fn a_review_can_not_change_another_one_under_way() {
    let code = "const before = JSON.stringify(object); await null; return before === JSON.stringify(object)";
    let gate = Gate::start(native(&[("P", code)]));
    std::thread::scope(|scope| {
        for n in 0..4 {
            let gate = &gate;
            scope.spawn(move || {
                for _ in 0..20 {
                    let review = named(&format!("n{n}"));
                    let answer = gate.post("/validate", &review.value());
                    Verdict::of(&answer, &review).allowed();
                }
            });
        }
    });
}
