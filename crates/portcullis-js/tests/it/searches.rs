//! The string functions that replace the engine's own give the same results.

use std::sync::LazyLock;

use portcullis_js::{Input, Pool};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::support::*;

/// Each function as the specification has it, by comparing at each place, beside the one
/// that policies get. Texts come as lists of UTF-16 units, so that they can hold halves of pairs.
const COMPARE: &str = r"
    if (!object.unit) return true;
    const text = (units) => { let out = ''; for (const u of units) out += String.fromCharCode(u); return out };
    const times = object.times;
    const hay = text(object.hay).repeat(times), needle = text(object.needle).repeat(object.longer) + text(object.end);
    const position = object.position, replacement = text(object.replacement);
    const at = (s, i) => s.slice(i, i + needle.length) === needle;
    const find = (from) => { for (let i = from; i + needle.length <= hay.length; i++) if (at(hay, i)) return i; return -1 };
    const clamp = (p, otherwise) => { const n = Math.trunc(Number(p)); return n !== n ? otherwise : Math.min(Math.max(n, 0), hay.length) };
    const findLast = (from) => { for (let i = Math.min(from, hay.length - needle.length); i >= 0; i--) if (at(hay, i)) return i; return -1 };
    const expand = (template, p) => {
        let out = '';
        for (let i = 0; i < template.length; i++) {
            const c = template.charAt(i), d = template.charAt(i + 1);
            if (c !== '$' || !['$', '&', '`', String.fromCharCode(39)].some((x) => x === d)) { out += c; continue }
            i++;
            out += d === '$' ? '$' : d === '&' ? needle : d === '`' ? hay.slice(0, p) : hay.slice(p + needle.length);
        }
        return out;
    };
    const substitute = (all, of) => {
        let out = '', from = 0, p = find(0);
        while (p >= 0) {
            out += hay.slice(from, p) + of(p);
            from = p + needle.length;
            if (!all) break;
            p = needle === '' ? (p >= hay.length ? -1 : p + 1) : find(from);
        }
        return out + hay.slice(from);
    };
    const split = (limit) => {
        const parts = [];
        if (limit === 0) return parts;
        if (needle === '') { for (let i = 0; i < hay.length && parts.length < limit; i++) parts.push(hay.charAt(i)); return parts }
        let from = 0;
        for (let p = find(0); p >= 0; p = find(from)) { parts.push(hay.slice(from, p)); if (parts.length === limit) return parts; from = p + needle.length }
        parts.push(hay.slice(from));
        return parts;
    };
    const wrong = [];
    const same = (name, got, wanted) => { if (JSON.stringify(got) !== JSON.stringify(wanted)) wrong.push(name + ': ' + JSON.stringify([got, wanted]).slice(0, 300)) };
    same('indexOf', hay.indexOf(needle), find(0));
    same('indexOf at', hay.indexOf(needle, position), find(clamp(position, 0)));
    same('includes', hay.includes(needle), find(0) >= 0);
    same('includes at', hay.includes(needle, position), find(clamp(position, 0)) >= 0);
    same('lastIndexOf', hay.lastIndexOf(needle), findLast(hay.length));
    same('lastIndexOf at', hay.lastIndexOf(needle, position), findLast(clamp(position, hay.length)));
    same('startsWith', hay.startsWith(needle, position), clamp(position, 0) + needle.length <= hay.length && at(hay, clamp(position, 0)));
    same('split', hay.split(needle), split(4294967295));
    same('split limit', hay.split(needle, 2), split(2));
    same('split none', hay.split(needle, 0), []);
    same('split all', hay.split(undefined), [hay]);
    same('replace', hay.replace(needle, replacement), substitute(false, (p) => expand(replacement, p)));
    same('replaceAll', hay.replaceAll(needle, replacement), substitute(true, (p) => expand(replacement, p)));
    const calls = [], expected = [];
    hay.replaceAll(needle, (...args) => { calls.push(args.length, args[0] === needle, args[1], args[2] === hay); return '' });
    substitute(true, (p) => { expected.push(3, true, p, true); return '' });
    same('callbacks', calls, expected);
    same('a function', hay.replace(needle, () => replacement), substitute(false, () => replacement));
    same('objects', new String(hay).indexOf({ toString: () => needle }), find(0));
    return wrong.length === 0 || wrong.join('; ');";

static POOL: LazyLock<Pool> = LazyLock::new(|| pool("", &[("P", COMPARE)]));

#[track_caller]
fn compare(object: &Value) {
    let e = POOL.evaluate(Input::new(object)).unwrap();
    assert!(e.denial().is_none(), "{object}: {e:?}");
}

fn units(most: usize) -> impl Strategy<Value = Vec<u16>> {
    let unit = prop_oneof![
        4 => Just(97_u16),
        3 => Just(98),
        1 => Just(0x24),
        1 => Just(0x26),
        1 => Just(0x60),
        1 => Just(0x27),
        1 => Just(0x416),
        1 => Just(0xd83d),
        1 => Just(0xde00),
    ];
    proptest::collection::vec(unit, 0..most)
}

fn position() -> impl Strategy<Value = Value> {
    prop_oneof![
        (-3_i64..60).prop_map(|n| json!(n)),
        Just(json!(1.7)),
        Just(json!("4")),
        Just(json!("x")),
        Just(json!(null)),
        Just(json!(1e9)),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 100, ..ProptestConfig::default() })]

    #[test]
    fn short_texts(hay in units(40), needle in units(4), position in position(), replacement in units(6)) {
        compare(&json!({"unit": 1, "times": 1, "longer": 1, "hay": hay, "needle": needle, "end": [], "position": position, "replacement": replacement}));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, ..ProptestConfig::default() })]

    /// Long enough that every way of searching is taken.
    #[test]
    fn long_texts(part in units(5), end in units(3), longer in 1_usize..800, position in position(), replacement in units(4)) {
        let times = 5000 / part.len().max(1);
        let longer = longer.min(times / 4);
        compare(&json!({"unit": 1, "times": times, "longer": longer, "hay": part, "needle": part, "end": end, "position": position, "replacement": replacement}));
    }
}

#[test]
fn needles_that_are_found_late_and_not_at_all() {
    for (longer, end) in [(1000, "b"), (2250, ""), (40, "b")] {
        let end: Vec<u16> = end.encode_utf16().collect();
        compare(
            &json!({"unit": 1, "times": 2250, "longer": longer, "hay": [97, 97], "needle": [97, 97], "end": end, "position": 17, "replacement": [0x24, 0x26]}),
        );
    }
}

#[test]
fn what_is_no_text_is_treated_as_before() {
    let code = r"
        const wrong = [];
        const same = (name, got, wanted) => { if (got !== wanted) wrong.push(name + ': ' + String(got)) };
        const thrown = (f) => { try { f(); return 'nothing' } catch (e) { return e.constructor.name } };
        for (const key of ['includes', 'indexOf', 'lastIndexOf', 'split', 'replace', 'replaceAll', 'normalize', 'localeCompare', 'trim', 'repeat', 'padStart']) {
            same(key + ' of null', thrown(() => String.prototype[key].call(null, 'x')), 'TypeError');
            same(key + ' of a symbol', thrown(() => String.prototype[key].call(Symbol(), 'x')), 'TypeError');
            same(key + ' name', String.prototype[key].name, key);
            same(key + ' is no constructor', thrown(() => new String.prototype[key]()), 'TypeError');
        }
        for (const long of ['a', 'a'.repeat(9000)]) {
            same('regexp', thrown(() => long.includes(/a/)), 'TypeError');
            same('symbol', thrown(() => long.indexOf(Symbol())), 'TypeError');
            same('no g', thrown(() => long.replaceAll(/a/, '')), 'TypeError');
            same('empty', long.indexOf(''), 0);
            same('empty last', long.lastIndexOf(''), long.length);
            same('missing', long.indexOf(), -1);
            same('undefined', (long + 'undefined').indexOf(), long.length);
            same('own split', long.split({ [Symbol.split]: (text, limit) => text.length + limit }, 1), long.length + 1);
            same('own replace', long.replace({ [Symbol.replace]: (text, by) => text.length + by }, 'x'), long.length + 'x');
            same('no own replace', long.replace({ [Symbol.replace]: null, toString: () => 'a' }, 'b'), 'b' + long.slice(1));
            same('list', long.replace(['a'], 'b'), 'b' + long.slice(1));
            same('number', (long + '12').indexOf(12), long.length);
        }
        same('12', (12345).toString().indexOf.call(12345, 34), 2);
        same('match', 'x'.repeat(5000).replace(/(x)(?<n>x)/, '$2$<n>$1-').length, 5002);
        same('sticky', (() => { const r = /x/y; r.lastIndex = 4999; return r.test('x'.repeat(5000)) + ',' + r.lastIndex })(), 'true,5000');
        return wrong.length === 0 || wrong.join('; ')";
    let e = p(code);
    assert!(e.denial().is_none(), "{e:?}");
}
