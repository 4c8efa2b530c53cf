// Lists, typed arrays and iterators. Lists with holes take no memory, so that their length bounds
// nothing: what walks one without looking at the clock gets no longer one than memory could hold.
(function (meter) {
  'use strict';
  const { spend, uncurried, replace, textOf, checkCount, checkLength, longestList, short } = meter;
  const { apply } = Reflect;
  const { isArray } = Array;
  const { trunc } = Math;
  const callWith = uncurried(Function.prototype.call);

  const walkers = ['join', 'toLocaleString', 'concat', 'fill', 'reverse', 'toReversed', 'splice', 'toSpliced',
    'slice', 'copyWithin', 'unshift', 'shift', 'with', 'toString'];
  for (const key of walkers) {
    replace(Array.prototype, key, (_, native) => ({
      method(...args) {
        checkLength(this);
        if (key === 'concat') for (let i = 0; i < args.length; i++) checkLength(args[i]);
        const result = apply(native, this, args);
        if (typeof result === 'string' && result.length > short) spend(result.length);
        return result;
      },
    }).method);
  }
  replace(Array, 'from', (_, native) => ({
    from(...args) {
      checkLength(args[0]);
      return apply(native, this, args);
    },
  }).from);
  replace(String, 'raw', (_, native) => ({
    raw(...args) {
      if (args[0] !== null && typeof args[0] === 'object') checkLength(args[0].raw);
      return apply(native, this, args);
    },
  }).raw);

  // By their texts, as without a function, but looking at the clock.
  function compareTexts(a, b) {
    const left = textOf(a);
    const right = textOf(b);
    spend(left.length < right.length ? left.length : right.length);
    return left < right ? -1 : left > right ? 1 : 0;
  }
  // Whether comparing the texts of a list over and over takes little time.
  function hasShortTexts(list) {
    const { length } = list;
    if (length > longestList) return false;
    let longest = 0;
    for (let i = 0; i < length; i++) {
      const value = list[i];
      if (typeof value === 'string') {
        if (value.length > longest) longest = value.length;
      } else if (typeof value === 'object' && value !== null) return false;
    }
    return longest <= 64 || longest * length < 1 << 20;
  }
  for (const key of ['sort', 'toSorted']) {
    replace(Array.prototype, key, (native) => ({
      method(compare) {
        checkLength(this);
        if (compare === undefined && isArray(this) && this.length > 1 && !hasShortTexts(this)) {
          return native(this, compareTexts);
        }
        return native(this, compare);
      },
    }).method);
  }

  // How many elements are walked, which may be far more than there are: one list can be in many places.
  function weigh(list, depth, before) {
    let sum = before + list.length;
    for (let i = 0; i < list.length && sum <= longestList; i++) {
      const element = list[i];
      if (isArray(element)) sum = depth > 1 ? weigh(element, depth - 1, sum) : sum + element.length;
    }
    return sum;
  }
  replace(Array.prototype, 'flat', (native) => ({
    flat(depth) {
      checkLength(this);
      const levels = depth === undefined ? 1 : trunc(+depth);
      if (isArray(this) && levels >= 1) checkCount(weigh(this, levels, 0));
      return native(this, levels);
    },
  }).flat);
  replace(Array.prototype, 'flatMap', (native) => ({
    flatMap(f, self) {
      checkLength(this);
      if (typeof f !== 'function') return native(this, f, self);
      return native(this, (value, index, list) => {
        const made = callWith(f, self, value, index, list);
        if (isArray(made)) checkLength(made);
        return made;
      });
    },
  }).flatMap);

  const typed = Object.getPrototypeOf(Uint8Array.prototype);
  for (const key of ['sort', 'toSorted', 'join', 'toLocaleString']) {
    replace(typed, key, (native) => ({
      method(a) {
        checkLength(this);
        return native(this, a);
      },
    }).method);
  }
  const typedWalkers = ['set', 'fill', 'reverse', 'toReversed', 'slice', 'indexOf', 'lastIndexOf', 'includes', 'copyWithin', 'with'];
  for (const key of typedWalkers) {
    replace(typed, key, (_, native) => ({
      method(...args) {
        const result = apply(native, this, args);
        if (this.length > short) spend(this.length);
        return result;
      },
    }).method);
  }

  // The engine asks its own iterators for the next element without a call. These are asked by one.
  const asked = (iterator) => {
    const { next } = iterator;
    if (typeof next !== 'function') return iterator;
    return {
      __proto__: iterator,
      next: () => callWith(next, iterator),
      get return() {
        const own = iterator.return;
        return typeof own === 'function' ? () => callWith(own, iterator) : own;
      },
    };
  };
  if (typeof Iterator === 'function') {
    for (const key of ['drop', 'includes', 'join', 'toArray']) {
      replace(Iterator.prototype, key, (native) => ({
        method(a, b) {
          if (this === null || (typeof this !== 'object' && typeof this !== 'function')) return native(this, a, b);
          return native(asked(this), a, b);
        },
      }).method);
    }
  }
  replace(Math, 'sumPrecise', (native) => ({
    sumPrecise(list) {
      checkLength(list);
      return native(Math, list);
    },
  }).sumPrecise);

  // Bytes as texts and back.
  for (const key of ['toBase64', 'toHex', 'setFromBase64', 'setFromHex']) {
    replace(Uint8Array.prototype, key, (native) => ({
      method(a, b) {
        if (typeof a === 'string' && a.length > short) spend(a.length);
        else checkLength(this);
        return a === undefined ? native(this) : b === undefined ? native(this, a) : native(this, a, b);
      },
    }).method);
  }
  for (const key of ['fromBase64', 'fromHex']) {
    replace(Uint8Array, key, (native) => ({
      method(a, b) {
        if (typeof a === 'string' && a.length > short) spend(a.length);
        return b === undefined ? native(this, a) : native(this, a, b);
      },
    }).method);
  }
})
