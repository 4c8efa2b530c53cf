// Looks at the clock on behalf of natives, which don't. Runs first in a realm; gives what the other
// files of this folder are made with.
//
// The engine asks for the time once in 10,000 calls and jumps, however long each takes. A native that
// is given much to do therefore says how much that was, and the clock is looked at once in a while.
(function (host, longestList) {
  'use strict';
  const { defineProperty, getOwnPropertyDescriptor } = Reflect;
  const { bind, call } = Function.prototype;
  const TooLong = RangeError;

  // Characters or elements, a few nanoseconds each.
  const batch = 1 << 17;
  let done = 0;
  function spend(amount) {
    done += amount;
    if (done < batch) return;
    done = 0;
    // No error that a policy could catch: the engine ends this loop, and the policy with it.
    if (host.late()) for (;;);
  }

  // f(this, ...arguments) of a method.
  const uncurried = bind.call(bind, call);

  // Puts another function in the place of a native. `make` gets the native, uncurried.
  function replace(holder, key, make) {
    const descriptor = getOwnPropertyDescriptor(holder, key);
    if (!descriptor) return;
    const native = descriptor.value;
    const made = make(uncurried(native), native);
    defineProperty(made, 'name', { value: native.name, configurable: true });
    defineProperty(made, 'length', { value: native.length, configurable: true });
    descriptor.value = made;
    defineProperty(holder, key, descriptor);
  }

  // The text of a value, as the language has it.
  const textOf = (value) => (typeof value === 'string' ? value : `${value}`);

  // Up to here a text or a list is not worth a look at the clock.
  const short = 4096;

  // Natives that walk a list get none longer than memory could hold.
  function checkCount(count) {
    if (count > longestList) {
      host.limit('memory');
      throw new TooLong('out of memory: the list is too long');
    }
    if (count > short) spend(count);
  }
  function checkLength(list) {
    if (list !== null && typeof list === 'object') checkCount(+list.length);
  }

  function refuse(message) {
    throw new TooLong(message);
  }

  return { spend, uncurried, replace, textOf, checkCount, checkLength, refuse, short, longestList, isCrowded: host.isCrowded };
})
