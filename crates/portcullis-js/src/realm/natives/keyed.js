// Maps, sets and objects by their keys. The engine's hash of a text has no secret, so that texts can be
// chosen that are all in one place: then each look at a key walks all of them. What is looked at is
// counted as if that were so, which costs nothing but a look at the clock now and then.
(function (meter) {
  'use strict';
  const { spend, uncurried, replace, textOf, refuse, short, isCrowded } = meter;
  const { defineProperty } = Reflect;
  const { isArray } = Array;
  const callWith = uncurried(Function.prototype.call);
  const wellFormed = uncurried(String.prototype.toWellFormed);

  for (const [proto, keys] of [
    [Map.prototype, ['set', 'get', 'has', 'delete', 'getOrInsert', 'getOrInsertComputed']],
    [Set.prototype, ['add', 'has', 'delete']],
  ]) {
    const sizeOf = uncurried(Object.getOwnPropertyDescriptor(proto, 'size').get);
    for (const key of keys) {
      replace(proto, key, (native) => ({
        method(a, b) {
          spend(sizeOf(this));
          return native(this, a, b);
        },
      }).method);
    }
  }

  const together = ['union', 'intersection', 'difference', 'symmetricDifference', 'isSubsetOf', 'isSupersetOf', 'isDisjointFrom'];
  const sizeOfSet = uncurried(Object.getOwnPropertyDescriptor(Set.prototype, 'size').get);
  for (const key of together) {
    replace(Set.prototype, key, (native) => ({
      method(other) {
        const own = sizeOfSet(this);
        if (other === null || typeof other !== 'object') return native(this, other);
        const { size, has, keys } = other;
        if (typeof has !== 'function' || typeof keys !== 'function') return native(this, other);
        const all = own + (size > 0 ? +size : 0);
        return native(this, {
          size,
          has(value) {
            spend(all);
            return callWith(has, other, value);
          },
          keys() {
            const iterator = callWith(keys, other);
            const { next } = iterator;
            return {
              next() {
                spend(all);
                return callWith(next, iterator);
              },
              get return() {
                const close = iterator.return;
                return typeof close === 'function' ? () => callWith(close, iterator) : close;
              },
            };
          },
        });
      },
    }).method);
  }

  // As many as this may have one hash: it is not worth a look.
  const few = 1024;
  replace(Object, 'fromEntries', (native) => ({
    fromEntries(entries) {
      if (entries === undefined || entries === null || (isArray(entries) && entries.length <= few)) {
        return native(Object, entries);
      }
      const made = {};
      let count = 0;
      for (const entry of entries) {
        if (entry === null || (typeof entry !== 'object' && typeof entry !== 'function')) return native(Object, [entry]);
        defineProperty(made, entry[0], { value: entry[1], writable: true, enumerable: true, configurable: true });
        spend(++count);
      }
      return made;
    },
  }).fromEntries);
  for (const holder of [Object, Map]) {
    replace(holder, 'groupBy', (native) => ({
      groupBy(items, f) {
        if (typeof f !== 'function') return native(holder, items, f);
        let count = 0;
        return native(holder, items, (item, index) => {
          spend(++count);
          return f(item, index);
        });
      },
    }).groupBy);
  }
  replace(JSON, 'parse', (native) => ({
    parse(text, reviver) {
      const source = textOf(text);
      if (source.length > 4 * short) {
        spend(16 * source.length);
        if (isCrowded(wellFormed(source))) refuse('JSON.parse: too many keys with the same hash');
      }
      return reviver === undefined ? native(JSON, source) : native(JSON, source, reviver);
    },
  }).parse);
})
