// What tests of policies find besides the language. Run before each test file, in the engine that
// runs policies. `$harness(word, ...)` talks with the program.
const { test, it, describe, beforeEach, expect, review, $begin, $run } = (function (harness, request) {
  'use strict';
  const tests = [];
  const isArray = Array.isArray;
  let group = { name: '', before: [] };
  // Where the test file stands in what the engine runs: the line before it, and how many it has.
  let first = 0;
  let count = 0;

  function places(stack) {
    const found = [];
    for (const frame of String(stack).split('\n')) {
      const place = /policies:(\d+):(\d+)\)?$/.exec(frame.trim());
      if (place) found.push({ line: Number(place[1]), column: Number(place[2]) });
    }
    return found;
  }
  // The innermost place in the test file of a stack trace.
  function placeOf(stack) {
    const own = places(stack).find(({ line }) => line > first && line <= first + count);
    return own === undefined ? { line: null, column: null } : { line: own.line - first, column: own.column };
  }

  function add(name, body, isSkipped) {
    if (typeof name !== 'string' || name === '') throw new TypeError('a test needs a name');
    if (typeof body !== 'function') throw new TypeError('test(' + show(name) + ') needs a function');
    const title = group.name === '' ? name : group.name + ' > ' + name;
    tests.push({ name: title, body, before: group.before, skipped: isSkipped || group.skipped === true, line: placeOf(new Error().stack).line });
  }
  function test(name, body) { add(name, body, false); }
  test.skip = function skip(name, body) { add(name, body, true); };
  function nested(name, body, isSkipped) {
    const outer = group;
    group = { name: outer.name === '' ? String(name) : outer.name + ' > ' + name, before: outer.before, skipped: isSkipped || outer.skipped === true };
    try { body(); } finally { group = outer; }
  }
  function describe(name, body) { nested(name, body, false); }
  describe.skip = function skip(name, body) { nested(name, body, true); };
  function beforeEach(body) { group.before = [...group.before, body]; }

  function show(value) {
    if (typeof value === 'string') return JSON.stringify(value);
    if (value instanceof Error) return String(value);
    if (typeof value === 'function') return 'a function';
    if (value !== null && typeof value === 'object' && !(value instanceof RegExp)) {
      try { return JSON.stringify(value); } catch { return 'an object'; }
    }
    return String(value);
  }
  function equal(a, b) {
    if (Object.is(a, b)) return true;
    if (a === null || b === null || typeof a !== 'object' || typeof b !== 'object') return false;
    if (isArray(a) !== isArray(b)) return false;
    if (a instanceof Date && b instanceof Date) return a.getTime() === b.getTime();
    if (a instanceof RegExp || b instanceof RegExp) return String(a) === String(b);
    const known = (o) => Object.keys(o).filter((key) => o[key] !== undefined);
    const keys = known(a);
    return keys.length === known(b).length && keys.every((key) => Object.hasOwn(b, key) && equal(a[key], b[key]));
  }
  function covers(whole, part) {
    if (part === null || typeof part !== 'object' || isArray(part)) return equal(whole, part);
    return whole !== null && typeof whole === 'object' && Object.keys(part).every((key) => covers(whole[key], part[key]));
  }
  function matches(text, pattern) {
    if (pattern instanceof RegExp) { pattern.lastIndex = 0; return pattern.test(text); }
    return String(text).includes(pattern);
  }

  class Mismatch extends Error {}
  function expect(value) {
    function check(isNot, word, holds, wanted, isShown) {
      if (holds !== isNot) return;
      const fault = new Mismatch('expected ' + show(value) + (isNot ? ' not' : '') + ' ' + word + (isShown ? ' ' + show(wanted) : ''));
      if (!isNot && (word === 'to equal' || word === 'to be')) { fault.isCompared = true; fault.expected = wanted; fault.got = value; }
      throw fault;
    }
    function matchers(isNot) {
      return {
        toBe(wanted) { check(isNot, 'to be', Object.is(value, wanted), wanted, true); },
        toEqual(wanted) { check(isNot, 'to equal', equal(value, wanted), wanted, true); },
        toMatchObject(wanted) { check(isNot, 'to match', covers(value, wanted), wanted, true); },
        toMatch(pattern) { check(isNot, 'to match', typeof value === 'string' && matches(value, pattern), pattern, true); },
        toContain(part) {
          const holds = typeof value === 'string' ? value.includes(part) : isArray(value) && value.includes(part);
          check(isNot, 'to contain', holds, part, true);
        },
        toContainEqual(part) { check(isNot, 'to contain', isArray(value) && value.some((one) => equal(one, part)), part, true); },
        toHaveLength(length) { check(isNot, 'to have the length', value !== null && value !== undefined && value.length === length, length, true); },
        toHaveProperty(key) { check(isNot, 'to have the property', value !== null && typeof value === 'object' && key in value, key, true); },
        toBeTruthy() { check(isNot, 'to be truthy', Boolean(value)); },
        toBeFalsy() { check(isNot, 'to be falsy', !value); },
        toBeNull() { check(isNot, 'to be null', value === null); },
        toBeUndefined() { check(isNot, 'to be undefined', value === undefined); },
        toBeDefined() { check(isNot, 'to be defined', value !== undefined); },
        toBeGreaterThan(bound) { check(isNot, 'to be greater than', value > bound, bound, true); },
        toBeLessThan(bound) { check(isNot, 'to be less than', value < bound, bound, true); },
        toThrow(pattern) {
          let thrown, has = false;
          try { value(); } catch (error) { thrown = error; has = true; }
          const message = thrown instanceof Error ? thrown.message : String(thrown);
          if (!has || pattern === undefined) check(isNot, 'to throw', has, pattern, pattern !== undefined);
          else check(isNot, 'to throw (it threw ' + show(message) + ')', matches(message, pattern), pattern, true);
        },
      };
    }
    return { ...matchers(false), not: matchers(true) };
  }

  function review(object, options) {
    return harness('review', object === undefined ? null : object, options === undefined ? {} : options);
  }

  function tell(error) {
    const isError = error instanceof Error;
    const message = !isError ? show(error) : error instanceof Mismatch ? error.message : String(error);
    const told = { message, ...placeOf(isError ? error.stack : '') };
    if (isError && error.isCompared === true) {
      told.compared = { expected: error.expected === undefined ? null : error.expected, got: error.got === undefined ? null : error.got };
    }
    return told;
  }
  // Loads the test file; then lists its tests, or runs the one that is asked for.
  async function run(load) {
    try {
      load();
    } catch (error) {
      const told = tell(error);
      // What is wrong elsewhere is told better by the engine.
      if (told.line === null) throw error;
      harness('broken', told);
      return;
    }
    const number = request.test;
    if (number === null) {
      harness('tests', tests.map(({ name, skipped, line }) => ({ name, skipped, line })));
      return;
    }
    const { body, before } = tests[number];
    try {
      for (const prepare of before) await prepare();
      await body();
    } catch (error) {
      harness('failed', tell(error));
      return;
    }
    harness('passed');
  }
  function begin(stack, length) {
    first = places(stack)[0]?.line ?? 0;
    count = length;
  }
  return { test, it: test, describe, beforeEach, expect, review, $begin: begin, $run: run };
})($harness, req);
