//! The attacks, and what they could leave behind.

/// Each by its name, with the limits that may stop it.
pub(super) const ATTACKS: &[(&str, &str, &[&str])] = &[
    ("loop", "while (true) {}", &["deadline"]),
    (
        "loop-caught",
        "try { while (true) {} } catch { return true } finally { return true }",
        &["deadline"],
    ),
    (
        "loop-again",
        "for (;;) { try { for (;;); } finally { continue } }",
        &["deadline"],
    ),
    ("string", "'x'.repeat(2 ** 30); return true", &["memory"]),
    (
        "string-caught",
        "try { 'x'.repeat(2 ** 30) } catch {} return true",
        &["memory"],
    ),
    (
        "buffer",
        "new ArrayBuffer(2 ** 30); return true",
        &["memory"],
    ),
    (
        "buffer-caught",
        "try { new Uint8Array(2 ** 30) } catch {} return true",
        &["memory"],
    ),
    (
        "array",
        "const a = []; for (;;) a.push({})",
        &["memory", "deadline"],
    ),
    ("recursion", "(function f() { f() })()", &["stack"]),
    (
        "recursion-caught",
        "try { (function f() { f() })() } catch { return true }",
        &["stack"],
    ),
    (
        "json-parse",
        "JSON.parse('['.repeat(100000)); return true",
        &["stack", "memory"],
    ),
    (
        "json-write",
        "let o = {}; for (let i = 0; i < 100000; i++) o = {o}; JSON.stringify(o); return true",
        &["stack", "memory", "deadline"],
    ),
    (
        "regexp",
        "return /^(a+)+$/.test('a'.repeat(40) + 'b')",
        &["deadline"],
    ),
    (
        "join",
        "return new Array(2 ** 31 - 1).join('ab')",
        &["memory", "deadline"],
    ),
    (
        "replace",
        "return 'a'.repeat(1e6).replaceAll('a', 'b'.repeat(1e4))",
        &["memory", "deadline"],
    ),
    (
        "bigint",
        "let n = 3n; for (;;) n = n * n",
        &["memory", "deadline"],
    ),
    (
        "jobs",
        "const again = () => Promise.resolve().then(again); await again()",
        &["deadline", "memory"],
    ),
    ("jobs-await", "for (;;) await null", &["deadline"]),
    (
        "getter",
        "const o = { get x() { for (;;); } }; return o.x",
        &["deadline"],
    ),
    (
        "getter-left",
        "Object.defineProperty(object, 'x', { enumerable: true, get() { for (;;); } }); return true",
        &["deadline"],
    ),
    (
        "thrown",
        "throw { toString() { for (;;); } }",
        &["deadline"],
    ),
    (
        "large-result",
        "let a = ['x'.repeat(1000)]; for (let i = 0; i < 30; i++) a = [a, a]; object.a = a; return true",
        &["memory", "deadline"],
    ),
    (
        "console",
        "for (;;) console.log('x'.repeat(1000))",
        &["deadline", "memory"],
    ),
];

/// What an attack could have left behind; and what lets ordinary requests in.
pub(super) const PROBE: &str = "\
    if ({}.polluted !== undefined || [].polluted !== undefined || (() => {}).polluted !== undefined) return 'polluted'\n\
    if (typeof leftBehind !== 'undefined') return 'left behind: ' + leftBehind\n\
    if (Object.keys({}).length || [1, 2].map((x) => x + 1).join() !== '2,3') return 'built-ins changed'\n\
    if (req.name === 'fine') return true";

/// Tries to change what all policies share, and is then stopped.
pub(super) const POLLUTION: &str = "\
    leftBehind = 'variable'; globalThis.leftBehind = 'global'\n\
    for (const p of [Object, Array, Function, String, Number, Promise, RegExp, Error]) {\n\
      try { p.prototype.polluted = 1 } catch {}\n\
      try { Object.defineProperty(p.prototype, 'polluted', { value: 1 }) } catch {}\n\
    }\n\
    try { Array.prototype.map = () => [] } catch {}\n\
    for (;;);";
