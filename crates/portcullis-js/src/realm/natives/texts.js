// Texts: searches that take as long as the texts are, whatever they hold, and functions that say how
// much they did. Short texts go to the engine's own functions at once.
(function (meter) {
  'use strict';
  const { spend, uncurried, replace, textOf, refuse, short } = meter;
  const proto = String.prototype;
  const indexOf = uncurried(proto.indexOf);
  const lastIndexOf = uncurried(proto.lastIndexOf);
  const slice = uncurried(proto.slice);
  const codeAt = uncurried(proto.charCodeAt);
  const execute = uncurried(RegExp.prototype.exec);
  const { replace: replaceSymbol, split: splitSymbol } = Symbol;
  const { trunc } = Math;
  const Table = Int32Array;

  // The engine compares needle and text at every place. So many comparisons are not worth more thought.
  const easy = 1 << 20;
  // A needle of this length is looked for by the engine, window by window.
  const piece = 32;
  const window = 1 << 16;

  function findPiece(text, needle, from) {
    const { length } = needle;
    for (let start = from; start + length <= text.length; start += window) {
      const at = indexOf(slice(text, start, start + window + length - 1), needle);
      spend(window);
      if (at >= 0) return start + at;
    }
    return -1;
  }

  // Where a needle is in a text, from a place on.
  function find(text, needle, from) {
    const { length } = needle;
    const comparisons = (text.length - from) * length;
    if (comparisons < easy) {
      spend(comparisons);
      return indexOf(text, needle, from);
    }
    if (length <= piece) return findPiece(text, needle, from);
    const head = slice(needle, 0, piece);
    // Where the head is found often and the rest is not, another way is taken.
    let left = 8 * (text.length - from + length);
    for (let at = from; left > 0; at++, left -= length) {
      at = findPiece(text, head, at);
      if (at < 0 || at + length > text.length) return -1;
      spend(length);
      if (slice(text, at, at + length) === needle) return at;
      from = at + 1;
    }
    return findLinear(text, needle, from, false);
  }

  // Knuth, Morris and Pratt: `back[i]` is the length of the longest beginning of the needle that is
  // also the end of its first i + 1 characters.
  function findLinear(text, needle, from, isLast) {
    const { length } = needle;
    const back = new Table(length);
    for (let i = 1, k = 0; i < length; i++) {
      const c = codeAt(needle, i);
      while (k > 0 && c !== codeAt(needle, k)) k = back[k - 1];
      if (c === codeAt(needle, k)) k++;
      back[i] = k;
    }
    let found = -1;
    for (let i = from, k = 0; i < text.length; i++) {
      const c = codeAt(text, i);
      while (k > 0 && c !== codeAt(needle, k)) k = back[k - 1];
      if (c === codeAt(needle, k)) k++;
      if (k === length) {
        found = i - length + 1;
        if (!isLast) return found;
        k = back[k - 1];
      }
    }
    return found;
  }

  function findLastPiece(text, needle, from) {
    const { length } = needle;
    for (let end = from; end >= 0; end -= window) {
      const start = end < window ? 0 : end - window + 1;
      const at = lastIndexOf(slice(text, start, end + length), needle);
      spend(window);
      if (at >= 0) return start + at;
    }
    return -1;
  }

  // The last place of a needle in a text, up to a place.
  function findLast(text, needle, from) {
    const { length } = needle;
    if (from > text.length - length) from = text.length - length;
    if (from < 0) return -1;
    const comparisons = (from + 1) * length;
    if (comparisons < easy) {
      spend(comparisons);
      return lastIndexOf(text, needle, from);
    }
    if (length <= piece) return findLastPiece(text, needle, from);
    const head = slice(needle, 0, piece);
    let left = 8 * (from + length);
    for (let at = from; left > 0; at--, left -= length) {
      at = findLastPiece(text, head, at);
      if (at < 0) return -1;
      spend(length);
      if (slice(text, at, at + length) === needle) return at;
      from = at - 1;
    }
    return findLinear(slice(text, 0, from + length), needle, 0, true);
  }

  // A place in a text, of whatever was given for it.
  function place(given, length, otherwise) {
    const wanted = +given;
    if (wanted !== wanted) return otherwise;
    if (wanted <= 0) return 0;
    return wanted >= length ? length : trunc(wanted);
  }
  const isEasy = (text, needle) =>
    typeof text === 'string' && typeof needle === 'string' && text.length * needle.length < short;

  for (const key of ['includes', 'indexOf']) {
    replace(proto, key, (native) => ({
      method(needle, position) {
        if (isEasy(this, needle)) return native(this, needle, position);
        if (this === undefined || this === null) return native(this);
        const text = textOf(this);
        // It refuses regular expressions.
        if (typeof needle === 'object' && needle !== null) native('', needle);
        const wanted = textOf(needle);
        const from = place(position, text.length, 0);
        const at = wanted === '' ? from : find(text, wanted, from);
        return key === 'includes' ? at >= 0 : at;
      },
    }).method);
  }
  replace(proto, 'lastIndexOf', (native) => ({
    lastIndexOf(needle, position) {
      if (isEasy(this, needle)) return native(this, needle, position);
      if (this === undefined || this === null) return native(this);
      const text = textOf(this);
      const wanted = textOf(needle);
      const from = place(position, text.length, text.length);
      return wanted === '' ? from : findLast(text, wanted, from);
    },
  }).lastIndexOf);

  // Whether something decides by itself how it splits and replaces, as regular expressions do.
  function decides(pattern, symbol) {
    if (pattern === null || (typeof pattern !== 'object' && typeof pattern !== 'function')) return false;
    const own = pattern[symbol];
    return own !== undefined && own !== null;
  }

  replace(proto, 'split', (native) => ({
    split(separator, limit) {
      if (isEasy(this, separator) || this === undefined || this === null || decides(separator, splitSymbol)) {
        return native(this, separator, limit);
      }
      const text = textOf(this);
      const most = limit === undefined ? 4294967295 : limit >>> 0;
      if (separator === undefined) return native(text, separator, most);
      const wanted = textOf(separator);
      if (text.length > short) spend(text.length);
      if (wanted.length <= piece || text.length * wanted.length < easy) return native(text, wanted, most);
      const parts = [];
      let from = 0;
      while (parts.length < most) {
        const at = find(text, wanted, from);
        parts[parts.length] = at < 0 ? slice(text, from) : slice(text, from, at);
        if (at < 0) break;
        from = at + wanted.length;
      }
      return parts;
    },
  }).split);

  // What a replacement with `$` in it stands for. `args` are those of a function in its place.
  function expand(template, args) {
    const hasGroups = typeof args[args.length - 1] === 'object';
    const groups = hasGroups ? args[args.length - 1] : undefined;
    const end = args.length - (hasGroups ? 3 : 2);
    const offset = args[end];
    const whole = args[end + 1];
    const matched = args[0];
    let out = '';
    let from = 0;
    for (;;) {
      const at = indexOf(template, '$', from);
      if (at < 0 || at + 1 >= template.length) return out + slice(template, from);
      out += slice(template, from, at);
      const c = slice(template, at + 1, at + 2);
      from = at + 2;
      if (c === '$') out += '$';
      else if (c === '&') out += matched;
      else if (c === '`') out += slice(whole, 0, offset);
      else if (c === "'") out += slice(whole, offset + matched.length);
      else if (c >= '0' && c <= '9') {
        const digits = slice(template, at + 1, at + 3);
        const two = +digits;
        const wide = digits.length === 2 && two >= 1 && two < end;
        const n = wide ? two : +c;
        if (n >= 1 && n < end) {
          if (wide) from++;
          if (args[n] !== undefined) out += args[n];
        } else out += '$' + c;
      } else if (c === '<' && groups !== undefined) {
        const close = indexOf(template, '>', from);
        if (close < 0) out += '$<';
        else {
          const value = groups[slice(template, from, close)];
          if (value !== undefined) out += textOf(value);
          from = close + 1;
        }
      } else out += '$' + c;
    }
  }
  // Where the result may be large, a function is called for each match: calls look at the clock.
  function replacer(length, replacement) {
    if (typeof replacement === 'function') return replacement;
    const template = textOf(replacement);
    if (length * template.length < easy) return template;
    if (indexOf(template, '$') < 0) return () => template;
    return (...args) => expand(template, args);
  }
  function substitute(text, needle, replacement, isAll) {
    const isFunction = typeof replacement === 'function';
    const template = isFunction ? '' : textOf(replacement);
    let at = find(text, needle, 0);
    let out = '';
    let from = 0;
    while (at >= 0) {
      out += slice(text, from, at);
      out += isFunction ? `${replacement(needle, at, text)}` : expand(template, [needle, at, text]);
      from = at + needle.length;
      at = isAll ? find(text, needle, from) : -1;
    }
    return from === 0 ? text : out + slice(text, from);
  }
  for (const key of ['replace', 'replaceAll']) {
    const isAll = key === 'replaceAll';
    replace(proto, key, (native) => ({
      method(pattern, replacement) {
        if (this === undefined || this === null || decides(pattern, replaceSymbol)) {
          return native(this, pattern, replacement);
        }
        const text = textOf(this);
        const needle = textOf(pattern);
        if (text.length > short) spend(text.length);
        if (needle.length > piece && text.length * needle.length >= easy) {
          return substitute(text, needle, replacement, isAll);
        }
        return native(text, needle, isAll ? replacer(text.length, replacement) : replacement);
      },
    }).method);
  }

  // The engine's time for a run of combining marks grows with its square. Unicode's stream-safe format
  // (UAX #15) has 30 of them at most. U+FF9E and U+FF9F become marks in NFKC and NFKD.
  const marks = /[\p{M}\uff9e\uff9f]{31}/u;
  // Never composed with what stands before them: neither marks nor jamo, nor what becomes those.
  const boundaries = /[^\p{M}\u1100-\u11ff\u3130-\u318f\uff66-\uffdc\ud800-\udfff]/gu;
  const longest = 1 << 16;
  function checkMarks(text, who) {
    if (text.length <= 256) return;
    spend(text.length);
    if (execute(marks, text) !== null) refuse(`${who}: more than 30 combining marks in a row`);
  }
  replace(proto, 'normalize', (native) => ({
    normalize(form) {
      if (this === undefined || this === null) return native(this);
      const text = textOf(this);
      const wanted = form === undefined ? 'NFC' : textOf(form);
      checkMarks(text, 'normalize');
      if (text.length <= longest) return native(text, wanted);
      // In parts, so that the clock is looked at between them.
      let out = '';
      for (let from = 0; from < text.length;) {
        boundaries.lastIndex = from + longest;
        const found = boundaries.lastIndex < text.length ? execute(boundaries, text) : null;
        const to = found === null ? text.length : found.index;
        out += native(slice(text, from, to), wanted);
        spend(16 * (to - from));
        from = to;
      }
      return out;
    },
  }).normalize);
  replace(proto, 'localeCompare', (native) => ({
    localeCompare(other) {
      if (this === undefined || this === null) return native(this);
      const text = textOf(this);
      const against = textOf(other);
      checkMarks(text, 'localeCompare');
      checkMarks(against, 'localeCompare');
      return native(text, against);
    },
  }).localeCompare);

  const walkers = ['trim', 'trimStart', 'trimEnd', 'toLowerCase', 'toUpperCase', 'toLocaleLowerCase',
    'toLocaleUpperCase', 'repeat', 'padStart', 'padEnd', 'isWellFormed', 'toWellFormed'];
  for (const key of walkers) {
    replace(proto, key, (native) => ({
      method(a, b) {
        const result = native(this, a, b);
        if (typeof this === 'string' && this.length > short) spend(this.length);
        if (typeof result === 'string' && result.length > short) spend(result.length);
        return result;
      },
    }).method);
  }

  return { replacer, indexOf, codeAt, slice };
})
