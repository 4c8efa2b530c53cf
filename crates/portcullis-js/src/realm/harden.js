// Freezes everything a policy could reach and keep. Runs once per realm, after the prelude.
(function (extra) {
  'use strict';
  const { ownKeys, getOwnPropertyDescriptor, getPrototypeOf, defineProperty } = Reflect;
  const seen = new Set();
  const work = [];
  function add(o) {
    if (o !== null && (typeof o === 'object' || typeof o === 'function') && !seen.has(o)) {
      seen.add(o);
      work[work.length] = o;
    }
  }
  function walk(starts) {
    for (let i = 0; i < starts.length; i++) add(starts[i]);
    while (work.length) {
      const o = work.pop();
      add(getPrototypeOf(o));
      const keys = ownKeys(o);
      // Most functions have nothing but a length and a name.
      if (keys.length === 2 && typeof o === 'function' && keys[0] === 'length' && keys[1] === 'name') continue;
      for (let i = 0; i < keys.length; i++) {
        const d = getOwnPropertyDescriptor(o, keys[i]);
        if ('value' in d) add(d.value);
        else { add(d.get); add(d.set); }
      }
    }
  }
  const starts = [globalThis, ...extra];
  // What has no name: reached from values only.
  starts.push(
    getPrototypeOf(function* () {}), getPrototypeOf(async function () {}), getPrototypeOf(async function* () {}),
    [][Symbol.iterator](), ''[Symbol.iterator](), new Map().entries(), new Set().values(),
    /a/g[Symbol.matchAll]('a'), (function* () {})(), (async function* () {})(),
    (function () { return arguments; })(), Promise.resolve(), Proxy, new Proxy({}, {}),
    getOwnPropertyDescriptor(function () { 'use strict'; return arguments; }(), 'callee').get,
  );
  if (typeof Iterator === 'function') {
    starts.push(Iterator.from({ next() {} }), [].values().map((x) => x));
    if (Iterator.concat) starts.push(Iterator.concat([]));
  }
  walk(starts);
  const repaired = [];

  // An inherited read-only property would forbid setting one of that name on any object that
  // inherits it. A pair of functions in its place lets objects have their own.
  function repair(proto, key) {
    const d = getOwnPropertyDescriptor(proto, key);
    if (!d || !d.configurable || !('value' in d)) return;
    const value = d.value;
    const pair = {
      get() { return value; },
      set(own) {
        if (this === proto || this === null || (typeof this !== 'object' && typeof this !== 'function')) return;
        defineProperty(this, key, { value: own, writable: true, enumerable: true, configurable: true });
      },
    };
    defineProperty(proto, key, { get: pair.get, set: pair.set, enumerable: d.enumerable, configurable: false });
    repaired.push(pair.get, pair.set);
  }
  const common = ['constructor', 'toString', 'toLocaleString', 'valueOf', 'name', 'message', 'toJSON'];
  for (const o of [...seen]) {
    const constructor = getOwnPropertyDescriptor(o, 'constructor');
    if (o === globalThis || typeof o !== 'object' || !constructor) continue;
    const all = o === Object.prototype || o === Error.prototype;
    for (const key of all ? ownKeys(o) : common) repair(o, key);
  }
  for (const key of ownKeys(Function.prototype)) repair(Function.prototype, key);
  walk(repaired);

  for (const o of seen) if (o !== globalThis) Object.freeze(o);
  for (const key of ownKeys(globalThis)) {
    const d = getOwnPropertyDescriptor(globalThis, key);
    if ('value' in d) defineProperty(globalThis, key, { value: d.value, writable: false, configurable: false });
    else defineProperty(globalThis, key, { get: d.get, set: undefined, configurable: false });
  }
  return seen.size;
})
