// Regular expressions. The engine looks at the clock once in 10,000 steps of a match; a reference back
// to a group is one step, however long the group is.
(function (meter, texts) {
  'use strict';
  const { spend, uncurried, replace, textOf, refuse, short } = meter;
  const { replacer, indexOf, codeAt } = texts;
  const proto = RegExp.prototype;
  const sourceOf = uncurried(Object.getOwnPropertyDescriptor(proto, 'source').get);

  // Whether a pattern may refer back: `\1` to `\9`, `\k`.
  function refersBack(pattern) {
    const source = sourceOf(pattern);
    for (let at = indexOf(source, '\\'); at >= 0; at = indexOf(source, '\\', at + 2)) {
      const c = codeAt(source, at + 1);
      if (c === 107 || (c >= 49 && c <= 57)) return true;
    }
    return false;
  }

  // Everything that matches comes here, as the language has it.
  replace(proto, 'exec', (native) => ({
    exec(subject) {
      if (typeof subject === 'string' && subject.length <= short) return native(this, subject);
      const text = textOf(subject);
      if (text.length > short) {
        spend(text.length);
        if (refersBack(this)) {
          refuse(`a regular expression with references back to groups takes at most ${short} characters`);
        }
      }
      return native(this, text);
    },
  }).exec);

  replace(proto, Symbol.replace, (native) => ({
    replace(subject, replacement) {
      const text = textOf(subject);
      return native(this, text, replacer(text.length, replacement));
    },
  }).replace);
})
