// Integers of any length, and functions of the global object that read texts.
(function (meter) {
  'use strict';
  const { spend, replace, refuse, short } = meter;
  const { ownKeys, defineProperty, getOwnPropertyDescriptor } = Reflect;

  // Reading digits takes time by their square.
  const most = 10000;
  function checkDigits(value) {
    if (typeof value === 'string' && value.length > most) refuse(`BigInt: more than ${most} digits`);
    return value;
  }
  const native = BigInt;
  const shown = ({ BigInt(value) { return native(checkDigits(value)); } }).BigInt;
  for (const key of ownKeys(native)) defineProperty(shown, key, getOwnPropertyDescriptor(native, key));
  defineProperty(native.prototype, 'constructor', { value: shown, writable: true, enumerable: false, configurable: true });
  defineProperty(globalThis, 'BigInt', { value: shown, writable: true, enumerable: false, configurable: true });
  for (const key of ['asIntN', 'asUintN']) {
    replace(shown, key, (native) => ({
      method(bits, value) { return native(shown, bits, checkDigits(value)); },
    }).method);
  }

  for (const key of ['encodeURI', 'encodeURIComponent', 'decodeURI', 'decodeURIComponent', 'escape', 'unescape', 'parseInt', 'parseFloat']) {
    replace(globalThis, key, (native) => ({
      method(text, radix) {
        if (typeof text === 'string' && text.length > short) spend(text.length);
        return native(undefined, text, radix);
      },
    }).method);
  }
  // The same functions, as numbers have them.
  for (const key of ['parseInt', 'parseFloat']) {
    defineProperty(Number, key, { value: globalThis[key], writable: true, enumerable: false, configurable: true });
  }
})
