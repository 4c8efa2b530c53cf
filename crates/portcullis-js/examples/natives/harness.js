// A policy that calls one built-in function with what is slow for some of them, and says how long each
// call took. `object`: {path, self, n, threshold} for all calls on one kind of `this`, with {args} for
// one of them, with {from} from one of them on; nothing for the list of all functions.
const odd = { Generator: (function* () {})(), AsyncGenerator: (async function* () {})(), ArrayIterator: [].values(),
  StringIterator: ''[Symbol.iterator](), MapIterator: new Map().entries(), SetIterator: new Set().values(),
  RegExpIterator: /a/g[Symbol.matchAll]('a'), IteratorHelper: [].values().map((x) => x), WrappedIterator: Iterator.from({ next() {} }) };
function allPaths() {
  const paths = [];
  const seen = new Set();
  const work = [[[], globalThis], ...Object.keys(odd).map((name) => [['odd', name], odd[name]])];
  while (work.length) {
    const [path, value] = work.shift();
    if (value === null || (typeof value !== 'object' && typeof value !== 'function') || seen.has(value)) continue;
    seen.add(value);
    if (typeof value === 'function') paths.push(path.join(' '));
    work.push([[...path, '__proto__'], Object.getPrototypeOf(value)]);
    for (const key of Reflect.ownKeys(value)) {
      const own = Object.getOwnPropertyDescriptor(value, key);
      const step = typeof key === 'symbol' ? '@' + key.description.replace('Symbol.', '') : key;
      if ('value' in own) work.push([[...path, step], own.value]);
      else work.push([[...path, step, 'get'], own.get], [[...path, step, 'set'], own.set]);
    }
  }
  return paths;
}
function follow(path) {
  const steps = path.split(' ');
  let value = globalThis;
  if (steps[0] === 'odd') value = odd[steps.splice(0, 2)[1]];
  for (let i = 0; i < steps.length; i++) {
    const key = steps[i].startsWith('@') ? Symbol[steps[i].slice(1)] : steps[i];
    if (key === '__proto__' && !Object.hasOwn(value, key)) { value = Object.getPrototypeOf(value); continue; }
    const own = Object.getOwnPropertyDescriptor(value, key);
    value = 'value' in own ? own.value : own[steps[++i]];
  }
  return value;
}
// They end the policy, take code, or are what this is measured with.
const skipped = /^(eval|Function|allow|deny|warn|console|performance|.* constructor)\b|^odd \w+ (.* )?constructor/;
if (object.path === undefined) return allPaths().filter((path) => !skipped.test(path)).join('\n');

const n = object.n;
// Different texts of one hash: 263 more in a character makes up for one less before it.
const colliding = (count) => Array.from({ length: count }, (_, i) => {
  let text = '';
  for (let k = 0; k < 4; k++, i = Math.floor(i / 16)) text += String.fromCharCode(0x4000 - (i % 16), 0x400 + 263 * (i % 16));
  return text;
});
function dag(depth) { let list = []; for (let i = 0; i < depth; i++) list = [list, list]; return list; }
const make = {
  nothing: () => undefined,
  small: () => 3,
  function: () => (x) => x,
  equal: () => 'a'.repeat(n),
  needle: () => 'a'.repeat(n / 2) + 'b',
  wide: () => '\u0416'.repeat(n),
  marks: () => 'a' + '\u0316\u0300'.repeat(n / 2),
  halfwidth: () => '\uff9e'.repeat(n),
  sigma: () => 'A' + ':\u03a3'.repeat(n / 2),
  digits: () => '9'.repeat(n),
  spaces: () => ' '.repeat(n) + 'x',
  escapes: () => '%41'.repeat(n / 3),
  date: () => '2020-01-01T00:00:00.' + '1'.repeat(n) + 'Z',
  classes: () => '[' + Array.from({ length: n / 4 }, (_, i) => String.fromCharCode(0x100 + 2 * i)).join('') + ']',
  groups: () => '(?:a'.repeat(100) + ')*'.repeat(100) + 'a?'.repeat(n / 8),
  form: () => 'NFKC',
  keys: () => colliding(n / 16),
  entries: () => colliding(n / 16).map((key) => [key, 1]),
  json: () => JSON.stringify(Object.fromEntries(colliding(Math.min(n / 16, 1000)).map((key) => [key, 1]))).slice(0, -1)
    + colliding(n / 16).map((key) => `,"${key}":1`).join('') + '}',
  set: () => new Set(colliding(n / 16)),
  map: () => new Map(colliding(n / 16).map((key) => [key, 1])),
  holes: () => new Array(2 ** 32 - 1),
  holesIterator: () => new Array(2 ** 32 - 1).values(),
  like: () => ({ length: 2 ** 53 - 1 }),
  longTexts: () => new Array(n / 16).fill('a'.repeat(n)),
  numbers: () => Array.from({ length: n }, (_, i) => (i * 7919) % 10007),
  dag: () => dag(26),
  empties: () => new Array(n / 16).fill(new Array(2 ** 22)),
  bytes: () => new Uint8Array(n).fill(7),
  doubles: () => Float64Array.from({ length: n }, (_, i) => (i * 7919) % 10007),
  buffer: () => new ArrayBuffer(n),
  big: () => (1n << BigInt(n)) - 1n,
  reference: () => /^(.*)\1+$/i,
  matcher: () => /(?:a|b|ab)*?x/g,
  symbol: () => Symbol.iterator,
};
const kinds = Object.keys(make);
if (object.path === 'kinds') return kinds.join('\n');
// These take a while wherever they are read, so that they are given to a few only.
const heavy = ['holes', 'like', 'dag', 'empties', 'longTexts'];
const takesHeavy = ['nothing', 'equal', 'numbers', 'set', 'map', 'bytes'].includes(object.self);
const argued = object.args === undefined
  ? [[], ...kinds.filter((kind) => takesHeavy || !heavy.includes(kind)).map((kind) => [kind]), ['nothing', 'function'], ['keys', 'function'], ['needle', 'equal'],
    ['small', 'equal'], ['small', 'digits'], ['equal', 'small'], ['classes', 'equal'], ['big', 'big'], ['small', 'big'], ['nothing', 'small', 'small']]
  : [object.args];
const values = {};
const value = (kind) => {
  if (kind === 'set' || kind === 'map' || kind.endsWith('Iterator')) return make[kind]();
  if (!(kind in values)) { try { values[kind] = make[kind](); } catch { values[kind] = undefined; } }
  return values[kind];
};
const f = follow(object.path);
const own = value(object.self);
const slow = [];
for (let i = object.from ?? 0; i < argued.length; i++) {
  const given = argued[i].map(value);
  // What was begun is known even if it is stopped.
  warn(String(i));
  const start = performance.now();
  try { Reflect.apply(f, own, given); } catch {}
  const took = performance.now() - start;
  if (took > object.threshold) slow.push([argued[i].join(','), took]);
}
return JSON.stringify(slow);
