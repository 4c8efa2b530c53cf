// What policies find besides the language. Runs once per realm, after the natives were replaced and
// before hardening. `host` holds native functions, `replace` puts a function in the place of another.
(function (host, replace) {
  'use strict';
  const { apply, ownKeys, defineProperty, deleteProperty, getPrototypeOf, isExtensible } = Reflect;
  const { stringify } = JSON;
  const isArray = Array.isArray;
  const text = String;
  const number = Number;
  const Fault = Error;

  // Every error passes this native function when it is made: that is how limits are noticed even
  // if a policy catches the error. Without the accessors no policy can change it.
  Fault.stackTraceLimit = 10;
  Fault.prepareStackTrace = host.trace;
  delete Fault.prepareStackTrace;
  delete Fault.stackTraceLimit;
  delete Fault.captureStackTrace;

  // They see the garbage collector, or block the thread.
  for (const name of ['FinalizationRegistry', 'SharedArrayBuffer', 'Atomics']) delete globalThis[name];
  const Weak = WeakRef;
  delete globalThis.WeakRef;

  // In a replay, now is then, and what can't be had again is noticed.
  if (host.replays) {
    const Real = Date;
    const { construct } = Reflect;
    const describeNow = Real.prototype.toString;
    function now() {
      const then = host.now();
      return then === undefined || then === null ? Real.now() : then;
    }
    const Shown = function (...args) {
      if (new.target === undefined) return apply(describeNow, new Real(now()), []);
      return construct(Real, args.length ? args : [now()], new.target);
    };
    for (const key of ownKeys(Real)) {
      const own = Object.getOwnPropertyDescriptor(Real, key);
      if (key === 'now') own.value = ({ now() { return now(); } }).now;
      defineProperty(Shown, key, own);
    }
    defineProperty(Real.prototype, 'constructor', { value: Shown, writable: true, enumerable: false, configurable: true });
    defineProperty(globalThis, 'Date', { value: Shown, writable: true, enumerable: false, configurable: true });
    replace(Math, 'random', (native) => ({ random() { host.chance(true); return native(Math); } }).random);
    if (globalThis.performance !== undefined) {
      // Getters are not followed when the rest is frozen.
      const still = Object.freeze({ now: Object.freeze({ now() { return 0; } }.now), timeOrigin: 0 });
      defineProperty(globalThis, 'performance', { get() { host.chance(false); return still; }, enumerable: true, configurable: true });
    }
  }

  // Half a surrogate pair has no place outside of the language: U+FFFD is shown for it.
  const wellFormed = String.prototype.toWellFormed;
  function shown(value) {
    return apply(wellFormed, text(value), []);
  }
  function show(value) {
    if (typeof value === 'string') return value;
    if (typeof value === 'object' && value !== null) {
      if (Fault.isError(value)) return text(value);
      const json = stringify(value);
      return json === undefined ? text(value) : json;
    }
    return text(value);
  }
  const console = {};
  for (const level of ['log', 'info', 'warn', 'error', 'debug']) {
    console[level] = ({
      [level](...args) {
        let line = '';
        for (let i = 0; i < args.length; i++) line += (i ? ' ' : '') + show(args[i]);
        host.console(level, shown(line), new Fault().stack);
      },
    })[level];
  }
  globalThis.console = console;
  globalThis.atob = ({ atob(data) { return host.atob(shown(data)); } }).atob;
  globalThis.btoa = ({ btoa(data) { return data === undefined || data === null ? '' : host.btoa(shown(data)); } }).btoa;

  // Thrown to leave a policy that has spoken. Catching it changes nothing.
  const over = { __proto__: null, toString() { return 'the policy has decided'; } };
  function allow(reason) {
    host.say(true, reason === undefined || reason === null ? '' : shown(reason), undefined, undefined, new Fault().stack);
    throw over;
  }
  function deny(message, reason, code) {
    host.say(false, message === undefined ? '' : shown(message), reason === undefined || reason === null ? undefined : shown(reason),
      code === undefined || code === null ? undefined : number(code), new Fault().stack);
    throw over;
  }
  function warn(message) {
    host.warn(shown(message));
  }

  function methods(target, added) {
    for (const key of ownKeys(added)) defineProperty(target, key, { value: added[key], writable: true, enumerable: false, configurable: true });
  }
  const lower = String.prototype.toLowerCase;
  const { indexOf, slice, split } = String.prototype;
  const replaceAll = String.prototype.replaceAll;
  function values(header, name) {
    const wanted = apply(lower, text(name), []);
    const keys = ownKeys(header);
    for (let i = 0; i < keys.length; i++) {
      if (typeof keys[i] === 'string' && apply(lower, keys[i], []) === wanted) {
        const found = header[keys[i]];
        return isArray(found) ? found : [found];
      }
    }
    return [];
  }
  const headerMethods = {
    Get(name) { const all = values(this, name); return all.length ? text(all[0]) : ''; },
    Values(name) { return [...values(this, name)]; },
  };
  function decode(part) {
    try { return decodeURIComponent(apply(replaceAll, part, ['+', ' '])); } catch { return part; }
  }
  const decodeURIComponent = globalThis.decodeURIComponent;
  function query(raw) {
    const found = { __proto__: null };
    const parts = apply(split, raw, ['&']);
    for (let i = 0; i < parts.length; i++) {
      if (parts[i] === '') continue;
      const at = apply(indexOf, parts[i], ['=']);
      const key = decode(at < 0 ? parts[i] : apply(slice, parts[i], [0, at]));
      const value = at < 0 ? '' : decode(apply(slice, parts[i], [at + 1]));
      if (found[key]) found[key][found[key].length] = value; else found[key] = [value];
    }
    const result = { ...found };
    methods(result, { Get(name) { const all = found[name]; return all ? all[0] : ''; }, Has(name) { return name in found; } });
    return result;
  }
  const urlMethods = { Query() { return query(text(this.RawQuery)); } };
  // Writing past the bound of the GlobalContext throws where it is written, so that the policy can
  // catch it and what was there stays. Writes further inside are found when the policy ends.
  const Bound = Proxy;
  const TooLarge = RangeError;
  const { set } = Reflect;
  function weight(value) {
    const json = stringify(value);
    return json === undefined ? 0 : json.length;
  }
  function bounded(cell) {
    const { value } = cell;
    if (value === null || typeof value !== 'object') return value;
    function check(target, key, next) {
      const [cap, size] = host.contextRoom();
      if (cell.size === undefined) cell.size = size;
      const grown = cell.size + weight(key) + weight(next) - weight(target[key]);
      if (grown > cap) throw new TooLarge('ac.GlobalContext would be larger than ' + cap + ' bytes');
      cell.size = grown;
    }
    return new Bound(value, {
      set(target, key, next) {
        check(target, key, next);
        return set(target, key, next);
      },
      defineProperty(target, key, descriptor) {
        if ('value' in descriptor) check(target, key, descriptor.value);
        return defineProperty(target, key, descriptor);
      },
    });
  }
  // Gives `ac` what can't be said in JSON. `cell` holds the GlobalContext of this evaluation.
  function dress(ac, cell) {
    if (ac === null || typeof ac !== 'object') return ac;
    const request = ac.HTTPRequest;
    if (request !== null && typeof request === 'object') {
      const header = request.Header;
      if (header !== null && typeof header === 'object') methods(header, headerMethods);
      const url = request.URL;
      if (url !== null && typeof url === 'object') {
        // It may be masked, and this is not a policy's look.
        const query = getOwnPropertyDescriptor(url, 'RawQuery');
        if (query !== undefined && (query.get !== undefined || typeof query.value === 'string')) methods(url, urlMethods);
      }
    }
    defineProperty(ac, 'GlobalContext', {
      get() {
        if (!cell.used) { cell.value = host.globalContext(true); cell.used = true; }
        if (cell.shown !== cell.value) { cell.shown = cell.value; cell.bounded = bounded(cell); }
        return cell.bounded;
      },
      set(value) {
        if (!cell.used) { host.globalContext(false); cell.used = true; }
        cell.value = value;
      },
      enumerable: true,
      configurable: true,
    });
    return ac;
  }

  // Large members come into being at the first look. What stands for them until then is made once for
  // a number and a key and used by many evaluations: it is frozen, and holds a value only until the
  // evaluation ends.
  const { getOwnPropertyDescriptor } = Reflect;
  const { freeze } = Object;
  const unseen = freeze({ __proto__: null });
  const entries = [];
  for (let i = 0; i < 256; i++) entries[i] = undefined;
  let looked = [];
  // In a replay, who asks how a member is made gets its value too.
  const ours = new WeakSet();
  const { add, has } = WeakSet.prototype;
  if (host.replays) {
    function settle(target, key) {
      const own = getOwnPropertyDescriptor(target, key);
      if (own !== undefined && own.get !== undefined && apply(has, ours, [own.get])) void target[key];
    }
    for (const holder of [Object, Reflect]) {
      replace(holder, 'getOwnPropertyDescriptor', (native) => ({
        getOwnPropertyDescriptor(target, key) {
          if (target !== null && (typeof target === 'object' || typeof target === 'function')) settle(target, key);
          return native(holder, target, key);
        },
      }).getOwnPropertyDescriptor);
    }
    replace(Object, 'getOwnPropertyDescriptors', (native) => ({
      getOwnPropertyDescriptors(target) {
        if (target !== null && typeof target === 'object') {
          const keys = ownKeys(target);
          for (let i = 0; i < keys.length; i++) settle(target, keys[i]);
        }
        return native(Object, target);
      },
    }).getOwnPropertyDescriptors);
  }
  function entryFor(key, id) {
    const entry = { key, value: undefined, descriptor: undefined };
    const pair = {
      get() {
        if (entry.value === undefined) {
          const value = host.expand(id, lazy, unseen);
          if (value === unseen) return value;
          entry.value = value;
          looked[looked.length] = entry;
        }
        const own = getOwnPropertyDescriptor(this, key);
        if (own !== undefined && own.get === pair.get) {
          defineProperty(this, key, { value: entry.value, writable: true, enumerable: own.enumerable, configurable: true });
        }
        return entry.value;
      },
      set(next) {
        defineProperty(this, key, { value: next, writable: true, enumerable: true, configurable: true });
      },
    };
    freeze(pair.get);
    if (host.replays) apply(add, ours, [pair.get]);
    freeze(pair.set);
    entry.descriptor = { __proto__: null, get: pair.get, set: pair.set, enumerable: true, configurable: true };
    return entry;
  }
  function lazy(holder, key, id) {
    let entry = entries[id];
    if (entry === undefined || entry.key !== key) {
      entry = entryFor(key, id);
      if (id < entries.length && key.length <= 64) entries[id] = entry;
    }
    defineProperty(holder, key, entry.descriptor);
  }

  // Dies with the first garbage collection, which comes only when memory is nearly all used.
  function sentinel() {
    const watched = {};
    watched.self = watched;
    return new Weak(watched);
  }
  const objectPrototype = Object.prototype;
  const describeDate = Date.prototype.toISOString;
  const booleanValue = Boolean.prototype.valueOf;
  let known = 0;

  // What an object that is no plain object stands for in JSON: [value], or nothing if itself.
  function plain(value) {
    if (value instanceof Date) return [apply(describeDate, value, [])];
    if (value instanceof Set) return [[...value]];
    if (value instanceof Map) return [[...value]];
    if (value instanceof String) return [text(value)];
    if (value instanceof Number) return [number(value)];
    if (value instanceof Boolean) return [apply(booleanValue, value, [])];
    if (typeof value === 'bigint') return [text(value)];
    // As it is shown where it is refused.
    if (typeof value === 'string') return [shown(value)];
    return [];
  }

  // The object of the policy that runs now, for functions of the world outside.
  let current;
  const WrongType = TypeError;
  function outside(name, args) {
    const answer = host.call(name, args, current, plain, unseen);
    if (answer[0] === true) return answer[1];
    throw answer[0] === false ? new Fault(answer[1]) : new WrongType(answer[1]);
  }
  for (const name of host.outside) {
    // Those of `kube` follow.
    if (apply(indexOf, name, ['.']) >= 0) continue;
    globalThis[name] = ({ [name](...args) { return outside(name, args); } })[name];
  }

  // What is known of the cluster. A policy gets copies, and a change of one, which would change nothing, fails.
  function still(value) {
    if (typeof value !== 'object' || value === null) return value;
    const keys = ownKeys(value);
    for (let i = 0; i < keys.length; i++) still(value[keys[i]]);
    return freeze(value);
  }
  // The namespace may be left out, so the last argument is the name.
  function kubeGet(apiVersion, kind, rest) {
    const [namespace, name] = rest.length < 2 ? [null, rest[0]] : rest;
    const place = namespace === undefined || namespace === '' ? null : namespace;
    return outside('kube.get', [apiVersion, kind, place, name]);
  }
  function kubeList(apiVersion, kind, options) {
    const args = options === undefined || options === null ? [apiVersion, kind] : [apiVersion, kind, options];
    return outside('kube.list', args);
  }
  globalThis.kube = {
    get(apiVersion, kind, ...rest) { return still(kubeGet(apiVersion, kind, rest)); },
    list(apiVersion, kind, options) { return still(kubeList(apiVersion, kind, options)); },
  };

  // What a policy written for jsPolicy finds besides: `$lent` gives it those that it uses. What is not available here
  // says so.
  function exit() {
    host.say(undefined, '', undefined, undefined);
    throw over;
  }
  function isRecord(value) {
    return typeof value === 'object' && value !== null && !isArray(value) && plain(value).length === 0;
  }
  // Members that were put off stay so: they are moved, not looked at.
  function become(target, next) {
    if (!isRecord(target)) throw new WrongType('mutate(): the request has no object');
    if (!isRecord(next)) throw new WrongType('mutate() needs the object as it should be');
    const members = { __proto__: null };
    const names = ownKeys(next);
    for (let i = 0; i < names.length; i++) {
      if (typeof names[i] !== 'string') continue;
      const own = getOwnPropertyDescriptor(next, names[i]);
      if (own === undefined || !own.enumerable) continue;
      own.configurable = true;
      if ('value' in own) own.writable = true;
      members[names[i]] = own;
    }
    let done = true;
    const before = ownKeys(target);
    for (let i = 0; i < before.length; i++) if (!(before[i] in members)) done = deleteProperty(target, before[i]) && done;
    const wanted = ownKeys(members);
    for (let i = 0; i < wanted.length; i++) done = defineProperty(target, wanted[i], members[wanted[i]]) && done;
    if (!done) throw new WrongType('mutate(): the object was frozen');
  }
  const lendable = {
    __proto__: null,
    exit,
    allow: ({ allow() { exit(); } }).allow,
    mutate(object) {
      if (object !== current) become(current, object);
      exit();
    },
    print: console.log,
    // What is known is always a cache: what must be read now can't be had.
    get: ({
      get(kind, apiVersion, name, options) {
        cached('get', options);
        const place = text(name);
        const at = apply(indexOf, place, ['/']);
        const rest = at < 0 ? [place] : [apply(slice, place, [0, at]), apply(slice, place, [at + 1])];
        const found = kubeGet(apiVersion, kind, rest);
        return found === null ? undefined : found;
      },
    }).get,
    list: ({
      list(kind, apiVersion, options) {
        cached('list', options);
        const wanted = {};
        const keys = ['namespace', 'labelSelector'];
        for (let i = 0; i < keys.length; i++) {
          const value = options === undefined || options === null ? undefined : options[keys[i]];
          if (value !== undefined && value !== null && value !== '') wanted[keys[i]] = value;
        }
        return kubeList(apiVersion, kind, wanted);
      },
    }).list,
  };
  function cached(name, options) {
    if (options !== undefined && options !== null && options.cache === false) {
      throw new Fault(name + '() is not available with cache: false: policies see what the server watches');
    }
  }
  const unavailable = {
    create: 'policies change nothing but the object of the request',
    update: 'policies change nothing but the object of the request, with mutate()',
    remove: 'policies change nothing but the object of the request',
    fetchSync: 'policies have no access to the network, except by host calls such as forwardToAdmissionController()',
    readFileSync: 'policies have no access to files; write the data into `globals` or import a module',
    env: 'policies have no access to the environment; write the value into `globals`',
    sleep: 'policies do not wait; return without an opinion, or deny',
    requeue: 'there are no controller policies',
  };
  const unavailableNames = ownKeys(unavailable);
  for (let i = 0; i < unavailableNames.length; i++) {
    const name = unavailableNames[i];
    lendable[name] = ({ [name]() { throw new Fault(name + '() is not available: ' + unavailable[name]); } })[name];
  }
  // What an earlier policy of this evaluation left behind under a name comes first.
  const { hasOwn } = Object;
  function lender(request) {
    return (name) => {
      if (hasOwn(globalThis, name)) return globalThis[name];
      return name === 'request' ? request : lendable[name];
    };
  }

  // Starts a program: gives the function that makes its functions.
  function begin(program, object, oldObject, req, ac, cell) {
    current = object;
    const lent = program.length > 8 ? lender(req) : undefined;
    return program(object, oldObject, req, cell === undefined ? ac : dress(ac, cell), allow, deny, warn, host.cover, lent);
  }

  // Gives the function that runs modules, each once. `make(first + k)` makes that of module k.
  const running = {};
  function linker(make, first) {
    const done = [];
    function link(k) {
      let module = done[k];
      if (module === running) throw new Fault('import cycle through ' + host.moduleName(k));
      if (module === undefined) {
        done[k] = running;
        try {
          module = { failed: false, value: make(first + k)(link) };
        } catch (error) {
          module = { failed: true, value: error };
        }
        done[k] = module;
      }
      if (module.failed) throw module.value;
      return module.value;
    }
    return link;
  }

  return {
    allow, deny, warn, dress, sentinel, lazy, plain, begin, linker, headerMethods, urlMethods,
    // What policies meet that no property leads to: it is here to be frozen.
    kept: [over, unseen, lendable],
    deref: Weak.prototype.deref,
    unseen() { return unseen; },
    enter(object) { current = object; },
    // The function a module is there for.
    entry(link, k) {
      const found = link(k).default;
      return typeof found === 'function' ? found : undefined;
    },
    seal() { known = ownKeys(globalThis).length; },
    // Known globals can't be removed, so their number tells whether anything came.
    sweep() {
      current = undefined;
      if (looked.length) {
        for (let i = 0; i < looked.length; i++) looked[i].value = undefined;
        looked = [];
      }
      if (!isExtensible(globalThis) || getPrototypeOf(globalThis) !== objectPrototype) return false;
      const keys = ownKeys(globalThis);
      if (keys.length === known) return true;
      for (let i = 0; i < keys.length; i++) deleteProperty(globalThis, keys[i]);
      return ownKeys(globalThis).length === known;
    },
    describe(value) {
      try {
        return shown(typeof value === 'symbol' ? value.description : value);
      } catch {
        return typeof value;
      }
    },
    kind(value) {
      if (value === null) return 'null';
      if (isArray(value)) return 'array';
      return typeof value;
    },
    trace(value) {
      const stack = Fault.isError(value) ? value.stack : undefined;
      return typeof stack === 'string' ? shown(stack) : '';
    },
  };
})
