//! Built-in functions with slow input: each ends by itself or at the deadline, and
//! no thread has to be given up.

use std::time::Duration;

use portcullis_core::{PolicyLimit, PolicyMode};
use portcullis_js::{Evaluation, Limits, Plan, PolicySet, PolicySource, PolicyVerdict, Sources};
use serde_json::{Value, json};

use crate::support::*;

/// Texts that are all in one place of the engine's tables: 263 more in a character makes up for one
/// less before it.
fn colliding(count: u32) -> Vec<String> {
    let block = |digit: u32| {
        let pair = [0x4000 - digit, 0x400 + 263 * digit];
        pair.map(|c| char::from_u32(c).unwrap())
    };
    let text = |n: u32| (0..5).flat_map(|i| block(n >> (4 * i) & 15)).collect();
    (0..count).map(text).collect()
}

/// What these policies do with an object, each alone. None had to be given up.
fn each(policies: &[&str], object: &Value, limits: &Limits) -> Vec<Evaluation> {
    let sources = Sources {
        policies: policies
            .iter()
            .enumerate()
            .map(|(index, code)| PolicySource::body(index.to_string(), *code))
            .collect(),
        ..Sources::default()
    };
    let set = PolicySet::compile(&sources).unwrap();
    let run = |index: usize| {
        // A busy machine may take the time that a thread has to come back.
        for _ in 0..25 {
            let pool = pool_of(set.clone(), limits.clone(), 1);
            let mut i = input(object.clone());
            i.plan = vec![Plan::Skip; policies.len()];
            i.plan[index] = Plan::Run(PolicyMode::Enforce);
            let e = pool.evaluate(i).unwrap();
            if pool.abandoned() == 0 {
                return e;
            }
        }
        panic!("given up every time: {}", policies[index]);
    };
    (0..policies.len()).map(run).collect()
}

/// Each ends somehow, in time.
fn end(policies: &[&str], object: &Value) {
    let limits = Limits {
        deadline: Duration::from_millis(300),
        ..Limits::default()
    };
    for (e, code) in each(policies, object, &limits).iter().zip(policies) {
        let is_known = e.denial().is_none_or(|denial| {
            denial.limit.is_some()
                || !denial.failure
                || denial.denial.message.contains("RangeError")
                // It was done before its time was over.
                || denial.denial.message.contains("unknown return value")
        });
        assert!(is_known, "{code}: {e:?}");
    }
}

/// Each gives the right result, given time.
fn hold(policies: &[&str], object: &Value) {
    for (e, code) in each(policies, object, &limits()).iter().zip(policies) {
        assert_eq!(e.verdict, PolicyVerdict::Allow, "{code}: {e:?}");
    }
}

#[test]
fn searches_for_long_needles() {
    let object =
        json!({"text": "a".repeat(200_000), "needle": format!("{}b", "a".repeat(100_000))});
    end(
        &[
            "return object.text.includes(object.needle)",
            "return object.text.indexOf(object.needle) < 0",
            "return object.text.lastIndexOf('b' + object.needle.slice(0, -1)) < 0",
            "return object.text.split(object.needle).length",
            "return object.text.replace(object.needle, 'x')",
            "return object.text.replaceAll(object.needle, 'x')",
            "return object.text.replaceAll(object.needle, () => 'x')",
            "for (;;) object.text.includes('b')",
            "for (;;) object.text.lastIndexOf('ab')",
            "for (;;) object.text.split('ba')",
        ],
        &object,
    );
    let object = json!({"text": "a".repeat(6_000), "needle": format!("{}b", "a".repeat(3_000))});
    hold(
        &[
            "return !object.text.includes(object.needle) && (object.text + 'b').includes(object.needle)",
            "return (object.text + 'b').indexOf(object.needle) === 3000",
            "return ('b' + object.text).lastIndexOf('b' + object.needle.slice(0, -1)) === 0",
            "return (object.text + 'b' + object.text).split(object.needle).join() === 'a'.repeat(3000) + ',' + object.text",
            "return (object.text + 'b').replace(object.needle, '[$&]').length === 6003",
        ],
        &object,
    );
}

#[test]
fn combining_marks() {
    let marks = format!("a{}", "\u{316}\u{300}".repeat(50_000));
    let object =
        json!({"marks": marks, "kana": "\u{ff9e}".repeat(100_000), "other": format!("b{marks}")});
    end(
        &[
            "return object.marks.normalize('NFC').includes('forbidden')",
            "return object.marks.normalize('NFD').includes('forbidden')",
            "return object.kana.normalize('NFKC').includes('forbidden')",
            "return object.kana.normalize('NFKD').includes('forbidden')",
            "return object.marks.localeCompare(object.other)",
            "return 'a'.localeCompare(object.other)",
            "return [object.marks, object.other, 'c'].sort((a, b) => a.localeCompare(b)).length",
        ],
        &object,
    );
    let text = message("return ('a' + '\\u0316\\u0300'.repeat(2000)).normalize()");
    assert!(
        text.contains("RangeError: normalize: more than 30 combining marks in a row"),
        "{text}"
    );
    hold(
        &[
            "return 'e\\u0301'.normalize() === '\\u00e9' && '\\uff76\\uff9e'.normalize('NFKC') === '\\u30ac'",
            "return ('e\\u0301 '.repeat(25000)).normalize() === '\\u00e9 '.repeat(25000)",
            "return ('\\u1100\\u1161'.repeat(35000) + '-').normalize() === '\\uac00'.repeat(35000) + '-'",
            "return ('e' + '\\u0323\\u0301'.repeat(15)).repeat(200).normalize('NFD').length === 6200",
            "return 'a'.localeCompare('b') === -1 && ('x'.repeat(9000) + 'e\\u0301').localeCompare('x'.repeat(9000) + '\\u00e9') === 0",
            // In parts, wherever those begin.
            "const parts = ['a', 'e\\u0301', '\\u1112\\u1161\\u11ab', '\\u4e00\\u0323\\u0301', '\\u30ab\\u3099', '\\uff76\\uff9e', '\\u314e\\u314f', '\\u{1d15e}', '\\ufb01', '\\u0344'].map((p, i) => 'x' + p.repeat(7 + i));
             let text = ''; const list = []; for (let i = 0; text.length < 70000; i++) { const p = parts[(i * i) % 10].repeat(1 + i % 5); text += p; list.push(p) }
             return ['NFC', 'NFD', 'NFKC', 'NFKD'].every((f) => text.normalize(f) === list.map((p) => p.normalize(f)).join(''))",
            "try { 'x'.normalize('no') } catch (e) { return e instanceof RangeError }",
        ],
        &json!({}),
    );
}

#[test]
fn patterns() {
    let object = json!({"text": "aB".repeat(20_000)});
    end(
        &[
            "return /^(.*)\\1+$/i.test(object.text)",
            "return /^(?<x>.*)\\k<x>+$/.exec(object.text)",
            "return object.text.match(/(.+)\\1c/) === null",
            "return object.text.search(/(?<=(.+)\\1)c/) < 0",
            "return object.text.replace(/(.+)\\1c/g, '').length",
            "return object.text.split(/(.+)\\1c/).length",
            "return [...object.text.matchAll(/(.+)\\1c/g)].length",
            "return /(?:a|B|aB)*?x/.test(object.text)",
            "return object.text.replace(/(?:a*B*)*c/g, '')",
            "for (const r = /a*x/y;;) r.test(object.text)",
        ],
        &object,
    );
    let text = message("return /(a)\\1/.test('a'.repeat(5000))");
    assert!(text.contains("RangeError: a regular expression with references back to groups takes at most 4096 characters"), "{text}");
    hold(
        &[
            "return /^(.*)\\1$/.test('ab'.repeat(1000)) && !/^(.)\\1$/.test('ab')",
            "return /\\\\1/.test('\\\\1'.repeat(3000)) && /[a-z]+\\d/.test('a'.repeat(9000) + '1')",
            "return 'a-b'.repeat(3000).split(/-/).length === 3001 && 'ab'.repeat(5000).match(/b/g).length === 5000",
        ],
        &json!({}),
    );
}

#[test]
fn keys_with_one_hash() {
    let keys = colliding(20_000);
    let map: serde_json::Map<String, Value> = keys.iter().map(|k| (k.clone(), json!(1))).collect();
    let few: serde_json::Map<String, Value> = map.clone().into_iter().take(5000).collect();
    let text = Value::Object(few).to_string();
    let object = json!({"map": map, "keys": keys, "text": text});
    end(
        &[
            "return Object.keys(object.map).length",
            "object.x = 1; return object.map.x",
            "return JSON.parse(object.text).x",
            "return new Set(object.keys).size",
            "return new Map(object.keys.map((k) => [k, 1])).size",
            "return Object.fromEntries(object.keys.map((k) => [k, 1])).x",
            "return Object.groupBy(object.keys, (k) => k).x",
            "return Map.groupBy(object.keys, (k) => k).size",
            "const s = new Set(); for (const k of object.keys) s.add(k); return s.size",
            "const s = new Set(object.keys.slice(0, 2000)); for (;;) s.has(object.keys[0])",
            "return new Set(object.keys.slice(0, 5000)).union(new Set(object.keys.slice(5000, 9000))).size",
            "ac.GlobalContext.x = object.map; return true",
        ],
        &object,
    );
    let text = message(
        "const block = (i) => String.fromCharCode(0x4000 - i % 16, 0x400 + 263 * (i % 16));
        const keys = Array.from({ length: 4096 }, (_, i) => block(i) + block(i >> 4) + block(i >> 8));
        return JSON.parse('{' + keys.map((k) => JSON.stringify(k) + ':1').join() + '}')",
    );
    assert!(
        text.contains("RangeError: JSON.parse: too many keys with the same hash"),
        "{text}"
    );
    hold(
        &[
            "const o = Object.fromEntries(Array.from({ length: 3000 }, (_, i) => ['k' + i, i])); return Object.keys(o).length === 3000 && o.k7 === 7",
            "const o = JSON.parse(JSON.stringify(Array.from({ length: 3000 }, (_, i) => ({ ['k' + i]: i })))); return o[9].k9 === 9",
            "try { Object.fromEntries([...new Array(2000).fill([1, 2]), 3]) } catch (e) { return e instanceof TypeError }",
            "const a = new Set([1, 2, 3]), b = new Set([2, 3, 4]); return [a.union(b).size, a.intersection(b).size, a.difference(b).size, a.symmetricDifference(b).size, a.isSubsetOf(b), a.isSupersetOf(new Set([1])), a.isDisjointFrom(new Set([9]))].join() === '4,2,1,2,false,true,true'",
            "const m = new Map([[1, 2]]); m.set(3, 4); return m.get(1) === 2 && m.has(3) && m.delete(3) && m.size === 1 && Object.groupBy([1, 2, 3], (x) => x % 2).length === undefined",
            "try { Set.prototype.add.call(new Map(), 1) } catch (e) { return e instanceof TypeError }",
        ],
        &json!({}),
    );
}

#[test]
fn lists_and_iterators() {
    end(
        &[
            "return new Array(50000).fill('a'.repeat(1e6)).sort().length",
            "return new Array(50000).fill('a'.repeat(1e6)).toSorted().length",
            "return new Array(3000).fill(['a'.repeat(1e5)]).sort().length",
            "let a = []; for (let i = 0; i < 40; i++) a = [a, a]; return a.flat(Infinity).length",
            "return new Array(1e5).fill(new Array(2e6)).flat().length",
            "return [1, 2, 3].flatMap(() => new Array(2 ** 32 - 1)).length",
            "return new Array(2 ** 32 - 1).flatMap((x) => x).length",
            "return [].flatMap.call({length: 2 ** 53 - 1}, (x) => x).length",
            "let a = []; for (let i = 0; i < 40; i++) a = [a, a]; return String(a)",
            "return new Array(2 ** 32 - 1).values().drop(2 ** 32).next().done",
            "return new Array(2 ** 32 - 1).values().toArray().length",
            "return new Set(new Array(2 ** 32 - 1)).size",
            "const a = new Array(1e5).fill(1); for (;;) a.shift()",
            "const a = new Array(1e5).fill(1); for (;;) a.slice().reverse()",
            "const t = 'aB'.repeat(1e5); for (;;) t.toLowerCase()",
            "const t = ' '.repeat(1e5); for (;;) t.trim()",
            "for (;;) 'a'.repeat(1e6)",
            "const b = new Uint8Array(1e6); for (;;) b.slice()",
            "return new Float64Array(3e6).sort().length",
            "const t = 'a'.repeat(1e5); for (;;) encodeURIComponent(t)",
        ],
        &json!({}),
    );
    hold(
        &[
            "return [3, 1, 2].sort().join() === '1,2,3' && [10, 9, 1, undefined, , 'x'].sort().join() === '1,10,9,x,,'",
            "const l = ['b'.repeat(20000), 'a'.repeat(20000), ...new Array(200).fill('c')]; return l.toSorted()[0][0] === 'a' && l.sort()[1][0] === 'b'",
            "return [[1, [2, [3]]], 4].flat().length === 3 && [[1, [2, [3]]]].flat(Infinity).join() === '1,2,3' && [[1]].flat(0)[0][0] === 1",
            "return [1, 2].flatMap((x, i, l) => [x, i, l.length]).join() === '1,0,2,2,1,2'",
            "return [1, 2, 3].values().drop(1).toArray().join() === '2,3' && [1].values().map((x) => x + 1).toArray()[0] === 2",
            "let closed = 0; const it = { __proto__: Iterator.prototype, n: 0, next() { return { value: this.n++, done: false } }, return() { closed++; return {} } }; it.drop(2).take(1).toArray(); return closed === 1",
            "return new Uint8Array([3, 1, 2]).sort().join() === '1,2,3' && new Uint8Array([1, 2]).includes(2)",
            "return encodeURIComponent('a b') === 'a%20b' && parseInt('12px') === 12 && parseInt('ff', 16) === 255 && Number.parseFloat === parseFloat",
        ],
        &json!({}),
    );
}

#[test]
fn large_integers() {
    let object = json!({"digits": "9".repeat(300_000)});
    end(
        &[
            "return String(BigInt(object.digits))",
            "return String(BigInt.asUintN(64, object.digits))",
        ],
        &object,
    );
    let text = message("return BigInt('9'.repeat(10001))");
    assert!(
        text.contains("RangeError: BigInt: more than 10000 digits"),
        "{text}"
    );
    hold(
        &[
            "return BigInt('123') === 123n && BigInt(7) === 7n && typeof BigInt(true) === 'bigint' && BigInt.asUintN(8, 257n) === 1n",
            "try { new BigInt(1) } catch (e) { return e instanceof TypeError && Object(1n) instanceof BigInt && (1n).constructor === BigInt }",
            "return BigInt('9'.repeat(9999)).toString().length === 9999",
        ],
        &json!({}),
    );
}

#[test]
fn what_is_stopped_is_refused_as_the_deadline() {
    let code = "for (;;) { try { object.text.toLowerCase() } catch { return true } }";
    let limits = Limits {
        deadline: Duration::from_millis(200),
        ..Limits::default()
    };
    let object = json!({"text": "aB".repeat(50_000)});
    let all = each(&[code], &object, &limits);
    assert_eq!(
        denied(&all[0]).limit,
        Some(PolicyLimit::Deadline),
        "{all:?}"
    );
}
