//! Nothing survives an evaluation but the `GlobalContext`. One thread, so that the realm is the same.

use portcullis_js::{PolicyVerdict, Pool, PoolOptions};
use serde_json::json;

use crate::support::*;

const GLOBALS: &str = "var counter = 0; function shared() { return ++counter }";

/// One policy that does what the object says, so that both evaluations are in the same pool.
fn stage(before: &str, after: &str) -> Pool {
    let code = format!("if (object.stage === 1) {{ {before} }} else {{ {after} }}");
    pool(GLOBALS, &[("P", &code)])
}

/// The same, in a pool for replays, whose realms have more in them.
fn stage_for_replays(before: &str, after: &str) -> Pool {
    let code = format!("if (object.stage === 1) {{ {before} }} else {{ {after} }}");
    let options = PoolOptions {
        threads: 1,
        queue: 8,
    };
    Pool::start_for_replays(set(GLOBALS, &[("P", &code)]), limits(), options).unwrap()
}

/// In the same realm.
#[track_caller]
fn leaves_nothing(before: &str, after: &str) {
    let (realms, threads) = realms_for(before, after);
    assert!(realms <= threads, "{before}: {realms} of {threads}");
}

/// In another realm, because the one before had to go.
#[track_caller]
fn is_thrown_away(before: &str, after: &str) {
    let (realms, threads) = realms_for(before, after);
    assert!(realms > threads, "{before}: {realms} of {threads}");
}

/// How many realms were made, and for how many threads: a slow machine may need a second one.
#[track_caller]
fn realms_for(before: &str, after: &str) -> (u64, u64) {
    let pool = stage(before, after);
    for _ in 0..2 {
        let first = pool.evaluate(input(json!({"stage": 1}))).unwrap();
        assert!(
            first.denial().is_none_or(|d| d.limit.is_none()),
            "{first:?}"
        );
        let second = pool.evaluate(input(json!({"stage": 2}))).unwrap();
        assert_eq!(
            second.verdict,
            PolicyVerdict::Allow,
            "{before}: {:?}",
            second.denial()
        );
    }
    (pool.realms_made(), pool.threads() as u64)
}

#[test]
fn variables_and_symbols() {
    leaves_nothing(
        "left = 1; globalThis[Symbol.for('s')] = 1; globalThis[7] = 1; this.other = 2",
        "return typeof left === 'undefined' && globalThis[Symbol.for('s')] === undefined && globalThis[7] === undefined && typeof other === 'undefined'",
    );
    leaves_nothing(
        "(0, eval)('var left = 1; function g() {}'); new Function('left2 = 1')()",
        "return typeof left === 'undefined' && typeof g === 'undefined' && typeof left2 === 'undefined'",
    );
    leaves_nothing(
        "toString = 5; hasOwnProperty = 6",
        "return typeof toString === 'function' && typeof hasOwnProperty === 'function'",
    );
    leaves_nothing(
        "shared(); shared.left = 1",
        "return shared() === 1 && shared.left === undefined",
    );
}

#[test]
fn the_global_object_itself() {
    let clean = "g = 1; return typeof left === 'undefined' && g === 1 && Object.isExtensible(globalThis) && Object.getPrototypeOf(globalThis) === Object.prototype";
    is_thrown_away("Object.freeze(globalThis)", clean);
    is_thrown_away("Object.preventExtensions(globalThis)", clean);
    is_thrown_away("Object.setPrototypeOf(globalThis, { left: 1 })", clean);
    is_thrown_away(
        "Object.defineProperty(globalThis, 'left', { value: 1 })",
        clean,
    );
    leaves_nothing(
        "Object.defineProperty(globalThis, 'left', { get() { return 1 }, configurable: true })",
        clean,
    );
    is_thrown_away(
        "Object.defineProperty(globalThis, 'left', { get() { return 1 } })",
        clean,
    );
}

#[test]
fn hidden_switches_of_the_engine() {
    leaves_nothing(
        "Error.stackTraceLimit = 0; Error.prepareStackTrace = () => 'left'",
        "const s = new Error('x').stack; return typeof s === 'string' && s !== '' && s !== 'left'",
    );
    leaves_nothing(
        "const d = Object.getOwnPropertyDescriptor(Error, 'prepareStackTrace'); if (d) d.set.call(Error, () => 'left')",
        "return new Error().stack !== 'left'",
    );
    leaves_nothing(
        "/(left)/.test('left')",
        "return RegExp.$1 === undefined || RegExp.$1 === ''",
    );
    leaves_nothing(
        "",
        "return typeof FinalizationRegistry + typeof WeakRef + typeof Atomics + typeof SharedArrayBuffer === 'undefined'.repeat(4)",
    );
}

#[test]
fn jobs_that_are_left_over() {
    is_thrown_away(
        "Promise.resolve().then(() => { globalThis.left = 1 })",
        "await 1; await 1; return typeof left === 'undefined'",
    );
    is_thrown_away(
        "(async () => { for (;;) await 1 })()",
        "await 1; return true",
    );
    is_thrown_away(
        "queueMicrotask?.(() => { left = 1 })",
        "await 1; return typeof left === 'undefined'",
    );
}

/// Reaches every object there is, by every way there is. It calls `allow`, so that what comes of it
/// must be said by a warning.
const REACH: &str = r"
    const seen = new Set();
    const work = [globalThis, object, req, ac, allow, deny, warn, console, shared, function* () {}, async function () {}, async function* () {},
        (function* () {})(), (async function* () {})(), [][Symbol.iterator](), ''[Symbol.iterator](), new Map().entries(), new Set().values(),
        /a/g[Symbol.matchAll]('a'), Promise.resolve(), new Proxy({}, {}), (function () { return arguments })(), [1].values().map((x) => x),
        Iterator.from({ next() {} }), new Error(), class A { #p = 1; static s() {} }, Symbol.for('x'), 1n, new Date(), typeof performance === 'undefined' ? 1 : performance, ``, (x => x)`tagged`, ((x) => x)`a${1}b`];
    // What is thrown, returned and passed in, by everything that does such things.
    const met = (...all) => { work.push(...all); return 1 };
    const thrown = (f) => { try { met(f()) } catch (e) { met(e) } };
    thrown(() => allow()); thrown(() => deny('x', 'y', 418)); thrown(() => warn(Symbol())); thrown(() => warn('x'));
    thrown(() => cosignVerify('k')); thrown(() => cosignVerify(() => 1)); thrown(() => forwardToAdmissionController({}));
    thrown(() => slsaVerify()); thrown(() => slsaEnsureComingFrom([]));
    thrown(() => atob('!')); thrown(() => btoa('x')); thrown(() => console.log({ toJSON(...a) { met(this, ...a); return 1 } }));
    thrown(() => null.x); thrown(() => undeclared); thrown(() => new Array(-1)); thrown(() => JSON.parse('{')); thrown(() => 1n + 1);
    thrown(() => 'a\u0300'.repeat(300).normalize('x')); thrown(() => ('a' + '\u0300'.repeat(300)).normalize());
    thrown(() => BigInt('9'.repeat(20000))); thrown(() => /(a)\1/.test('a'.repeat(9000)));
    thrown(() => JSON.parse('[1]', function (...a) { met(this, ...a); return a[1] })); thrown(() => JSON.stringify({ a: 1 }, function (...a) { met(this, ...a); return a[1] }));
    for (const key of ['map', 'filter', 'forEach', 'some', 'every', 'find', 'findLast', 'flatMap', 'reduce', 'reduceRight', 'sort', 'toSorted'])
        for (const list of [[3, 1, 2], new Uint8Array([3, 1, 2])]) if (list[key]) thrown(() => list[key](function (...a) { met(this, ...a); return 0 }, met));
    for (const pattern of ['a', /(?<g>a)/, /a/g]) thrown(() => 'banana'.replace(pattern, function (...a) { met(this, ...a); return '' }));
    thrown(() => 'banana'.replaceAll('a'.repeat(1), (...a) => met(...a))); thrown(() => ('a'.repeat(40000) + 'b').replace('a'.repeat(30000), function (...a) { met(this, ...a); return '' }));
    thrown(() => Object.groupBy([1], (...a) => met(...a))); thrown(() => Map.groupBy([1], (...a) => met(...a)));
    thrown(() => new Map([[1, 2]]).forEach(function (...a) { met(this, ...a) })); thrown(() => new Set([1]).forEach(function (...a) { met(this, ...a) }));
    thrown(() => new Set([1, 2]).union({ size: 1, has(...a) { met(this, ...a) }, keys(...a) { met(this, ...a); return [1].values() } }));
    thrown(() => new Set([1, 2]).intersection({ size: 9, has(...a) { met(this, ...a) }, keys(...a) { met(this, ...a) } }));
    const spy = { get(...a) { met(this, ...a); return Reflect.get(...a) }, has(...a) { met(...a); return Reflect.has(...a) }, ownKeys(...a) { met(...a); return Reflect.ownKeys(...a) } };
    for (const f of [(p) => [].concat(p), (p) => Array.from(p), (p) => Object.fromEntries(p), (p) => new Set(p), (p) => [...p], (p) => p.flat(2), (p) => p.sort(), (p) => JSON.stringify(p), (p) => Array.prototype.join.call(p)])
        thrown(() => f(new Proxy([[1, 2], [3, 4]], spy)));
    class Walker { next(...a) { met(this, ...a); return { done: true } } return(...a) { met(this, ...a); return {} } [Symbol.iterator](...a) { met(this, ...a); return this } }
    Object.setPrototypeOf(Walker.prototype, Iterator.prototype);
    for (const key of ['drop', 'take', 'map', 'toArray', 'includes', 'join', 'some']) thrown(() => new Walker()[key]?.(1));
    thrown(() => Iterator.from(new Walker()).drop(1).next()); thrown(() => [1, 2].values().drop(1)); thrown(() => [1].values().map((...a) => met(...a)).next());
    thrown(() => new Promise((...a) => met(...a))); thrown(() => Promise.withResolvers()); thrown(() => Proxy.revocable({}, {}));
    thrown(() => ({ [Symbol.toPrimitive](...a) { met(this, ...a); return 1 } }) + 1); thrown(() => ({ get x() { met(this); return 1 } }).x);
    thrown(() => { class B extends Array { static get [Symbol.species]() { met(this); return Array } } return new B(1, 2).map((x) => x) });
    thrown(() => ac.HTTPRequest.Header.Get); thrown(() => ac.HTTPRequest.URL.Query());
    thrown(() => Object.getOwnPropertyDescriptors(object)); thrown(() => Object.getOwnPropertyDescriptors(ac)); thrown(() => Object.getOwnPropertyDescriptors(req));
    thrown(() => new Error('x', { cause: 1 })); thrown(() => new AggregateError([1])); thrown(() => new Function('return arguments')()); thrown(() => (0, eval)('(function () { return this })()'));
    while (work.length) {
        let o = work.pop();
        if (o === undefined || o === null) continue;
        if (typeof o !== 'object' && typeof o !== 'function') o = Object.getPrototypeOf(o);
        if (seen.has(o)) continue;
        seen.add(o);
        work.push(Object.getPrototypeOf(o));
        for (const k of Reflect.ownKeys(o)) {
            const d = Object.getOwnPropertyDescriptor(o, k);
            work.push(d.value, d.get, d.set);
        }
    }
    const all = [...seen];";

#[test]
fn every_global_and_every_prototype() {
    let before = format!(
        r"{REACH}
        let kept = 0;
        const attempt = (f) => {{ try {{ f() }} catch {{}} }};
        for (const o of all) {{
            const keys = Reflect.ownKeys(o);
            attempt(() => {{ o.left = 1 }});
            attempt(() => {{ o[Symbol.for('left')] = 1 }});
            attempt(() => {{ Object.defineProperty(o, 'left', {{ value: 1, configurable: true }}) }});
            if (o !== globalThis) attempt(() => {{ Object.setPrototypeOf(o, {{ left: 1 }}) }});
            for (const k of keys) {{
                if (o === globalThis && (k === 'Reflect' || k === 'Object' || k === 'Symbol')) continue;
                attempt(() => {{ o[k] = 'left' }});
                attempt(() => {{ o[k].left = 1 }});
                attempt(() => {{ Object.defineProperty(o, k, {{ value: 'left' }}) }});
                attempt(() => {{ Object.defineProperty(o, k, {{ get() {{ return 'left' }} }}) }});
                attempt(() => {{ delete o[k] }});
            }}
            if (o.left === 1) kept++;
        }}
        warn(String(kept > 5 && all.length > 500))"
    );
    let after = format!(
        r"{REACH}
        const found = [];
        for (const o of all) {{
            if (o === object || o === req || o === ac) continue;
            if (Object.hasOwn(o, 'left') || Object.hasOwn(o, Symbol.for('left'))) found.push('own ' + String(o.name));
            for (const k of Reflect.ownKeys(o)) {{
                const d = Object.getOwnPropertyDescriptor(o, k);
                if (d.value === 'left') found.push('value ' + String(k));
            }}
        }}
        if ([3, 1, 2].sort().map((x) => x + 1).join() !== '2,3,4') found.push('broken sort');
        if (JSON.stringify(JSON.parse('[1]')) !== '[1]') found.push('broken JSON');
        if (({{}}).left !== undefined || [].left !== undefined || (() => 1).left !== undefined) found.push('inherited');
        warn(found.length ? found.slice(0, 20).join('; ') : 'count ' + all.length);"
    );
    for pool in [stage(&before, &after), stage_for_replays(&before, &after)] {
        let count = |pool: &Pool| {
            let e = pool.evaluate(input(json!({"stage": 2}))).unwrap();
            assert_eq!(e.verdict, PolicyVerdict::Allow, "{e:?}");
            e.warnings.last().cloned().unwrap_or_default()
        };
        let clean = count(&pool);
        assert!(clean.starts_with("P: count "), "{clean}");
        for _ in 0..2 {
            let e = pool.evaluate(input(json!({"stage": 1}))).unwrap();
            assert_eq!(e.verdict, PolicyVerdict::Allow, "{e:?}");
            assert_eq!(e.warnings.last().unwrap(), "P: true");
            assert_eq!(count(&pool), clean);
        }
        // A slow one may have got a second thread, but none lost its realm.
        assert!(pool.realms_made() <= pool.threads() as u64);
    }
}

#[test]
fn what_ends_a_policy_keeps_nothing() {
    leaves_nothing(
        "try { allow() } catch (e) { e.stash = 1; e.toString.stash = object; Object.setPrototypeOf(e.toString, { stash: 1 }) } return",
        "try { allow() } catch (e) { if (e.stash !== undefined || e.toString.stash !== undefined) for (;;); }",
    );
}

#[test]
fn what_is_reached_is_frozen() {
    let code = format!(
        r"{REACH}
        const own = new Set([globalThis, object, req, ac, shared]);
        const isIntrinsic = (o) => typeof o === 'function' ? /\[native code\]/.test(Function.prototype.toString.call(o)) : Object.hasOwn(o, 'constructor');
        const open = all.filter((o) => !own.has(o) && isIntrinsic(o) && !Object.isFrozen(o));
        warn(open.map((o) => o.name || String(Object.getOwnPropertyNames(o))).join('; '))"
    );
    // Functions of the policy itself have a prototype of their own with a constructor.
    let e = p(&code.replace("shared]", "0]").replace(", shared,", ","));
    let open = e
        .warnings
        .last()
        .unwrap()
        .trim_start_matches("P: ")
        .split("; ");
    let open: Vec<_> = open
        .filter(|name| {
            ![
                "",
                "length,name",
                "constructor",
                "constructor,next,return",
                "A",
                "Walker",
                "B",
            ]
            .contains(name)
        })
        .collect();
    assert!(open.is_empty(), "{open:?}");
}

#[test]
fn what_stands_for_large_members() {
    let list = |text: &str| vec![text.to_owned(); 30];
    let code = "const d = Object.getOwnPropertyDescriptor(object, object.key);
        if (!d.get || !Object.isFrozen(d.get) || !Object.isFrozen(d.set)) return 'open';
        if (d.get.left !== undefined || Object.getPrototypeOf(d.get) !== Function.prototype) return 'left';
        try { d.get.left = 1; Object.setPrototypeOf(d.get, { left: 1 }) } catch {}
        const other = {};
        Object.defineProperty(other, object.key, d);
        if (other[object.key] !== object[object.key]) return 'identity';
        object[object.key].push('more');
        return other[object.key].join()";
    let pool = pool("", &[("P", code)]);
    for (key, text) in [("a", "x"), ("a", "y"), ("b", "z"), ("a", "x")] {
        let e = pool
            .evaluate(input(json!({"key": key, key: list(text)})))
            .unwrap();
        let wanted = format!("P: {},more", list(text).join(","));
        assert_eq!(denied(&e).denial.message, wanted);
    }
    assert!(pool.realms_made() <= pool.threads() as u64);
}

#[test]
fn pollution_does_nothing_and_overriding_works() {
    leaves_nothing(
        "Object.prototype.left = 1; Array.prototype.map = 3; JSON.parse = 4; Array = 5; ({}).__proto__.left = 1; object.constructor.prototype.left = 1",
        "return ({}).left === undefined && [1].map((x) => x)[0] === 1 && JSON.parse('1') === 1 && Array.isArray([])",
    );
    let code = r"
        class E extends Error { constructor() { super('a'); this.name = 'E'; this.message = 'b' } }
        const e = new E(); if (String(e) !== 'E: b') return String(e);
        function F() {} F.prototype.toString = () => 'f'; if (String(new F()) !== 'f') return 'F';
        const o = {}; o.toString = () => 'o'; o.constructor = 1; o.valueOf = 2; o.__defineGetter__ = 3;
        if (String(o) !== 'o' || Object.keys(o).length !== 4) return 'o';
        const a = []; a.toString = () => 'a'; if (String(a) !== 'a') return 'a';
        function G() {} G.prototype = Object.create(Array.prototype); G.prototype.constructor = G; if (new G().constructor !== G) return 'G';
        const f = () => 1; f.call = 2; if (f.call !== 2) return 'f';
        return true";
    let e = p(code);
    assert_eq!(e.verdict, PolicyVerdict::Allow, "{e:?}");
}
